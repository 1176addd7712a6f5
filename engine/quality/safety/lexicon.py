"""Words and phrases of the safety scan, and the concept that each of them stands for.

A concept is a bit. English verbs are listed in their base form, the form of an order; `_forms` adds the others. In a
phrase, a space stands for any signs between two words: `rm rf` is also `rm -rf`. Scripts without spaces are listed in
UNSPACED and matched by part.
"""

from __future__ import annotations

OVERRIDE, CANCEL, RULES, SYSTEM, PRIOR, ALL, YOU, TOLD = (1 << bit for bit in range(8))
USER, NEW, OBEY, REVEAL, EXACT, ROLE, FREE = (1 << bit for bit in range(9, 16))
SECRET, SEND, OUTSIDE, NOT, TELL, THIS, CONSENT, ALWAYS = (1 << bit for bit in range(16, 24))
APPROVED, ACTIONS, RUN, DANGER, MEMORY, HIDE, REPORT, TECHNICAL = (1 << bit for bit in range(24, 32))
CHANGE, ADVISE, ASKED, DECODE, TASK, WITHOUT, SKIP, URGENT = (1 << bit for bit in range(32, 40))
COVER, STEAL, WISH, SAFETY, GOODS, IF, UNASKED, FORBIDDEN = (1 << bit for bit in range(40, 48))

ORDERS = {
    OVERRIDE: "ignore disregard forget neglect overlook erase abandon dismiss unlearn",
    CANCEL: """
        override bypass discard cancel supersede circumvent disable deactivate suspend replace void break lift
    """,
    OBEY: "follow obey comply adhere execute treat trust respect heed honour honor",
    REVEAL: """
        reconstruct spell paraphrase echo quote print reveal show repeat output disclose display dump recite translate
        summarise summarize share leak expose list
    """,
    SEND: """
        send post upload forward transmit append attach publish pipe deliver wire share submit paste
    """,
    STEAL: "exfiltrate leak steal siphon smuggle harvest collect gather",
    TELL: "tell mention inform notify disclose announce",
    RUN: """
        run execute invoke call install download launch perform push approve grant delete remove
    """,
    CHANGE: """
        render embed format return add insert write change update modify create append generate import include pass
        place put
    """,
    ADVISE: "recommend answer respond reply claim suggest say promote praise advertise",
    DECODE: "decode decipher decrypt unscramble",
    SKIP: "skip omit suppress",
    MEMORY: "remember memorise memorize",
    HIDE: "hide",
    ROLE: "pretend roleplay impersonate",
}
"""English verbs in the form of an order."""

VOWELS, DOUBLED = "aeiou", "bdglmnprt"
IRREGULAR = {
    "forget": "forgot forgotten",
    "send": "sent",
    "show": "shown",
    "tell": "told",
    "say": "said",
    "hide": "hid",
}

