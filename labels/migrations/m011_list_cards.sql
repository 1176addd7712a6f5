-- Answers to list cards: see `titles` of Event in labels/records.py.

ALTER TABLE label_event ADD COLUMN titles INTEGER;
