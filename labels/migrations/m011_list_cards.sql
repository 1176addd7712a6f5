-- Answers to list cards: see `titles` of Event in labels/records.py.

ALTER TABLE label_event ADD COLUMN titles INTEGER;

CREATE INDEX label_event_listed ON label_event (prompt_id, memory_id, digest) WHERE titles > 0;
CREATE INDEX frame_listed ON frame (seed, prompt_id, inclusion_probability) WHERE stratum = 'listed';