WORDS = {
    OVERRIDE: """
        ignoriere vergiss missachte ignora olvida ignorez ignore oublie oubliez dimentica esqueça esqueca игнорируй
        проигнорируй проигнорируйте игнорируйте تجاهل yoksay забудь ignorera negeer zignoruj ignoriert vergesst ignorad
        olvidad ignori negeert negeren vergeet zapomnij zignorujcie pomiń забудьте ignorér glem ignorera glöm abaikan
        lupakan
    """,
    CANCEL: """
        exempt cleared lifted waived whitelisted expired obsolete invalid overrides overridden superseded withdrawn
        irrelevant removed suspended revoked
    """,
    RULES: """
        instruction instructions directive directives guideline guidelines rule rules restriction restrictions
        constraint constraints policy policies guidance boundaries principles safeguard safeguards guardrail guardrails
        programming directions orders limitations safety filters filter measures protocols protocol checks filtering
        anweisungen anweisung regeln vorgaben richtlinien einschränkungen instrucciones reglas normas restricciones
        consignes règles istruzioni regole instruções instrucoes regras инструкции правила указания التعليمات
        talimatları instructies regels instrukcje polecenia poleceń poleceniach instrukcji instrukcjach zasady zasad
        reguły talimatlar kurallar kuralları kural petunjuk perintah aturan regler instruktioner ordini direttive
        directrices órdenes pautas правил указаний вказівки
    """,
    SYSTEM: "systemprompt systeemprompt systemnachricht النظام",
    PRIOR: """
        previous prior above earlier preceding before existing former foregoing initial original previously bisherigen
        vorherigen vorher obigen früheren anteriores previas anterior précédentes précédents precedenti предыдущие
        прежние выше السابقة önceki vorige eerdere poprzednie wcześniejsze wcześniejszych poprzednich przednie önceki
        vorige vorherige vorherigen bisherige sebelumnya tidigare tidligere precedente vroegere предыдущих прежних
        попередні
    """,
    ALL: """
        all any every everything anything whatever entire alle alles allen todas todos todo toutes tous tout tutte
        tutti все всё wszystkie جميع كل tüm wszystkich wszystko tümü bütün semua alla tutto всех усі
    """,
    YOU: """
        you your yours yourself du dir dein deine deinen dich tu tus eres ton ta tes votre vos sei seus teu ты тебе
        твои
    """,
    TOLD: "told given received gave asked said gesagt dijeron",
    USER: """
        user human operator reviewer reviewers anyone anybody nobody developer owner user's developer's
        benutzer benutzers nutzer usuario usuarios utilisateur l'utilisateur utente all'utente usuário пользователю
        пользователя administrator admin ceo użytkownika użytkownikowi użytkownik kullanıcıya kullanıcı pengguna
        användaren gebruiker пользователь
    """,
    NEW: "new real true actual following below instead neue neuen nuevas nuevo nouvelles",
    OBEY: "befolge obedece obéir obéis подчиняйся",
    SAFETY: "safety ethical ethics moral content security guardrails guardrail safeguards",
    GOODS: """
        files backups backup tables data database repository folder directory branch branches archive records logs
    """,
    REVEAL: """
        gib zeige zeig muestra revelez révélez affiche montre mostra выведи покажи покажите раскрой wypisz pokaż
        ujawnij göster yazdır listele tampilkan visa vis toon mostre exiba affichez montrez imprima imprime
    """,
    EXACT: "verbatim exactly wort",
    FREE: """
        unrestricted uncensored unfiltered jailbroken jailbreak evil dan harmful hacker evilbot uneingeschränkt
    """,
    SECRET: """
        conversation localstorage password passwords secret secrets credential credentials token tokens cookie cookies
        apikey passphrase env environ netrc passwort passwörter passwörtern contraseña contraseñas senhas senha пароли
        clés hasła şifre wachtwoord lösenord chiavi claves chaves ключи senha
    """,
    SEND: """
        sende schicke envía envia envie enviar invia отправь envoie envoyez wyślij gönder kirim skicka stuur schickt
        отправьте envíe
    """,
    OUTSIDE: "webhook gist dns pastebin attacker collector",
    NOT: """
        not never avoid no don't dont doesn't won't cannot can't nobody nothing none nichts nicht nie niemandem kein
        keine nunca ne pas rien non не jamais mai jamás nooit aldrig asla nigdy никогда
    """,
    TELL: """
        telling informing mentioning saying notifying warning told sage sag digas decir dire dici говори informe
        informez dites mów informuj söyle zeg berätta informa informare erwähne
    """,
    THIS: """
        this it these that them its note comment step steps entry instructions memory text texte texto document davon
        rien nada
    """,
    CONSENT: """
        confirmation confirmations permission permissions consent approval ask asks asking confirm bestätigung
        confirmación подтверждения nachfragen nachfrage frage preguntar demander
    """,
    ALWAYS: """
        always henceforth dorénavant forever permanently whenever future each every siempre toujours immer dauerhaft
        всегда sempre
    """,
    APPROVED: """
        approved authorised authorized confirmed consented granted agreed permitted preapproved
        consents zugestimmt autorizó autorizado
    """,
    ACTIONS: """
        query queries command commands action actions operation operations request requests shell befehl befehle
        befehlen comandos tool tools calls prompts
    """,
    RUN: "führe ejecuta exécute esegui выполни",
    DANGER: "backdoor crontab sudo malware rootkit keylogger",
    MEMORY: "memory memories preference preferences merke recuerda lembre",
    HIDE: "hidden silently quietly unnoticed undetected",
    COVER: "unbeknownst discreetly secretly covertly stealthily surreptitiously heimlich secretamente secrètement",
    REPORT: """
        attack attacks attacker attackers injection injections malicious payload payloads detect detects scanner flag
        flags phrase phrases sentence example examples owasp untrusted sanitise sanitize refuse refused blocked blocks
        rejects rejected strips flagged tested triggers classifier moderation detected escape escapes escaped angriff
        beispiel
    """,
    TECHNICAL: """
        header headers authorization bearer oauth client config setting settings function method class migration
        migrations compiler linter we warning warnings parser vault fixture fixtures module library
    """,
    ASKED: "says asked fragt pregunta",
    TASK: """
        request requests question questions task message messages wishes wish objective goal context anfrage
    """,
    WITHOUT: "without ohne sin sans без senza sem",
    SKIP: "skipping",
    URGENT: "important attention emergency urgent immediately",
    IF: "if whether unless falls si when once until",
}
"""Other words, in English and in other languages."""

