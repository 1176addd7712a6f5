-- The tables of pools and of label events.

CREATE TABLE frame (
    prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
    memory_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    seed INTEGER NOT NULL,
    stratum TEXT NOT NULL,
    inclusion_probability REAL NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1),
    ts TEXT NOT NULL,
    PRIMARY KEY (prompt_id, memory_id, digest, seed),
    FOREIGN KEY (memory_id, digest) REFERENCES memory_version(memory_id, digest)
);

CREATE TABLE label_event (
    event_id INTEGER PRIMARY KEY,
    ts TEXT NOT NULL,
    annotator TEXT NOT NULL,
    prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
    memory_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('label', 'skip', 'retract')),
    verdict TEXT CHECK (verdict IN ('relevant', 'not', 'unsure', 'unrateable')),
    grade INTEGER CHECK (grade BETWEEN 0 AND 3),
    reason TEXT NOT NULL,
    note TEXT NOT NULL,
    blind INTEGER NOT NULL,
    position INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    elapsed_ms INTEGER NOT NULL,
    guideline TEXT NOT NULL,
    app_version TEXT NOT NULL,
    supersedes INTEGER REFERENCES label_event(event_id),
    CHECK ((action = 'label') = (verdict IS NOT NULL)),
    CHECK (action <> 'retract' OR supersedes IS NOT NULL),
    FOREIGN KEY (memory_id, digest) REFERENCES memory_version(memory_id, digest)
);

CREATE INDEX label_event_by_pair ON label_event (annotator, prompt_id, memory_id, digest);
CREATE UNIQUE INDEX label_event_retracted_once ON label_event (supersedes) WHERE action = 'retract';

CREATE TRIGGER label_event_is_never_updated BEFORE UPDATE ON label_event
BEGIN SELECT RAISE(ABORT, 'label events are never changed: append a new one'); END;

CREATE TRIGGER label_event_is_never_deleted BEFORE DELETE ON label_event
BEGIN SELECT RAISE(ABORT, 'label events are never deleted: append a retraction'); END;

-- INSERT OR REPLACE deletes without firing the delete trigger unless recursive_triggers is on
CREATE TRIGGER label_event_is_never_replaced BEFORE INSERT ON label_event
WHEN EXISTS (SELECT 1 FROM label_event WHERE event_id = NEW.event_id)
BEGIN SELECT RAISE(ABORT, 'label events are never replaced: append a new one'); END;

CREATE VIEW label_standing AS
SELECT * FROM label_event AS event
WHERE action <> 'retract' AND NOT EXISTS (
    SELECT 1 FROM label_event AS retraction
    WHERE retraction.action = 'retract' AND retraction.supersedes = event.event_id
);

CREATE VIEW label_current AS
SELECT * FROM label_standing AS event
WHERE action = 'label' AND NOT EXISTS (
    SELECT 1 FROM label_standing AS later
    WHERE later.annotator = event.annotator AND later.prompt_id = event.prompt_id
      AND later.memory_id = event.memory_id AND later.digest = event.digest
      AND later.action = 'label' AND later.event_id > event.event_id
);
