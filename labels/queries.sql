-- The longer queries of the label store, by name. A "part" is no query of its own: its name in braces stands for it.

-- The run of the row of `run` is over the root, or over a folder with the same memories.
-- [part this_root]
(run.root = :root OR run.root IN (SELECT other FROM same_memories WHERE root = :root))

-- The ids of the newest retrievals. A system's retrievals with an older judge prompt are left out: another prompt makes
-- another judge.
-- [part newest]
    SELECT max(retrieval.retrieval_id) FROM retrieval JOIN run USING (run_id)
    LEFT JOIN judge_call USING (run_id, prompt_id)
    WHERE (:root IS NULL OR {this_root})
      AND (judge_call.template_hash IS NULL OR (run.system, judge_call.template_hash) IN (
          SELECT asked.system, latest.template_hash FROM judge_call AS latest JOIN run AS asked USING (run_id)
          WHERE latest.call_id IN (
              SELECT max(call_id) FROM judge_call JOIN run USING (run_id)
              WHERE :root IS NULL OR {this_root} GROUP BY run.system
          )
      ))
    GROUP BY retrieval.prompt_id, run.system

-- A run over the root returned the memory of the row of `event` for the same prompt.
-- [part of_root]
(:root IS NULL OR EXISTS (
    SELECT 1 FROM result JOIN run USING (run_id)
    WHERE {this_root} AND result.prompt_id = event.prompt_id AND result.memory_id = event.memory_id
))

-- Replays

-- [outcomes]
SELECT retrieval_id, run_id, prompt_id, run.system, fallback, retrieval.elapsed_ms, kind,
       judge_call.elapsed_ms AS asked_ms, judge_call.cost_usd,
       (SELECT max(samples) FROM judge_verdict WHERE judge_verdict.call_id = judge_call.call_id) AS answers,
       (SELECT max(source = 'live') FROM judge_verdict WHERE judge_verdict.call_id = judge_call.call_id) AS is_live
FROM retrieval JOIN run USING (run_id) JOIN prompt USING (prompt_id)
LEFT JOIN judge_call USING (run_id, prompt_id)
WHERE retrieval_id IN ({newest}) ORDER BY retrieval_id

-- SQLite keeps the order of a cross join: from the newest retrievals to their results.
-- [candidates]
SELECT retrieval_id, memory_id, result.digest, decision, probability, injected, result.confidence,
       nullif(json_array_length(matched), 0) AS matched, score
FROM (SELECT retrieval_id, run_id, prompt_id FROM retrieval WHERE retrieval_id IN ({newest}))
CROSS JOIN result USING (run_id, prompt_id)
LEFT JOIN judge_call USING (run_id, prompt_id) LEFT JOIN judge_verdict USING (call_id, memory_id)
WHERE injected OR (prompt_id, memory_id) IN (SELECT prompt_id, memory_id FROM label_event)
ORDER BY retrieval_id, rank

-- [returned_texts]
SELECT DISTINCT memory_id, digest FROM retrieval JOIN result USING (run_id, prompt_id)
WHERE retrieval_id IN ({newest})

-- [verdicts]
SELECT judge_call.prompt_id, memory_id, digest, decision
FROM retrieval JOIN run USING (run_id) JOIN judge_call USING (run_id, prompt_id)
JOIN judge_verdict USING (call_id)
WHERE retrieval_id IN ({newest}) AND judge_call.status = 'ok' ORDER BY retrieval_id

-- [empty_replays]
SELECT prompt_id, system, config_json, NOT EXISTS (
    SELECT 1 FROM result WHERE result.run_id = retrieval.run_id AND result.prompt_id = retrieval.prompt_id) AS is_bare
FROM retrieval JOIN run USING (run_id)
WHERE root = :root AND corpus_hash = :corpus AND NOT EXISTS (
    SELECT 1 FROM result INDEXED BY result_injected
    WHERE result.run_id = retrieval.run_id AND result.prompt_id = retrieval.prompt_id AND injected)

-- Runs

-- [prompts]
SELECT * FROM prompt WHERE prompt_id IN (
    SELECT prompt_id FROM retrieval JOIN run USING (run_id) WHERE {this_root}) ORDER BY prompt_id

