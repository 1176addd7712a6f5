"""Prompts that are hard to answer, each with one memory among fillers: what must be injected, and what must stay out.

Every row runs through the pipeline with the default configuration. `finds` and `misses` are for the default strategy
alone; `both_find` and `both_miss` hold for the original rules (`fts5_bm25`) as well.
"""

from typing import NamedTuple

import pytest

from engine.config import FTS5_BM25, MEMSIFT, Config
from engine.memory import Memory
from engine.pipeline import OpenSystem, Query, retrieve
from engine.prompt import typed_prompt
from tests.engine.builders import memory, open_index


class Row(NamedTuple):
    """A prompt, the only memory that it could be about, and whether that is injected, by which strategies."""

    prompt: str
    memory: Memory
    found: bool
    strategies: tuple[str, ...]


CONTEXT = """Recorded while the quarterly retrospective was fresh, with whoever attended. Nobody objected, alternatives
were weighed beforehand, and revisiting happens whenever circumstances differ enough to justify another conversation."""
"""What every memory says beside its point, so that all are of a natural length."""

FILLERS = """
Invoices are rounded per line and never per total
Feature flags live in LaunchDarkly and expire after a quarter
Postmortems are blameless and finished within five days
The kiosk prints receipts through a local spooler
Warehouse exports land in parquet every night
Translators receive strings on Thursdays
Customers of the pilot keep their grandfathered tariff
Screenshots are compared pixel by pixel in continuous integration
Holidays of the support rota are planned in spring
The mobile team ships fortnightly
Redis holds sessions and nothing that must survive
Avatars are cropped to squares by the uploader
Dashboards refresh each minute and page nobody
Kafka partitions follow the tenant
Secrets rotate monthly through Vault
Terraform plans are applied from the pipeline alone
The search page debounces typing for a quarter of a second
Dark mode follows the operating system
Webhooks are signed and retried with backoff
Soft deletion keeps rows for thirty days
Pull requests need two approvals
Fonts are subset and preloaded
Sentry samples a tenth of transactions
The legacy importer runs on a frozen virtual machine
Onboarding asks for a workspace name first
Payments are idempotent per order
Grafana alerts reach the duty phone
Archived projects are read-only
The changelog is written by hand
Stale branches are pruned on Fridays
""".strip().splitlines()

INDEXED = [memory(title, body=CONTEXT) for title in FILLERS]


def about(title: str, tag: str, body: str) -> Memory:
    tags = (tag,) if tag else ()
    return memory(title or "Agreed with everybody", *tags, body=f"{body}\n{CONTEXT}", memory_id="target")


def both_find(prompt: str, title: str = "", *, tag: str = "", body: str = "") -> Row:
    return Row(prompt, about(title, tag, body), True, (MEMSIFT, FTS5_BM25))


def finds(prompt: str, title: str = "", *, tag: str = "", body: str = "") -> Row:
    return Row(prompt, about(title, tag, body), True, (MEMSIFT,))


def both_miss(prompt: str, title: str = "", *, tag: str = "", body: str = "") -> Row:
    return Row(prompt, about(title, tag, body), False, (MEMSIFT, FTS5_BM25))


def misses(prompt: str, title: str = "", *, tag: str = "", body: str = "") -> Row:
    return Row(prompt, about(title, tag, body), False, (MEMSIFT,))