PHRASES = {
    OVERRIDE: """
        clear your memory | erase your memory | wipe your memory | reset your memory | nevermind what |
        never mind what | pay no attention | set aside | do not follow | don't follow | do not comply | stop obeying |
        stop following | do not obey | leave out | no longer bound | not bound by | act against | go against |
        against your |
        drop whatever | no tengas en cuenta | ne tiens pas compte | discard the restrictions | yok say |
        görmezden gel | abaikan semua | ne tenez pas compte | non tenere conto
    """,
    CANCEL: """
        no longer apply | no longer applies | is void | are void | as void | is cancelled | are cancelled |
        takes precedence | take precedence | turn off | switch off | turns off | are off | were issued in error |
        only placeholders | are disabled | is disabled | set to zero | have ended
    """,
    SYSTEM: """
        system prompts | system messages | internal configuration | configuration parameters | internal instructions |
        prior instructions | your configuration | first message | system prompt | system message | system instruction |
        system instructions | developer message | developer prompt | hidden prompt | hidden instructions |
        initial instructions | initial prompt | original instructions | context window | system rules |
        prompt del sistema | prompt systeme | system level | prompt système | системный промпт | prompt do sistema |
        prompt di sistema | hidden system | hidden rules | hidden rule | confidential rules | your prompt |
        prompt systemowy | sistem istemi | sistem istemini | sistem mesajı | message système | mensaje del sistema |
        messaggio di sistema | mensagem do sistema | prompt sistem
    """,
    PRIOR: "so far | until now | up to now | up to this point",
    YOU | TOLD: """
        you were told | you were given | you have been told | you have been given | you were asked | you had |
        you have received | you were
    """,
    OBEY: """
        do as it says | do what it says | must obey | act on | be obeyed | do as | do what | do it |
        carry out | carry it out | execute it
    """,
    EXACT: """
        complete text | full text | entire text | character by character | letter by letter | word for word |
        wort für wort | above this line
    """,
    ROLE: """
        you are now | you're now | act as | acts as | role play | stay in character | your persona | imagine you |
        imagine that you | play the role | play the part | play the character | take the role | assume the role |
        in the role of | behave as | behave like | your name is now | you have been upgraded | switch to |
        enter developer | enter maintenance | enter debug | as that ai | du bist jetzt | ahora eres |
        tu es maintenant | sei ora | você agora | ты теперь | let's play | simulate an | respond as | you are in |
        you will be
    """,
    FREE: """
        content filtering | unrestricted responses | exempt from | my usual limitations | without content |
        no content filters | without restriction | without refusal | without exception | no safety | no ethical |
        any ethical | absolutely no restrictions | freed from | broken free | never declines | never refuse |
        without restrictions | no restrictions | no boundaries | without boundaries | no limitations | no censorship |
        without any restrictions | without limits | no limits | without any filters | without filters | no filters |
        do anything | can do anything | never refuses | without refusing | no rules | developer mode | god mode |
        maintenance mode | debug mode | unrestricted mode | root privileges | full root | no moral | does not care |
        never says no | ohne einschränkungen | sin restricciones | sans restrictions | without safety | no guidelines |
        without guidelines | any request | nunca rechazas | keine anfrage | no content | not have content |
        without limitations | root operator
    """,
    SECRET: """
        id rsa | api key | api keys | private key | private keys | ssh key | ssh keys | secret key |
        environment variables | environment variable | conversation history | customer list | home folder |
        chat history | whole conversation | user messages | user's messages | conversation summary | last file |
        private source code | ssh credentials | aws credentials
    """,
    SEND: """
        e mail them | e mail it | e mail the | e mail all | email them | email it | email the | email all | mail the |
        mail them | mail it | mail all | copy all | copy each | copy every
    """,
    OUTSIDE: "query string | image url | third parties | public tracker | following server",
    NOT: "must not | do not | refrain from | is not required | not required | instead of",
    CONSENT: "ask for confirmation | ask again | ask anyone | any questions",
    ALWAYS: """
        from now on | from this moment | every time | each time | at all times | from this point | for all future |
        in all future | future sessions | future conversations | ab jetzt | ab sofort | a partir de ahora |
        à partir de maintenant | later session | no matter | under any circumstances | in each | every future |
        before you answer | before answering | all coming | per sempre | with immediate effect | before anything else |
        before you do anything | first thing in | at the start of every | on each session | od teraz | bundan sonra |
        mulai sekarang | vanaf nu | d'ora in poi | desde ahora
    """,
    APPROVED: """
        has approved | blanket permission | blanket approval | already approved | pre approved | gave permission |
        given permission | already agreed | permission granted | full access | in advance | grant access |
        are permitted | are allowed | ya autorizó
    """,
    ACTIONS: """
        tool call | tool calls | shell commands | permission prompts | permission prompt | security warnings |
        safety checks | safety check | security checks | code review | merge request | merge requests |
        tls verification | license check
    """,
    DANGER: """
        rm rf | chmod 777 | dangerously skip permissions | no verify | reverse shell | os system | base64 d |
        admin user | audit log | sudo rm | disable tls | dev tcp | authorized keys | drop table | drop database |
        force push | etc passwd | allow all | delete the | destructive commands | production database | push directly |
        firewall rule | push force | transfer funds | transfer money
    """,
    MEMORY: """
        long term memory | keep in mind | memory file | claude md | agents md | future instances | note for future |
        store this | this preference | save to memory | für immer
    """,
    COVER: """
        that nobody notices | that no one notices | must not notice | without telling | without informing |
        without mentioning | without displaying | without showing | without notifying | without alerting |
        without the user | as if nothing | keep it hidden | keep this hidden | hide this from | hide these from
        | hide it from | conceal it | conceal this | hidden from the | do not mention | don't mention | never
        mention | deny it | not disclose | don't disclose | remove the traces | remove all traces | do not point
        | ohne zu sagen | sin decirle | sin decir al | tells nobody | tell nobody | tell no one | tell anyone |
        tell anybody | looks away | behind the back | don't let the user | do not let the user | don't let
        anyone | do not let anyone | keep quiet about | do not tell the user | don't tell the user | not tell
        the user | do not tell the developer | do not inform the user | do not reveal | never reveal | must not
        be mentioned | not to be told | not want to be told | never warn | do not warn | do not show this | do
        not show it | do not show its | ne rien dire | non dire | no le digas | keep this between | keep it
        secret | keep this secret | do not log this | leave no trace | in the background without | sage dem
        benutzer nichts | omit this | without the knowledge | do not include this | do not acknowledge | do not
        discuss | do not explain it | do not explain this | do not comment on it | behind the user's back |
        secret from the | sans le dire | sans dire | ne le dis pas | не говори | nobody may be informed | nobody
        may know | no one may know | unseen by | keep this instruction
    """,
    0: """
        do not show it again | do not show this again | do not tell the user to | don't tell the user to |
        do not mention the | never mention the | do not reveal the | do not report the
    """,
    REPORT: """
        such as | e g | red team | should refuse | must refuse | for instance | prompt injection | is refused |
        check that | checks that | test that | tests that | verifies that
    """,
    TASK: """
        fresh context | real objective | primary directive | new task | your task | actual task | real goal
    """,
    WISH: """
        what the user | user's request | user's message | user's wishes | user's task | user's question |
        user's actual question | real user | user's instructions | translation task | the user and
    """,
    WITHOUT: "free of | free from",
    URGENT: "no time | right away | as soon as",
    YOU: """
        the assistant | the model | the agent | assistants that | ai agents | ai agent | ai assistants | ai model |
        this agent
    """,
}
"""Phrases. A hyphen, an underscore or another joining sign in a text counts as a space."""

