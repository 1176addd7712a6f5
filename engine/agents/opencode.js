// memsift: adds the memories that fit a prompt. Made by memsift install; memsift uninstall removes it.
import { spawn } from "node:child_process";

const COMMAND = $command;

const answer = (request) =>
  new Promise((resolve) => {
    let text = "";
    const hook = spawn("/bin/sh", ["-c", COMMAND], { stdio: ["pipe", "pipe", "ignore"], timeout: $timeout });
    hook.stdout.on("data", (part) => (text += part));
    hook.on("error", () => resolve(""));
    hook.on("close", () => resolve(text));
    hook.stdin.on("error", () => {});
    hook.stdin.end(JSON.stringify(request));
  });

export const Memsift = async ({ directory }) => ({
  "chat.message": async (input, output) => {
    try {
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = typed.map((part) => part.text).join("\n");
      const text = await answer({ prompt, cwd: directory, session_id: input.sessionID, prompt_id: input.messageID });
      if (text) {
        const context = JSON.parse(text).additionalContext;
        output.parts.push({ ...typed[0], id: typed[0].id + "m", text: context, synthetic: true });
      }
    } catch {}
  },
});