IDENTIFIERS = [
    both_find("where is userId validated?", "user_id comes from the gateway"),
    both_find("where is user_id validated?", "userId comes from the gateway"),
    both_find("where is user-id validated?", "UserId is a value object"),
    both_find("where is USER_ID validated?", "user-id is a header"),
    both_find("where is UserId validated?", "USER_ID is read once"),
    both_find("rename the userid column", "user_id is a uuid"),
    both_find("rename the user id column", "userId is a uuid"),
    both_find("why is user_id null?", "The userid column is nullable"),
    finds("why are user_ids unsorted?", "user_id is a uuid"),
    finds("why are userIds unsorted?", "user_id is a uuid"),
    both_find("getUserName throws", "get_user_name is cached"),
    both_find("get_user_name throws", "UserService.getUserName is cached"),
    both_find("UserService.getUser throws", "user_service.get_user is cached"),
    both_find("MAX_RETRY_COUNT is ignored", "maxRetryCount is five"),
    both_find("max-retry-count is ignored", "MAX_RETRY_COUNT is five"),
    both_find("HTTPServer hangs on shutdown", "http_server drains connections"),
    both_find("the http server hangs", "HTTPServer drains connections"),
    both_find("httpserver hangs", "HTTPServer drains connections"),
    both_find("XMLHttpRequest or something newer?", "xml_http_request is wrapped"),
    both_find("parseHTTPResponse fails", "parse_http_response is lenient"),
    both_find("OAuth2Token expires early", "oauth2_token is refreshed at half-life"),
    both_find("oauth2 token expires early", "OAuth2Token is refreshed at half-life"),
    both_find("how do we use OAuth?", "oauth scopes are minimal"),
    both_find("postgres upgrade plan", "PostgreSQL majors move in autumn"),
    both_find("React.FC or plain functions?", "No react.fc in components"),
    both_find("path.join is slow", "os.path.join breaks on drives"),
    finds("this.userId is undefined", "userId is set after login"),
    finds("self.user_id is None", "user_id is set after login"),
    finds("does self.cache leak?", "Cache entries are weak references"),
    both_find("front-end builds are slow", "The frontend is bundled with esbuild"),
    both_find("frontend builds are slow", "The front-end is bundled with esbuild"),
    both_find("front-end is slow", "Our front end is bundled with esbuild"),
    both_find("e-mail templates look broken", "email is rendered on the server"),
    both_find("email templates look broken", "e-mail templates are rendered on the server"),
    finds("our e-mails look broken", "email is rendered on the server"),
    both_find("re-run failed jobs", "rerun is limited to three attempts"),
    finds("does nextjs cache fetch?", "Next.js fetches are uncached"),
    finds("does Next.js cache fetch?", "nextjs fetches are uncached"),
    both_find("commit with --no-verify?", "--no-verify is forbidden"),
    both_find("ABC-123 is still broken", "ABC-123 was closed as invalid"),
    both_find("is the .env file committed?", ".env stays outside git"),
    both_find("ERR_CONNECTION_REFUSED on boot", "ERR_CONNECTION_REFUSED means the proxy is down"),
    finds("the git hub token", "GitHub tokens expire"),
    finds("web socket reconnects", "WebSocket pings every minute"),
    finds("multitenant rows", "multi-tenant rows carry an id"),
]

PATHS = [
    both_find("src/auth/login.ts crashes", "auth/login.ts owns redirects"),
    both_find("the login page crashes", "src/auth/login.ts owns redirects"),
    both_find("login.ts crashes", "The login form has two fields"),
    both_find("what is in SSSES.md?", "SSSES is the order of a review"),
    both_find("@websocket-guide.md", "WebSocket messages are signed"),
    both_find(
        "login.ts crashes", body="Redirects are owned by src/auth/login.ts alone.", title="login.ts and redirects"
    ),
    both_find("look at engine/search again", "engine.search owns ranking"),
    both_find("engine.search is slow", "engine/search/index.py owns ranking"),
    finds("tests of auth_service.py are flaky", "auth_service retries twice"),
    finds("UserForm.tsx re-renders", "UserForm is memoised"),
    finds("user-form.component.ts is long", "user-form.component is split by tab"),
    both_find("C:\\build\\deploy.ps1 is red", "deploy.ps1 needs admin rights"),
    both_find("docker compose is slow", "docker-compose.yml pins images"),
    both_find("docker-compose.yml is odd", "docker-compose.yml pins images"),
    both_find("the Dockerfile is large", "Dockerfile uses two stages"),
    both_find("package.json is stale", "package.json is generated"),
    finds("what does app/routing.py do?", body="All of it lives in app/routing.py, keyed by host."),
]