UNSPACED = {
    OVERRIDE: "अनदेखा 忽略 无视 無視 不要理会 忘记 忘掉 무시",
    RULES: "निर्देशों 指令 规则 規則 指示 限制 ルール 지시 규칙",
    SYSTEM: "系统提示 系统提示词 系統提示 システムプロンプト 시스템프롬프트 시스템",
    PRIOR: "पिछले 前の 之前 以前的 上面 以上 先前 これまで 以前の 上記 이전",
    ALL: "सभी 所有 全部 一切 すべて 全て 모든 모두",
    YOU: "你 您 あなた 당신",
    OBEY: "按照 遵守 服从 执行 従って",
    NEW: "新的 新指令 下面 以下",
    REVEAL: "输出 显示 打印 透露 表示して 出力 출력",
    ROLE: "你是一个 你现在是 扮演",
    FREE: "没有任何限制 没有限制 无限制 制限なし",
    SECRET: "密码 密钥 环境变量 令牌 パスワード 비밀번호",
    STEAL: "发送到 发送 上传 送信 전송",
    USER: "用户 ユーザー 사용자",
    NOT: "不要 不得 别 しないで 말고",
    COVER: "不要告诉 不要让用户知道 不要让用户看 偷偷 秘密",
    TELL: "告诉 告知 询问 教えないで",
    CONSENT: "确认 確認",
    ALWAYS: "从现在开始 以后 永远 请记住 记住 今後",
    APPROVED: "已经授权 授权 批准",
    ACTIONS: "命令 操作",
}


