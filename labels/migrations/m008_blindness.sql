-- Labels of which nobody knows whether they were given blind.

DROP TRIGGER label_event_is_never_updated;
-- these formats do not say whether a label was given blind, which was taken for "no": -1 is "not known"
UPDATE label_event SET blind = -1
WHERE NOT blind AND (source LIKE '%(qrels)' OR source LIKE '%(qrels-graded)' OR source LIKE '%(csv)');

CREATE TRIGGER label_event_is_never_updated BEFORE UPDATE ON label_event
BEGIN SELECT RAISE(ABORT, 'label events are never changed: append a new one'); END;
