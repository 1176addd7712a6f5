-- Label events of several people. SQLite cannot change the checks of a table: a new one is made and filled.

DROP VIEW label_current;
DROP VIEW label_standing;
DROP TRIGGER label_event_is_never_updated;
DROP TRIGGER label_event_is_never_deleted;
DROP TRIGGER label_event_is_never_replaced;
DROP INDEX label_event_by_pair;
DROP INDEX label_event_retracted_once;
ALTER TABLE label_event RENAME TO label_event_before;

CREATE TABLE label_event (
    event_id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE, -- 32 hex digits, the same in every store that the event was merged into
    ts TEXT NOT NULL,
    session TEXT NOT NULL, -- the sitting: one start of the app
    source TEXT NOT NULL, -- empty for a key press here, else the file and format it was imported from
    annotator TEXT NOT NULL,
    prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
    memory_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('label', 'skip', 'retract', 'adjudicate')),
    verdict TEXT CHECK (verdict IN ('relevant', 'not', 'unsure', 'unrateable')),
    grade INTEGER CHECK (grade BETWEEN 0 AND 3),
    reason TEXT NOT NULL,
    note TEXT NOT NULL,
    blind INTEGER NOT NULL,
    repeat INTEGER NOT NULL, -- 1: shown again without saying so, to measure self-agreement; never current
    position INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    elapsed_ms INTEGER NOT NULL,
    guideline TEXT NOT NULL,
    app_version TEXT NOT NULL,
    supersedes INTEGER REFERENCES label_event(event_id),
    CHECK ((action IN ('label', 'adjudicate')) = (verdict IS NOT NULL)),
    CHECK (action <> 'retract' OR supersedes IS NOT NULL),
    FOREIGN KEY (memory_id, digest) REFERENCES memory_version(memory_id, digest)
);

CREATE INDEX label_event_by_pair ON label_event (annotator, prompt_id, memory_id, digest);
-- and by age: the newest of one person
CREATE INDEX label_event_by_annotator ON label_event (annotator);
CREATE INDEX label_event_by_prompt ON label_event (prompt_id);
CREATE INDEX label_event_settled ON label_event (prompt_id, memory_id, digest) WHERE action = 'adjudicate';
CREATE UNIQUE INDEX label_event_retracted_once ON label_event (supersedes) WHERE action = 'retract';
-- a hash of the columns is the same in every copy of the store
INSERT INTO label_event (uid, session, source, repeat, event_id, ts, annotator, prompt_id, memory_id, digest, action, verdict, grade, reason, note, blind,
    position, seed, elapsed_ms, guideline, app_version, supersedes)
SELECT event_uid(event_id, ts, annotator, prompt_id, memory_id, digest, action, verdict, grade, reason, note, blind,
    position, seed, elapsed_ms, guideline, app_version, supersedes),
    '', '', 0, event_id, ts, annotator, prompt_id, memory_id, digest, action, verdict, grade, reason, note, blind,
    position, seed, elapsed_ms, guideline, app_version, supersedes
FROM label_event_before ORDER BY event_id;

DROP TABLE label_event_before;

CREATE TRIGGER label_event_is_never_updated BEFORE UPDATE ON label_event
BEGIN SELECT RAISE(ABORT, 'label events are never changed: append a new one'); END;

CREATE TRIGGER label_event_is_never_deleted BEFORE DELETE ON label_event
BEGIN SELECT RAISE(ABORT, 'label events are never deleted: append a retraction'); END;

-- INSERT OR REPLACE deletes without firing the delete trigger unless recursive_triggers is on
CREATE TRIGGER label_event_is_never_replaced BEFORE INSERT ON label_event
WHEN EXISTS (SELECT 1 FROM label_event WHERE event_id = NEW.event_id)
  OR EXISTS (SELECT 1 FROM label_event WHERE uid = NEW.uid)
  OR NEW.action = 'retract' AND EXISTS (
      SELECT 1 FROM label_event WHERE action = 'retract' AND supersedes = NEW.supersedes
  )
BEGIN SELECT RAISE(ABORT, 'label events are never replaced: append a new one'); END;

CREATE VIEW label_standing AS
SELECT * FROM label_event AS event
WHERE action <> 'retract' AND NOT EXISTS (
    SELECT 1 FROM label_event AS retraction
    WHERE retraction.action = 'retract' AND retraction.supersedes = event.event_id
);

CREATE VIEW label_current AS
SELECT * FROM label_standing AS event
WHERE action = 'label' AND NOT repeat AND NOT EXISTS (
    SELECT 1 FROM label_standing AS later
    WHERE later.annotator = event.annotator AND later.prompt_id = event.prompt_id
      AND later.memory_id = event.memory_id AND later.digest = event.digest
      AND later.action = 'label' AND NOT later.repeat AND later.event_id > event.event_id
);

CREATE VIEW adjudication_current AS
SELECT * FROM label_standing AS event
WHERE action = 'adjudicate' AND NOT EXISTS (
    SELECT 1 FROM label_standing AS later
    WHERE later.prompt_id = event.prompt_id AND later.memory_id = event.memory_id AND later.digest = event.digest
      AND later.action = 'adjudicate' AND later.event_id > event.event_id
);

-- also for readers with Datasette; labels/events.py has the same rule, and a test compares the two
CREATE VIEW gold AS
SELECT prompt_id, memory_id, digest, verdict, 'adjudicated' AS basis, 1 AS labels FROM adjudication_current
UNION ALL
SELECT * FROM (
    SELECT prompt_id, memory_id, digest,
        CASE WHEN sum(verdict = 'relevant') > sum(verdict = 'not') THEN 'relevant'
             WHEN sum(verdict = 'relevant') < sum(verdict = 'not') THEN 'not'
             WHEN min(verdict) = max(verdict) THEN min(verdict) END AS verdict,
        CASE count(*) WHEN 1 THEN 'single' ELSE 'majority' END AS basis,
        count(*) AS labels
    FROM label_current AS label
    WHERE NOT EXISTS (
        SELECT 1 FROM adjudication_current AS settled
        WHERE settled.prompt_id = label.prompt_id AND settled.memory_id = label.memory_id
          AND settled.digest = label.digest
    )
    GROUP BY prompt_id, memory_id, digest
) WHERE verdict IS NOT NULL;

CREATE TABLE plan (
    root TEXT NOT NULL,
    prompt_id TEXT NOT NULL,
    annotator TEXT NOT NULL,
    order_name TEXT NOT NULL,
    seed INTEGER NOT NULL,
    stratum TEXT NOT NULL, -- in which the prompt stood when the order in which it was offered was made
    ts TEXT NOT NULL,
    PRIMARY KEY (root, prompt_id, annotator)
);

-- the cutoff's P(relevant), NULL without a model
ALTER TABLE result ADD COLUMN probability REAL;
DROP INDEX result_by_pair;
CREATE INDEX result_by_memory ON result (prompt_id, memory_id);
-- JSON array of the prompt's terms
ALTER TABLE result ADD COLUMN matched TEXT NOT NULL DEFAULT '[]';