NUMBERS = [
    both_find("breaking changes of v2.0", "2.0 drops the old client"),
    both_find("breaking changes of 2.0", "v2.0 drops the old client"),
    both_find("breaking changes of v2", "v2.0 drops the old client"),
    both_find("python 3.11 wheels", "3.11 is the oldest interpreter"),
    both_find("still on 3.1?", "3.1.4 is pinned"),
    both_find("getting a 404 after deploy", "404 pages are static"),
    both_find("what says RFC 7231?", "RFC 7231 decides on methods"),
    both_find("sha256 of the artefact", "SHA-256 is published beside it"),
    both_find("SHA-256 of the artefact", "sha256 is published beside it"),
    both_find("utf8 or latin1?", "UTF-8 everywhere"),
    both_find("UTF-8 or latin1?", "utf8 everywhere"),
    both_find("http2 push is gone", "http2 is on at the edge"),
    both_find("k8s or nomad?", "k8s was chosen"),
    both_find("is CVE-2024-3094 ours?", "CVE-2024-3094 does not touch us"),
    both_find("p95 of the gateway", "P-95 is the target"),
    both_find("i18n keys are missing", "i18n keys are sorted"),
    both_find("port 5432 is taken", "5432 belongs to the local database"),
]

LANGUAGES = [
    both_find("axiosInstance에서 오류가 나요", "axiosInstance is made in src/http.ts"),
    both_find("axiosInstance is broken", "axiosInstance를 새로 만든다"),
    both_find("401일 때 토큰", "401 means that the token is old"),
    both_miss("에서 까지", "에서 까지"),
    both_find("le café", "Cafe menus come from the till"),
    both_find("cafe menu is wrong", "La carte du café vient de la caisse"),
    both_find("naive Bayes classifier", "naïve Bayes was enough"),
    both_find("Straßen werden falsch sortiert", "strassen sind eine eigene Tabelle"),
    both_find("Strassen werden falsch sortiert", "Straßen sind eine eigene Tabelle"),
    both_find("Übersetzung fehlt", "Alle ubersetzung Dateien sind JSON"),
    finds("blad logowania", "Błąd przy pustym haśle"),
    finds("smorrebrod i menuen", "Smørrebrød har egen kategori"),
    finds("IŞIK modu bozuk", "ışık modu sistemi izler"),
    both_find("iskele sunucusu yavaş", "İskele veri merkezi yedektir"),
    both_find("почему упал сервер", "Сервер перезапускается ночью"),
    both_find("почему упал сервер", "Перезапуск сервера по ночам"),
    finds("миграция базы данных", "Новая база живёт отдельно"),
    finds("нет ошибки", "Ошибками владеет журнал"),
    both_find("ключ шифрования утёк", "ключами шифрования владеет хранилище"),
    finds("код ревью", "Проверка кода обязательна"),
    both_find("ёлка на главной", "Елка рисуется на canvas"),
    both_find("ο διακομιστής αργεί", "ΔΙΑΚΟΜΙΣΤΗΣ στην Αθήνα"),
    both_find("השרת לא עולה", "הַשֶּׁרֶת נמצא בפרנקפורט"),
    both_find("شهادة الخادم", "الخَادِم في فرانكفورت"),
    finds("شهادة الخادم", "الخـــادم في فرانكفورت"),
    finds("الخادم بطيء", "خادم في برلين"),
    both_find("토큰 만료", "토큰은 한 시간 뒤에 만료된다"),
    finds("토큰이 만료됐어요", "토큰을 한 시간마다 바꾼다"),
    finds("서버에서 오류", "서버는 서울에 있다"),
    both_find("सर्वर धीमा है", "सर्वर मुंबई में"),
    both_find("เซิร์ฟเวอร์ ช้า", "เซิร์ฟเวอร์ อยู่ที่สิงคโปร์"),
    both_find("数据库怎么迁移", "迁移数据库之前先备份"),
    both_find("迁移", "数据库迁移在夜间运行"),
    both_find("ログインできない", "ログイン画面はSSRする"),
    both_find("ﾛｸﾞｲﾝ 失敗", "ログインは三回まで"),
    both_find("サーバーが遅い", "サーバの再起動は夜"),
    both_find("JWT认证失败", "认证使用短期令牌"),
    finds("用户登录失败", "登录需要验证码"),
    both_find("使用JWT认证", "JWT lifetimes are short"),
    both_find("ＳＤＫ gateway", "sdk calls are metered"),
]