-- [prompts_of_source]
SELECT prompt.*, max(retrieval_id) AS latest FROM prompt JOIN retrieval USING (prompt_id)
JOIN run USING (run_id) WHERE source = :source AND {this_root} GROUP BY prompt_id ORDER BY latest DESC LIMIT :limit

-- [saved_runs]
SELECT run_id, root, system, count(*), max(retrieval.ts), config_json, corpus_hash
FROM run JOIN retrieval USING (run_id) WHERE {this_root} GROUP BY run_id ORDER BY max(retrieval_id) DESC

-- [injected]
SELECT prompt_id, memory_id, digest, title FROM result JOIN memory_version USING (memory_id, digest)
WHERE run_id = ? AND injected ORDER BY prompt_id, rank

-- The labelled texts of other roots whose runs do not count for the root.
-- [labelled_elsewhere]
SELECT DISTINCT run.root, memory_id, digest
FROM (SELECT DISTINCT prompt_id, memory_id, digest FROM label_event)
JOIN result USING (prompt_id, memory_id, digest) JOIN run USING (run_id)
WHERE NOT {this_root}

-- [labelled_text]
SELECT text FROM prompt WHERE prompt_id = ? AND prompt_id IN (SELECT prompt_id FROM label_event)

-- Pools and removed labelling orders

-- [pooled]
SELECT prompt_id, json_group_array(memory_id) FROM frame
JOIN (SELECT prompt_id, max(ts) AS ts FROM frame WHERE seed = :seed GROUP BY prompt_id)
USING (prompt_id, ts)
WHERE seed = :seed GROUP BY prompt_id

-- [drawn]
SELECT DISTINCT prompt_id, inclusion_probability FROM frame WHERE seed = :seed AND stratum = 'listed'

-- The labelled prompts that the removed labelling orders `disagreement-first` and `uncertain-first` put first. The order
-- `random` has the stratum `all`, and `stratified` took prompts of each kind in proportion: both are random samples.
-- [preferred]
SELECT DISTINCT prompt_id FROM plan WHERE stratum <> 'all' AND prompt_id IN (SELECT prompt_id FROM label_event)
AND (order_name <> 'stratified' OR stratum GLOB '*the cutoff*')

-- Events

-- [events]
SELECT * FROM label_event WHERE {whose} ORDER BY event_id DESC LIMIT ifnull(:limit, -1)

-- [gold]
SELECT event.*, EXISTS (
    SELECT 1 FROM label_event AS asked WHERE asked.prompt_id = event.prompt_id AND asked.memory_id = event.memory_id
    AND asked.digest = event.digest AND titles > 0
) FROM gold AS event WHERE {of_root} ORDER BY prompt_id, memory_id, digest

-- [skips]
SELECT prompt_id, memory_id, digest, count(*) FROM label_standing
WHERE action = 'skip' AND NOT repeat AND annotator = :annotator AND {which}
GROUP BY prompt_id, memory_id, digest

-- [repeats]
SELECT annotator, prompt_id, memory_id, digest, verdict AS again, (
    SELECT first.verdict FROM label_standing AS first
    WHERE first.annotator = event.annotator AND first.prompt_id = event.prompt_id
      AND first.memory_id = event.memory_id AND first.digest = event.digest
      AND first.action = 'label' AND NOT first.repeat AND first.event_id < event.event_id
    ORDER BY first.event_id DESC LIMIT 1
) AS first
FROM label_standing AS event
WHERE action = 'label' AND repeat AND first IS NOT NULL AND {of_root} ORDER BY event_id

-- [superseded]
SELECT event_id, ts, titles FROM label_current
WHERE annotator = :annotator AND prompt_id = :prompt_id AND memory_id = :memory_id AND digest = :digest

-- A list of prompts can be longer than SQLite's limit of parameters, so it goes in as a JSON array.
-- [latest_standing]
SELECT * FROM label_standing AS event
WHERE annotator = :annotator AND source = '' AND (action = 'adjudicate') = :adjudications
AND (:prompts IS NULL OR prompt_id IN (SELECT value FROM json_each(:prompts))) AND {of_root}
ORDER BY event_id DESC LIMIT 1

-- The answers that one key gave to a list card.
-- [same_list]
SELECT * FROM label_standing WHERE annotator = :annotator AND prompt_id = :prompt_id AND ts = :ts AND titles > 0
ORDER BY event_id
