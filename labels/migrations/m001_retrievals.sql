-- The tables of prompts, memory texts, runs and their results, and judge calls.

CREATE TABLE prompt (
    prompt_id TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    context_json TEXT NOT NULL, -- the turns before it, [{"role", "text"}], oldest first
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    session_id TEXT NOT NULL,
    cwd TEXT NOT NULL,
    ts TEXT NOT NULL -- when it was typed, as its source says, or empty
);

CREATE TABLE memory_version (
    memory_id TEXT NOT NULL,
    digest TEXT NOT NULL, -- SHA-256 of category, title, tags and body
    category TEXT NOT NULL,
    title TEXT NOT NULL,
    tags TEXT NOT NULL, -- JSON array
    body TEXT, -- NULL until a retrieval that knew the body was recorded
    path TEXT NOT NULL,
    PRIMARY KEY (memory_id, digest)
);

CREATE TABLE run (
    run_id TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    system TEXT NOT NULL,
    config_json TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    corpus_hash TEXT NOT NULL,
    engine_version TEXT NOT NULL,
    sqlite_version TEXT NOT NULL,
    ts TEXT NOT NULL
);

CREATE TABLE retrieval (
    retrieval_id INTEGER PRIMARY KEY, -- rises: of two for one prompt and system the higher is the newer
    run_id TEXT NOT NULL REFERENCES run(run_id),
    prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
    ts TEXT NOT NULL,
    fallback TEXT NOT NULL, -- the judge's error status, or empty
    elapsed_ms REAL NOT NULL,
    UNIQUE (run_id, prompt_id)
);

CREATE TABLE result (
    run_id TEXT NOT NULL REFERENCES run(run_id),
    prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
    memory_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    rank INTEGER NOT NULL,
    bm25 REAL NOT NULL,
    body_bonus INTEGER NOT NULL,
    score REAL NOT NULL,
    confidence TEXT NOT NULL,
    injected INTEGER NOT NULL,
    dropped_by TEXT,
    PRIMARY KEY (run_id, prompt_id, memory_id),
    FOREIGN KEY (memory_id, digest) REFERENCES memory_version(memory_id, digest)
);

CREATE INDEX result_by_pair ON result (prompt_id, memory_id, digest);

CREATE TABLE judge_call (
    call_id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES run(run_id),
    prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
    ts TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    template_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    elapsed_ms REAL NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    detail TEXT NOT NULL,
    UNIQUE (run_id, prompt_id)
);

CREATE TABLE judge_verdict (
    call_id INTEGER NOT NULL REFERENCES judge_call(call_id),
    memory_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    decision TEXT NOT NULL, -- approved, rejected or flagged
    status TEXT NOT NULL,
    reasoning TEXT NOT NULL,
    PRIMARY KEY (call_id, memory_id),
    FOREIGN KEY (memory_id, digest) REFERENCES memory_version(memory_id, digest)
);