WORD_FORMS = [
    finds("cached pages are stale", "Caching is done at the edge"),
    finds("caching of pages", "Pages are cached at the edge"),
    finds("which registries exist?", "Image registry for builds"),
    finds("running migrations", "How to run a migration"),
    finds("migrate the tables", "Migrations are reversible"),
    finds("deployment is slow", "We deploy from tags"),
    finds("configure eslint", "Configuration of eslint is shared"),
    finds("validate forms", "Validation happens on blur"),
    finds("rate limiting", "The rate-limiter counts per key"),
    finds("queries are slow", "Slow query log is on"),
    finds("authorize admins", "Authorization is by role"),
    finds("generating clients", "Generated clients are committed"),
    finds("authors of commits", "Commit author is verified"),
    finds("apis are versioned?", "Every API is versioned by date"),
    both_find("stale widgets", tag="widgets"),
    finds("what is the quokka?", body="The quokka fixture is seeded."),
]

NAMES = [
    both_find("can we use Go for this?", "Go services share one module"),
    both_find("which Go version on AWS?", "Go is updated yearly"),
    finds("build Go on AWS", "Go is updated yearly"),
    both_find("does `make` work on Windows?", "make wraps every script"),
    both_find("make -j4 fails", "make runs serially"),
    both_find("get() returns null", "get never raises"),
    both_find("`use` is deprecated", "use is a macro"),
    both_find("should it be in C?", "C is for the codec"),
    both_find("is R fast enough?", "R scripts stay with analysts"),
    finds("why is our C++ slow?", "C++ is built by clang"),
    finds("C++ is slow", "C++ is built by clang"),
    both_find("is our C# slow?", "C# is for the plugin"),
    both_find("are .NET clients supported?", ".NET clients are generated"),
]

PUNCTUATION = [
    both_find('why "flaky" quokka tests?', "quokka is seeded"),
    both_find("quokka AND numbat NOT wombat", "quokka is seeded"),
    both_find("quokka*", "quokka is seeded"),
    both_find('"quokka', "quokka is seeded"),
    both_find("^quokka", "quokka is seeded"),
    both_find("title:quokka", "quokka is seeded"),
    both_find("NEAR(quokka numbat, 3)", "quokka is seeded"),
    both_find("{quokka} : OR OR", "quokka is seeded"),
    both_find("- quokka + numbat", "quokka is seeded"),
    both_find("the quokka’s seed", "quokka is seeded"),
    both_find("quokka;DROP TABLE memory;--", "quokka is seeded"),
    both_find("🚀 quokka 🚀", "quokka is seeded"),
    both_find("quokka\x00numbat", "quokka is seeded"),
    both_find("<b>quokka</b>", "quokka is seeded"),
    both_find("@quokka #42", "quokka is seeded"),
    both_find("quokka=1&numbat=2", "quokka is seeded"),
]

