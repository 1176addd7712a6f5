-- Label events merged from several stores.

DROP VIEW gold;
DROP VIEW adjudication_current;
DROP VIEW label_current;
DROP TRIGGER label_event_is_never_replaced;
DROP INDEX label_event_retracted_once;
-- not unique: one label can be taken back in each of two stores, and a merge keeps both retractions
CREATE INDEX label_event_retracted ON label_event (supersedes) WHERE action = 'retract';

CREATE TRIGGER label_event_is_never_replaced BEFORE INSERT ON label_event
WHEN EXISTS (SELECT 1 FROM label_event WHERE event_id = NEW.event_id)
  OR EXISTS (SELECT 1 FROM label_event WHERE uid = NEW.uid)
BEGIN SELECT RAISE(ABORT, 'label events are never replaced: append a new one'); END;

-- by time, because merged events have higher event ids, however old they are
CREATE VIEW label_current AS
SELECT * FROM label_standing AS event
WHERE action = 'label' AND NOT repeat AND NOT EXISTS (
    SELECT 1 FROM label_standing AS later
    WHERE later.annotator = event.annotator AND later.prompt_id = event.prompt_id
      AND later.memory_id = event.memory_id AND later.digest = event.digest
      AND later.action = 'label' AND NOT later.repeat
      AND (later.ts, later.event_id) > (event.ts, event.event_id)
);

CREATE VIEW adjudication_current AS
SELECT * FROM label_standing AS event
WHERE action = 'adjudicate' AND NOT EXISTS (
    SELECT 1 FROM label_standing AS later
    WHERE later.prompt_id = event.prompt_id AND later.memory_id = event.memory_id AND later.digest = event.digest
      AND later.action = 'adjudicate' AND (later.ts, later.event_id) > (event.ts, event.event_id)
);

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
