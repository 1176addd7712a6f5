-- One order of labelling, a random one: of the orders of memsift 1.0, only prompts that were labelled in them stay known.

DELETE FROM plan WHERE prompt_id NOT IN (SELECT prompt_id FROM label_event);