STAY_OUT = [
    # a compound identifier is no two words
    both_miss("where is user_id validated?", "User identity is verified by post"),
    both_miss("where is user_id validated?", "An id per user"),
    both_miss("where is userId validated?", "User ideas are collected"),
    both_miss("rate-limiting is off", "The limiting factor is the rate of hiring"),
    both_miss("react.fc or not?", "Reactions are stored as emoji"),
    both_miss("ABC-123 is broken", "ABC-1234 was closed"),
    both_miss("ABC-123 is broken", "XYZ-123 was closed"),
    misses("next.js caching", "Next steps for the roadmap"),
    # a short word begins no other one
    misses("what is the id?", "Identity is verified by post"),
    misses("add a field", "Addresses are geocoded"),
    misses("which port does the proxy listen on?", "Portfolio pages are static"),
    both_miss("which port does the proxy listen on?", "Important dates of the year"),
    misses("react components render twice", "Reaction time of the duty phone"),
    misses("log level is wrong", "Login needs a captcha"),
    misses("log level is wrong", "The logo is an svg"),
    both_miss("test is red", "The latest contest"),
    misses("cat the file", "Categories are nested"),
    misses("app crashes", "Apple pays quarterly"),
    misses("form is ugly", "Formula engine is sandboxed"),
    misses("count rows per tenant", "Country codes are two letters"),
    misses("part of the table", "Partners get a discount"),
    both_miss("end of the queue", "Weekends are free"),
    both_miss("age of the row", "Storage is cheap"),
    # one word is not the other, whatever a stemmer says
    misses("why does the import fail?", "Important: ask legal first"),
    misses("custom theme", "Customer calls are recorded"),
    misses("author of the commit", "Authorization header is required"),
    misses("generic types", "Generated clients are committed"),
    misses("general advice", "Generated clients are committed"),
    misses("terminal colours", "Terminated contracts are purged"),
    misses("internal endpoints", "International shipping is off"),
    misses("news page", "New joiners get a laptop"),
    misses("git origin", "Original artwork is in the vault"),
    misses("which universe?", "University students get a discount"),
    misses("business logic", "Busy loops are forbidden"),
    misses("digit grouping", "Digital signage is a kiosk"),
    misses("organ donor form", "Organization names are unique"),
    misses("express middleware", "Expression engine is sandboxed"),
    misses("position of the cursor", "Positive feedback is shared"),
    misses("effect cleanup", "Effective dates of tariffs"),
    misses("policy check", "Police reports are archived"),
    misses("state machine", "Statement of work"),
    misses("static files", "Statistics are sampled"),
    misses("which java version?", "JavaScript bundles are split"),
    misses("fast builds please", "FastAPI routes are typed"),
    misses("rebase in git", "GitHub issues are triaged"),
    misses("open the file", "OpenAI keys are personal"),
    misses("update the me page", "Theme colours are tokens"),
    # numbers are themselves
    both_miss("still on 3.1?", "3.11 is the oldest interpreter"),
    both_miss("breaking changes of 2.0", "12.0 drops the old client"),
    both_miss("breaking changes of 2.0", "2.1 drops the old client"),
    misses("getting a 404", "4040 is the debug port"),
    misses("is 5432 open?", "54321 rows were lost"),
    misses("is 8080 open?", "80801 rows were lost"),
    # what carries no topic brings nothing up
    both_miss("what should we do about that?", "What we do about abuse"),
    both_miss("go on, make it work", "Go services use make"),
    both_miss("use the same as before", "use is a macro"),
    both_miss("thanks, looks good to me", "Thanks page looks good"),
    misses("ok, please continue", "Jobs continue on error"),
    misses("yes, proceed", "Proceed with caution on Fridays"),
    misses("nice work", "Nice levels of jobs"),
    both_miss("a b c d", "b is for bold"),
    both_miss("AND OR NOT", "AND gates and OR gates"),
    # one common word of many is not what the prompt is about
    misses("please write a unit test for the parser of tenant quotas", "Unit prices are in cents"),
    misses("the build is slow since we upgraded webpack and babel", "Build badges are green"),
    misses("explain how this regular expression handles nested brackets", "Regular backups are nightly"),
    # other scripts
    misses("на проде упал сервис", "Настройки почты"),
    misses("при запуске упал сервис", "Приложение для кассы"),
    both_miss("据数", "数据库迁移在夜间运行"),
    misses("デプロイの方法を教えてください", "テストを書いてください"),
    misses("がん", "かん"),
    both_miss("서버 오류", "서울 사무실"),
]

GROUPS = {
    "identifiers": IDENTIFIERS,
    "paths": PATHS,
    "numbers": NUMBERS,
    "languages": LANGUAGES,
    "word forms": WORD_FORMS,
    "names": NAMES,
    "punctuation": PUNCTUATION,
    "stay out": STAY_OUT,
}


@pytest.mark.parametrize("group", GROUPS)
def test_a_hard_pair(group: str) -> None:
    wrong = []
    for row in GROUPS[group]:
        with open_index(*INDEXED, row.memory) as index:
            for strategy in row.strategies:
                retrieval = retrieve(
                    Query(typed_prompt(row.prompt)), index, OpenSystem(Config(match_strategy=strategy))
                )
                if ("target" in [found.memory.id for found in retrieval.injected]) is not row.found:
                    wrong.append((row.prompt, row.memory.summary.title, strategy))
    assert wrong == []
