-- Who has seen the ranks of a prompt.

CREATE TABLE sighting (
    annotator TEXT NOT NULL,
    prompt_id TEXT NOT NULL,
    ts TEXT NOT NULL, -- when ranks and verdicts came into view
    PRIMARY KEY (annotator, prompt_id, ts)
);

-- before this step, only a label with blind = 0 told that its annotator had seen the ranks
INSERT INTO sighting
SELECT annotator, prompt_id, min(ts) FROM label_event
WHERE action IN ('label', 'skip') AND NOT blind AND source = '' GROUP BY annotator, prompt_id;

CREATE TRIGGER sighting_is_never_updated BEFORE UPDATE ON sighting
BEGIN SELECT RAISE(ABORT, 'what was seen is never changed'); END;

CREATE TRIGGER sighting_is_never_deleted BEFORE DELETE ON sighting
BEGIN SELECT RAISE(ABORT, 'what was seen cannot be unseen'); END;
