-- More about what a judge said, and what it cost.

ALTER TABLE judge_call ADD COLUMN depth TEXT NOT NULL DEFAULT 'keep';
-- NULL where tokens or price are not known
ALTER TABLE judge_call ADD COLUMN cost_usd REAL;
-- 0..1, NULL where the judge did not say
ALTER TABLE judge_verdict ADD COLUMN confidence REAL;
ALTER TABLE judge_verdict ADD COLUMN samples INTEGER NOT NULL DEFAULT 1;
-- the share of the samples, 0..1
ALTER TABLE judge_verdict ADD COLUMN agreement REAL NOT NULL DEFAULT 1.0;
ALTER TABLE judge_verdict ADD COLUMN source TEXT NOT NULL DEFAULT 'live';
