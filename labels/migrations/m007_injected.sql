-- An index of the injected results.

CREATE INDEX result_injected ON result (run_id, prompt_id) WHERE injected;
