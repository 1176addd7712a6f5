#!/bin/sh
# Starts memsift's hook, or stays silent: it prints a whole answer or nothing, and always exits with 0, because exit
# code 2 would block the person's prompt. It uses the interpreter and the launcher that `memsift install --plugin`
# recorded, else the script memsift-hook from the PATH or from the folder where pipx and uv put it.
record="${XDG_STATE_HOME:-$HOME/.local/state}/memsift/hook-start"
if [ -r "$record" ]; then
  { IFS= read -r python && IFS= read -r launcher; } <"$record"
  if [ -x "$python" ] && [ -r "$launcher" ]; then
    answer=$("$python" -I -S "$launcher") && printf %s "$answer"
    exit 0
  fi
fi
hook=$(command -v memsift-hook) || hook="$HOME/.local/bin/memsift-hook"
if [ -x "$hook" ]; then
  answer=$("$hook") && printf %s "$answer"
fi
exit 0
