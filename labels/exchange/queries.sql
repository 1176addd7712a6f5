-- The queries of an export, by name: see labels/queries.sql.

-- Whether a run was over one of the roots or over a folder with the same memories, alone or together with others: see
-- `engine.stores.roots.joint_name`.
-- [part in_roots]
EXISTS (
    SELECT 1 FROM (
        SELECT value AS wanted FROM json_each(:roots)
        UNION SELECT other FROM same_memories WHERE same_memories.root IN (SELECT value FROM json_each(:roots))
    )
    WHERE instr(char(10) || root || char(10), char(10) || wanted || char(10))
)

-- [part of_roots]
run_id IN (SELECT run_id FROM run WHERE {in_roots})

-- Whether a run over the roots found the memory of a row of the table `pair`, or no run did and it is `present`.
-- [part pairs_of_roots]
((pair.memory_id || char(10) || pair.digest IN (SELECT value FROM json_each(:present)) AND NOT EXISTS (
    SELECT 1 FROM result WHERE result.prompt_id = pair.prompt_id AND result.memory_id = pair.memory_id
)) OR EXISTS (
    SELECT 1 FROM result
    WHERE {of_roots} AND result.prompt_id = pair.prompt_id AND result.memory_id = pair.memory_id
))

-- [part pair]
prompt_id, memory_id, digest

-- [part current]
(SELECT * FROM label_current UNION ALL SELECT * FROM adjudication_current)

-- The results of the newest retrieval of each prompt and system. `score` is SQLite's: negative, lower is better.
-- `decision` and `certainty` (0..1) are the judge's, NULL without it.
-- [newest_result]
CREATE TEMP VIEW newest_result AS
SELECT system, prompt_id, result.memory_id, result.digest, rank, score, injected, dropped_by,
       decision, judge_verdict.confidence AS certainty, provider, model
FROM (
    SELECT run_id, prompt_id, system,
           row_number() OVER (PARTITION BY system, prompt_id ORDER BY retrieval.ts DESC, retrieval_id DESC) AS age
    FROM retrieval JOIN run USING (run_id)
) JOIN result USING (run_id, prompt_id) LEFT JOIN judge_call USING (run_id, prompt_id)
LEFT JOIN judge_verdict USING (call_id, memory_id)
WHERE age = 1

-- The events in the order in which they were written; `supersedes` is a uid.
-- [events]
SELECT event.*, 0 AS event_id, target.uid AS supersedes FROM label_event AS event
LEFT JOIN label_event AS target ON target.event_id = event.supersedes ORDER BY event.event_id

-- A file of memsift 1.0 plans prompts that nobody labelled then: see the step m010_one_order.
-- [unlabelled_plans]
DELETE FROM plan WHERE prompt_id NOT IN (SELECT prompt_id FROM label_event)

-- Taken away from an extract, a statement after the other

-- [other_roots]
DELETE FROM label_event AS pair WHERE NOT {pairs_of_roots};
DELETE FROM frame AS pair WHERE NOT {pairs_of_roots};
DELETE FROM sighting WHERE prompt_id NOT IN (SELECT prompt_id FROM retrieval WHERE {of_roots});
DELETE FROM plan WHERE NOT {in_roots};
DELETE FROM run WHERE NOT {in_roots};

-- [without_run]
DELETE FROM retrieval WHERE run_id NOT IN (SELECT run_id FROM run);
DELETE FROM result WHERE run_id NOT IN (SELECT run_id FROM run);
DELETE FROM judge_call WHERE run_id NOT IN (SELECT run_id FROM run);
DELETE FROM judge_verdict WHERE call_id NOT IN (SELECT call_id FROM judge_call);

-- [unused_texts]
DELETE FROM prompt WHERE prompt_id NOT IN (
    SELECT prompt_id FROM label_event UNION SELECT prompt_id FROM frame UNION SELECT prompt_id FROM retrieval);
DELETE FROM memory_version WHERE (memory_id, digest) NOT IN (
    SELECT memory_id, digest FROM label_event UNION SELECT memory_id, digest FROM frame
    UNION SELECT memory_id, digest FROM result);

-- [texts]
UPDATE prompt SET text = text_hash(text), context_json = '[]', session_id = '', cwd = '', ts = '';
UPDATE memory_version SET category = '', title = '', tags = '[]', body = text_hash(body), path = '';
UPDATE label_event SET note = '', reason = '', source = '';
UPDATE run SET root = id_hash(root), config_json = '';
UPDATE result SET matched = '[]';
UPDATE judge_call SET detail = '';
UPDATE judge_verdict SET reasoning = '';
UPDATE plan SET root = id_hash(root);

-- What a format may leave out: its name in registry.py, the words for people, and the number of its items

-- [presses: key presses]
SELECT count(*) FROM label_event

-- [history: labels that were taken back or changed later]
SELECT (SELECT count(*) FROM label_event WHERE action = 'label' AND NOT repeat)
- (SELECT count(*) FROM label_current)

-- [skips: skips]
SELECT count(*) FROM label_event WHERE action = 'skip'

-- [repeats: hidden repeats]
SELECT count(*) FROM label_event WHERE repeat

-- [adjudications: adjudications]
SELECT count(*) FROM label_event WHERE action = 'adjudicate'

-- [single_labels: labels of single people beside the agreed verdict]
SELECT ifnull(sum(others), 0) FROM (
    SELECT count(*) - 1 AS others FROM label_current JOIN gold USING ({pair}) GROUP BY {pair})

-- [ties: pairs on which people are evenly split]
SELECT count(*) FROM (SELECT {pair} FROM label_current EXCEPT SELECT {pair} FROM gold)

-- [unjudged: pairs of the pool without a label]
SELECT count(*) FROM (
    SELECT {pair} FROM label_standing WHERE action = 'skip' AND NOT repeat
    UNION SELECT {pair} FROM adjudication_current
    UNION SELECT {pair} FROM frame
    UNION SELECT {pair} FROM newest_result WHERE injected
    EXCEPT SELECT {pair} FROM label_current)

-- [undecided: unsure or unrateable labels]
SELECT count(*) FROM {current} WHERE verdict NOT IN ('relevant', 'not')

-- [older_texts: labels of a memory's other texts]
SELECT (SELECT count(*) FROM gold)
- (SELECT count(*) FROM (SELECT DISTINCT prompt_id, memory_id FROM gold))

-- [grades: grades]
SELECT count(*) FROM {current} WHERE grade IS NOT NULL

-- [times: times of labels, and how long they took]
SELECT count(*) FROM {current} WHERE ts <> '' OR elapsed_ms

-- [blindness: marks that a label was given blind]
SELECT count(*) FROM {current} WHERE blind = 1

-- [showing: positions and seeds of the cards, and which were titles on a list card]
SELECT count(*) FROM {current} WHERE position OR seed OR titles

-- [circumstances: labels' reasons, notes, times and circumstances]
SELECT count(*) FROM {current} WHERE reason <> '' OR note <> '' OR ts <> '' OR blind = 1 OR seed OR titles

-- [judges: verdicts of judges]
SELECT count(decision) FROM newest_result

-- [retrievals: retrievals and samples of the pool]
SELECT count(*) FROM retrieval

-- [turns: conversations before prompts]
SELECT count(*) FROM prompt WHERE context_json <> '[]'

-- [prompt_texts: texts of prompts]
SELECT count(*) FROM prompt WHERE text <> ''

-- [memory_texts: texts of memories]
SELECT count(*) FROM memory_version WHERE title <> '' OR body <> ''