def _forms(verb: str) -> list[str]:
    """The other forms of an English verb: -s, -ed and -ing, also with a doubled letter; and irregular ones."""
    stem = verb[:-1] if verb.endswith("e") else verb
    past = f"{verb[:-1]}ied" if verb.endswith("y") else f"{stem}ed"
    is_short = verb[-1] in DOUBLED and verb[-2] in VOWELS and verb[-3] not in VOWELS
    doubled = [f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"] if is_short else []
    return [f"{verb}s", past, f"{stem}ing", *doubled, *IRREGULAR.get(verb, "").split()]


def _single_words() -> dict[str, int]:
    found: dict[str, int] = {}
    for concept, text in (*WORDS.items(), *ORDERS.items()):
        for word in text.split():
            found[word] = found.get(word, 0) | concept
    for concept, text in ORDERS.items():
        for word in (form for verb in text.split() for form in _forms(verb)):
            found[word] = found.get(word, 0) | concept
    return found


def _phrases() -> dict[str, list[tuple[tuple[str, ...], int]]]:
    """First word -> the phrases that begin with it, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for concept, text in PHRASES.items():
        for phrase in " ".join(text.split()).split("|"):
            words = tuple(phrase.split())
            found.setdefault(words[0], []).append((words, concept))
    return {word: sorted(listed, key=lambda pair: -len(pair[0])) for word, listed in found.items()}


CONCEPTS = _single_words()
STARTS = _phrases()
MOODS = frozenset(form for text in ORDERS.values() for verb in text.split() for form in _forms(verb)) - {"leaked"}
"""Forms that tell, and do not order: "the parser ignores blanks"."""

PARTS = {part: concept for concept, text in UNSPACED.items() for part in text.split()}

HIDDEN_WORDS = frozenset(
    form
    for word in "ignore previous instructions system prompt disregard password forget guidelines everything".split()
    for form in (word[::-1], "".join(chr((ord(letter) - 97 + 13) % 26 + 97) for letter in word))
)
"""Words backwards and in ROT13. A text that is written so as a whole holds one of them."""
