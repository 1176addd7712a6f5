BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'memsift.labels','m001_retrievals','2026-11-29 00:24:09.020413+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'memsift.labels','m002_labels','2026-11-29 00:24:09.022800+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'memsift.labels','m003_judgements','2026-11-29 00:24:09.024120+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'memsift.labels','m004_people','2026-11-29 00:24:09.051676+00:00');
INSERT INTO "_sqlite_migrations" VALUES(5,'memsift.labels','m005_merged','2026-11-29 00:24:09.057133+00:00');
INSERT INTO "_sqlite_migrations" VALUES(6,'memsift.labels','m006_sightings','2026-11-29 00:24:09.057736+00:00');
INSERT INTO "_sqlite_migrations" VALUES(7,'memsift.labels','m007_injected','2026-11-29 00:24:09.057976+00:00');
INSERT INTO "_sqlite_migrations" VALUES(8,'memsift.labels','m008_blindness','2026-11-29 00:24:09.060179+00:00');
CREATE TABLE frame (
        prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
        memory_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        seed INTEGER NOT NULL,
        stratum TEXT NOT NULL,
        inclusion_probability REAL NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1),
        ts TEXT NOT NULL,
        PRIMARY KEY (prompt_id, memory_id, digest, seed),
        FOREIGN KEY (memory_id, digest) REFERENCES memory_version(memory_id, digest)
    );
INSERT INTO "frame" VALUES('random-0','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:00:13.000+00:00');
INSERT INTO "frame" VALUES('random-0','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:00:13.000+00:00');
INSERT INTO "frame" VALUES('random-0','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:00:13.000+00:00');
INSERT INTO "frame" VALUES('random-1','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:00:17.000+00:00');
INSERT INTO "frame" VALUES('random-1','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:00:17.000+00:00');
INSERT INTO "frame" VALUES('random-1','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:00:17.000+00:00');
INSERT INTO "frame" VALUES('random-2','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:00:21.000+00:00');
INSERT INTO "frame" VALUES('random-2','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:00:21.000+00:00');
INSERT INTO "frame" VALUES('random-2','c','digest-of-c',1,'judge-dropped',0.5,'2026-02-01T00:00:21.000+00:00');
INSERT INTO "frame" VALUES('random-3','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:00:25.000+00:00');
INSERT INTO "frame" VALUES('random-3','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:00:25.000+00:00');
INSERT INTO "frame" VALUES('random-3','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:00:25.000+00:00');
INSERT INTO "frame" VALUES('stratified-0','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:00:42.000+00:00');
INSERT INTO "frame" VALUES('stratified-0','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:00:42.000+00:00');
INSERT INTO "frame" VALUES('stratified-0','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:00:42.000+00:00');
INSERT INTO "frame" VALUES('stratified-1','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:00:46.000+00:00');
INSERT INTO "frame" VALUES('stratified-1','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:00:46.000+00:00');
INSERT INTO "frame" VALUES('stratified-1','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:00:46.000+00:00');
INSERT INTO "frame" VALUES('stratified-2','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:00:50.000+00:00');
INSERT INTO "frame" VALUES('stratified-2','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:00:50.000+00:00');
INSERT INTO "frame" VALUES('stratified-2','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:00:50.000+00:00');
INSERT INTO "frame" VALUES('stratified-3','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:00:54.000+00:00');
INSERT INTO "frame" VALUES('stratified-3','c','digest-of-c',1,'judge-dropped',0.5,'2026-02-01T00:00:54.000+00:00');
INSERT INTO "frame" VALUES('stratified-3','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:00:54.000+00:00');
INSERT INTO "frame" VALUES('disagreement-0','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:01:11.000+00:00');
INSERT INTO "frame" VALUES('disagreement-0','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:01:11.000+00:00');
INSERT INTO "frame" VALUES('disagreement-0','c','digest-of-c',1,'judge-dropped',0.5,'2026-02-01T00:01:11.000+00:00');
INSERT INTO "frame" VALUES('disagreement-1','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:01:15.000+00:00');
INSERT INTO "frame" VALUES('disagreement-1','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:01:15.000+00:00');
INSERT INTO "frame" VALUES('disagreement-1','c','digest-of-c',1,'judge-dropped',0.5,'2026-02-01T00:01:15.000+00:00');
INSERT INTO "frame" VALUES('disagreement-2','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:01:19.000+00:00');
INSERT INTO "frame" VALUES('disagreement-2','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:01:19.000+00:00');
INSERT INTO "frame" VALUES('disagreement-2','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:01:19.000+00:00');
INSERT INTO "frame" VALUES('disagreement-3','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:01:23.000+00:00');
INSERT INTO "frame" VALUES('disagreement-3','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:01:23.000+00:00');
INSERT INTO "frame" VALUES('disagreement-3','c','digest-of-c',1,'judge-dropped',0.5,'2026-02-01T00:01:23.000+00:00');
INSERT INTO "frame" VALUES('uncertain-0','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:01:40.000+00:00');
INSERT INTO "frame" VALUES('uncertain-0','c','digest-of-c',1,'judge-dropped',0.5,'2026-02-01T00:01:40.000+00:00');
INSERT INTO "frame" VALUES('uncertain-0','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:01:40.000+00:00');
INSERT INTO "frame" VALUES('uncertain-1','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:01:44.000+00:00');
INSERT INTO "frame" VALUES('uncertain-1','c','digest-of-c',1,'judge-dropped',0.5,'2026-02-01T00:01:44.000+00:00');
INSERT INTO "frame" VALUES('uncertain-1','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:01:44.000+00:00');
INSERT INTO "frame" VALUES('uncertain-2','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:01:48.000+00:00');
INSERT INTO "frame" VALUES('uncertain-2','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:01:48.000+00:00');
INSERT INTO "frame" VALUES('uncertain-2','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:01:48.000+00:00');
INSERT INTO "frame" VALUES('uncertain-3','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:01:52.000+00:00');
INSERT INTO "frame" VALUES('uncertain-3','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:01:52.000+00:00');
INSERT INTO "frame" VALUES('uncertain-3','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:01:52.000+00:00');
INSERT INTO "frame" VALUES('later-random-0','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:02:09.000+00:00');
INSERT INTO "frame" VALUES('later-random-0','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:02:09.000+00:00');
INSERT INTO "frame" VALUES('later-random-0','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:02:09.000+00:00');
INSERT INTO "frame" VALUES('later-random-1','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:02:13.000+00:00');
INSERT INTO "frame" VALUES('later-random-1','c','digest-of-c',1,'judge-dropped',0.5,'2026-02-01T00:02:13.000+00:00');
INSERT INTO "frame" VALUES('later-random-1','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:02:13.000+00:00');
INSERT INTO "frame" VALUES('later-random-2','c','digest-of-c',1,'judge-dropped',0.5,'2026-02-01T00:02:17.000+00:00');
INSERT INTO "frame" VALUES('later-random-2','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:02:17.000+00:00');
INSERT INTO "frame" VALUES('later-random-2','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:02:17.000+00:00');
INSERT INTO "frame" VALUES('later-random-3','a','digest-of-a',1,'injected',1.0,'2026-02-01T00:02:21.000+00:00');
INSERT INTO "frame" VALUES('later-random-3','d','digest-of-d',1,'judge-dropped',0.5,'2026-02-01T00:02:21.000+00:00');
INSERT INTO "frame" VALUES('later-random-3','b','digest-of-b',1,'injected',1.0,'2026-02-01T00:02:21.000+00:00');
CREATE TABLE judge_call (
        call_id INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL REFERENCES run(run_id),
        prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
        ts TEXT NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        template_hash TEXT NOT NULL,
        status TEXT NOT NULL,
        elapsed_ms REAL NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        detail TEXT NOT NULL, depth TEXT NOT NULL DEFAULT 'keep', cost_usd REAL,
        UNIQUE (run_id, prompt_id)
    );
INSERT INTO "judge_call" VALUES(1,'9b4046ab228be36c','random-0','2026-02-01T00:00:01.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(2,'9b4046ab228be36c','random-1','2026-02-01T00:00:03.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(3,'9b4046ab228be36c','random-2','2026-02-01T00:00:05.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(4,'9b4046ab228be36c','random-3','2026-02-01T00:00:07.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(5,'9b4046ab228be36c','random-4','2026-02-01T00:00:09.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(6,'9b4046ab228be36c','random-5','2026-02-01T00:00:11.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(7,'57ac7817e38e1db3','stratified-0','2026-02-01T00:00:30.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(8,'57ac7817e38e1db3','stratified-1','2026-02-01T00:00:32.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(9,'57ac7817e38e1db3','stratified-2','2026-02-01T00:00:34.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(10,'57ac7817e38e1db3','stratified-3','2026-02-01T00:00:36.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(11,'57ac7817e38e1db3','stratified-4','2026-02-01T00:00:38.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(12,'57ac7817e38e1db3','stratified-5','2026-02-01T00:00:40.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(13,'3e37465854c66065','disagreement-0','2026-02-01T00:00:59.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(14,'3e37465854c66065','disagreement-1','2026-02-01T00:01:01.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(15,'3e37465854c66065','disagreement-2','2026-02-01T00:01:03.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(16,'3e37465854c66065','disagreement-3','2026-02-01T00:01:05.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(17,'3e37465854c66065','disagreement-4','2026-02-01T00:01:07.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(18,'3e37465854c66065','disagreement-5','2026-02-01T00:01:09.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(19,'82f86217543112a3','uncertain-0','2026-02-01T00:01:28.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(20,'82f86217543112a3','uncertain-1','2026-02-01T00:01:30.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(21,'82f86217543112a3','uncertain-2','2026-02-01T00:01:32.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(22,'82f86217543112a3','uncertain-3','2026-02-01T00:01:34.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(23,'82f86217543112a3','uncertain-4','2026-02-01T00:01:36.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(24,'82f86217543112a3','uncertain-5','2026-02-01T00:01:38.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(25,'db5b0a7e3303ea9b','later-random-0','2026-02-01T00:01:57.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(26,'db5b0a7e3303ea9b','later-random-1','2026-02-01T00:01:59.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(27,'db5b0a7e3303ea9b','later-random-2','2026-02-01T00:02:01.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(28,'db5b0a7e3303ea9b','later-random-3','2026-02-01T00:02:03.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(29,'db5b0a7e3303ea9b','later-random-4','2026-02-01T00:02:05.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
INSERT INTO "judge_call" VALUES(30,'db5b0a7e3303ea9b','later-random-5','2026-02-01T00:02:07.000+00:00','scripted','none','0123456789abcdef','ok',210.0,0,0,'','keep',NULL);
CREATE TABLE judge_verdict (
        call_id INTEGER NOT NULL REFERENCES judge_call(call_id),
        memory_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        decision TEXT NOT NULL, -- approved, rejected or flagged
        status TEXT NOT NULL,
        reasoning TEXT NOT NULL, confidence REAL, samples INTEGER NOT NULL DEFAULT 1, agreement REAL NOT NULL DEFAULT 1.0, source TEXT NOT NULL DEFAULT 'live',
        PRIMARY KEY (call_id, memory_id),
        FOREIGN KEY (memory_id, digest) REFERENCES memory_version(memory_id, digest)
    );
INSERT INTO "judge_verdict" VALUES(1,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(1,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(1,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(1,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(2,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(2,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(2,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(2,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(3,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(3,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(3,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(3,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(4,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(4,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(4,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(4,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(5,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(5,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(5,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(5,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(6,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(6,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(6,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(6,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(7,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(7,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(7,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(7,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(8,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(8,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(8,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(8,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(9,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(9,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(9,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(9,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(10,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(10,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(10,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(10,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(11,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(11,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(11,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(11,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(12,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(12,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(12,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(12,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(13,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(13,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(13,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(13,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(14,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(14,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(14,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(14,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(15,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(15,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(15,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(15,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(16,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(16,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(16,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(16,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(17,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(17,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(17,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(17,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(18,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(18,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(18,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(18,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(19,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(19,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(19,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(19,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(20,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(20,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(20,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(20,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(21,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(21,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(21,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(21,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(22,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(22,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(22,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(22,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(23,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(23,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(23,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(23,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(24,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(24,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(24,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(24,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(25,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(25,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(25,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(25,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(26,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(26,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(26,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(26,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(27,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(27,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(27,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(27,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(28,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(28,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(28,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(28,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(29,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(29,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(29,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(29,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(30,'a','digest-of-a','approved','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(30,'b','digest-of-b','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(30,'c','digest-of-c','rejected','ok','because',NULL,1,1.0,'live');
INSERT INTO "judge_verdict" VALUES(30,'d','digest-of-d','rejected','ok','because',NULL,1,1.0,'live');
CREATE TABLE label_event (
        event_id INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE, -- 32 hex digits, the same in every store that the event was merged into
        ts TEXT NOT NULL,
        session TEXT NOT NULL, -- the sitting: one start of the app
        source TEXT NOT NULL, -- empty for a key press here, else the file and format it was imported from
        annotator TEXT NOT NULL,
        prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
        memory_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        action TEXT NOT NULL CHECK (action IN ('label', 'skip', 'retract', 'adjudicate')),
        verdict TEXT CHECK (verdict IN ('relevant', 'not', 'unsure', 'unrateable')),
        grade INTEGER CHECK (grade BETWEEN 0 AND 3),
        reason TEXT NOT NULL,
        note TEXT NOT NULL,
        blind INTEGER NOT NULL,
        repeat INTEGER NOT NULL, -- 1: shown again without saying so, to measure self-agreement; never current
        position INTEGER NOT NULL,
        seed INTEGER NOT NULL,
        elapsed_ms INTEGER NOT NULL,
        guideline TEXT NOT NULL,
        app_version TEXT NOT NULL,
        supersedes INTEGER REFERENCES label_event(event_id),
        CHECK ((action IN ('label', 'adjudicate')) = (verdict IS NOT NULL)),
        CHECK (action <> 'retract' OR supersedes IS NOT NULL),
        FOREIGN KEY (memory_id, digest) REFERENCES memory_version(memory_id, digest)
    );
INSERT INTO "label_event" VALUES(1,'00000000000000000000000000000001','2026-02-01T00:00:14.000+00:00','0000000000000000','','ann','random-0','b','digest-of-b','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(2,'00000000000000000000000000000002','2026-02-01T00:00:15.000+00:00','0000000000000000','','ann','random-0','d','digest-of-d','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(3,'00000000000000000000000000000003','2026-02-01T00:00:16.000+00:00','0000000000000000','','ann','random-0','a','digest-of-a','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(4,'00000000000000000000000000000004','2026-02-01T00:00:18.000+00:00','0000000000000000','','ann','random-1','b','digest-of-b','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(5,'00000000000000000000000000000005','2026-02-01T00:00:19.000+00:00','0000000000000000','','ann','random-1','a','digest-of-a','label','relevant',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(6,'00000000000000000000000000000006','2026-02-01T00:00:20.000+00:00','0000000000000000','','ann','random-1','d','digest-of-d','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(7,'00000000000000000000000000000007','2026-02-01T00:00:22.000+00:00','0000000000000000','','ann','random-2','a','digest-of-a','label','relevant',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(8,'00000000000000000000000000000008','2026-02-01T00:00:23.000+00:00','0000000000000000','','ann','random-2','b','digest-of-b','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(9,'00000000000000000000000000000009','2026-02-01T00:00:24.000+00:00','0000000000000000','','ann','random-2','c','digest-of-c','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(10,'0000000000000000000000000000000a','2026-02-01T00:00:26.000+00:00','0000000000000000','','ann','random-3','d','digest-of-d','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(11,'0000000000000000000000000000000b','2026-02-01T00:00:27.000+00:00','0000000000000000','','ann','random-3','a','digest-of-a','label','relevant',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(12,'0000000000000000000000000000000c','2026-02-01T00:00:28.000+00:00','0000000000000000','','ann','random-3','b','digest-of-b','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(13,'0000000000000000000000000000000d','2026-02-01T00:00:43.000+00:00','0000000000000000','','ann','stratified-0','d','digest-of-d','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(14,'0000000000000000000000000000000e','2026-02-01T00:00:44.000+00:00','0000000000000000','','ann','stratified-0','a','digest-of-a','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(15,'0000000000000000000000000000000f','2026-02-01T00:00:45.000+00:00','0000000000000000','','ann','stratified-0','b','digest-of-b','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(16,'00000000000000000000000000000010','2026-02-01T00:00:47.000+00:00','0000000000000000','','ann','stratified-1','a','digest-of-a','label','relevant',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(17,'00000000000000000000000000000011','2026-02-01T00:00:48.000+00:00','0000000000000000','','ann','stratified-1','b','digest-of-b','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(18,'00000000000000000000000000000012','2026-02-01T00:00:49.000+00:00','0000000000000000','','ann','stratified-1','d','digest-of-d','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(19,'00000000000000000000000000000013','2026-02-01T00:00:51.000+00:00','0000000000000000','','ann','stratified-2','b','digest-of-b','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(20,'00000000000000000000000000000014','2026-02-01T00:00:52.000+00:00','0000000000000000','','ann','stratified-2','a','digest-of-a','label','relevant',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(21,'00000000000000000000000000000015','2026-02-01T00:00:53.000+00:00','0000000000000000','','ann','stratified-2','d','digest-of-d','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(22,'00000000000000000000000000000016','2026-02-01T00:00:55.000+00:00','0000000000000000','','ann','stratified-3','a','digest-of-a','label','relevant',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(23,'00000000000000000000000000000017','2026-02-01T00:00:56.000+00:00','0000000000000000','','ann','stratified-3','c','digest-of-c','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(24,'00000000000000000000000000000018','2026-02-01T00:00:57.000+00:00','0000000000000000','','ann','stratified-3','b','digest-of-b','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(25,'00000000000000000000000000000019','2026-02-01T00:01:12.000+00:00','0000000000000000','','ann','disagreement-0','b','digest-of-b','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(26,'0000000000000000000000000000001a','2026-02-01T00:01:13.000+00:00','0000000000000000','','ann','disagreement-0','a','digest-of-a','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(27,'0000000000000000000000000000001b','2026-02-01T00:01:14.000+00:00','0000000000000000','','ann','disagreement-0','c','digest-of-c','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(28,'0000000000000000000000000000001c','2026-02-01T00:01:16.000+00:00','0000000000000000','','ann','disagreement-1','b','digest-of-b','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(29,'0000000000000000000000000000001d','2026-02-01T00:01:17.000+00:00','0000000000000000','','ann','disagreement-1','a','digest-of-a','label','relevant',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(30,'0000000000000000000000000000001e','2026-02-01T00:01:18.000+00:00','0000000000000000','','ann','disagreement-1','c','digest-of-c','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(31,'0000000000000000000000000000001f','2026-02-01T00:01:20.000+00:00','0000000000000000','','ann','disagreement-2','b','digest-of-b','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(32,'00000000000000000000000000000020','2026-02-01T00:01:21.000+00:00','0000000000000000','','ann','disagreement-2','d','digest-of-d','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(33,'00000000000000000000000000000021','2026-02-01T00:01:22.000+00:00','0000000000000000','','ann','disagreement-2','a','digest-of-a','label','relevant',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(34,'00000000000000000000000000000022','2026-02-01T00:01:24.000+00:00','0000000000000000','','ann','disagreement-3','a','digest-of-a','label','relevant',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(35,'00000000000000000000000000000023','2026-02-01T00:01:25.000+00:00','0000000000000000','','ann','disagreement-3','b','digest-of-b','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(36,'00000000000000000000000000000024','2026-02-01T00:01:26.000+00:00','0000000000000000','','ann','disagreement-3','c','digest-of-c','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(37,'00000000000000000000000000000025','2026-02-01T00:01:41.000+00:00','0000000000000000','','ann','uncertain-0','a','digest-of-a','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(38,'00000000000000000000000000000026','2026-02-01T00:01:42.000+00:00','0000000000000000','','ann','uncertain-0','c','digest-of-c','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(39,'00000000000000000000000000000027','2026-02-01T00:01:43.000+00:00','0000000000000000','','ann','uncertain-0','b','digest-of-b','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(40,'00000000000000000000000000000028','2026-02-01T00:01:45.000+00:00','0000000000000000','','ann','uncertain-1','b','digest-of-b','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(41,'00000000000000000000000000000029','2026-02-01T00:01:46.000+00:00','0000000000000000','','ann','uncertain-1','c','digest-of-c','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(42,'0000000000000000000000000000002a','2026-02-01T00:01:47.000+00:00','0000000000000000','','ann','uncertain-1','a','digest-of-a','label','relevant',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(43,'0000000000000000000000000000002b','2026-02-01T00:01:49.000+00:00','0000000000000000','','ann','uncertain-2','d','digest-of-d','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(44,'0000000000000000000000000000002c','2026-02-01T00:01:50.000+00:00','0000000000000000','','ann','uncertain-2','a','digest-of-a','label','relevant',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(45,'0000000000000000000000000000002d','2026-02-01T00:01:51.000+00:00','0000000000000000','','ann','uncertain-2','b','digest-of-b','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(46,'0000000000000000000000000000002e','2026-02-01T00:01:53.000+00:00','0000000000000000','','ann','uncertain-3','b','digest-of-b','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(47,'0000000000000000000000000000002f','2026-02-01T00:01:54.000+00:00','0000000000000000','','ann','uncertain-3','a','digest-of-a','label','relevant',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(48,'00000000000000000000000000000030','2026-02-01T00:01:55.000+00:00','0000000000000000','','ann','uncertain-3','d','digest-of-d','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(49,'00000000000000000000000000000031','2026-02-01T00:02:10.000+00:00','0000000000000000','','ann','later-random-0','a','digest-of-a','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(50,'00000000000000000000000000000032','2026-02-01T00:02:11.000+00:00','0000000000000000','','ann','later-random-0','b','digest-of-b','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(51,'00000000000000000000000000000033','2026-02-01T00:02:12.000+00:00','0000000000000000','','ann','later-random-0','d','digest-of-d','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(52,'00000000000000000000000000000034','2026-02-01T00:02:14.000+00:00','0000000000000000','','ann','later-random-1','b','digest-of-b','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(53,'00000000000000000000000000000035','2026-02-01T00:02:15.000+00:00','0000000000000000','','ann','later-random-1','c','digest-of-c','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(54,'00000000000000000000000000000036','2026-02-01T00:02:16.000+00:00','0000000000000000','','ann','later-random-1','a','digest-of-a','label','relevant',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(55,'00000000000000000000000000000037','2026-02-01T00:02:18.000+00:00','0000000000000000','','ann','later-random-2','c','digest-of-c','label','not',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(56,'00000000000000000000000000000038','2026-02-01T00:02:19.000+00:00','0000000000000000','','ann','later-random-2','a','digest-of-a','label','relevant',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(57,'00000000000000000000000000000039','2026-02-01T00:02:20.000+00:00','0000000000000000','','ann','later-random-2','b','digest-of-b','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(58,'0000000000000000000000000000003a','2026-02-01T00:02:22.000+00:00','0000000000000000','','ann','later-random-3','a','digest-of-a','label','relevant',NULL,'','',1,0,1,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(59,'0000000000000000000000000000003b','2026-02-01T00:02:23.000+00:00','0000000000000000','','ann','later-random-3','d','digest-of-d','label','not',NULL,'','',1,0,2,1,900,'','1.0.0',NULL);
INSERT INTO "label_event" VALUES(60,'0000000000000000000000000000003c','2026-02-01T00:02:24.000+00:00','0000000000000000','','ann','later-random-3','b','digest-of-b','label','not',NULL,'','',1,0,3,1,900,'','1.0.0',NULL);
CREATE TABLE memory_version (
        memory_id TEXT NOT NULL,
        digest TEXT NOT NULL, -- SHA-256 of category, title, tags and body
        category TEXT NOT NULL,
        title TEXT NOT NULL,
        tags TEXT NOT NULL, -- JSON array
        body TEXT, -- NULL until a retrieval that knew the body was recorded
        path TEXT NOT NULL,
        PRIMARY KEY (memory_id, digest)
    );
INSERT INTO "memory_version" VALUES('a','digest-of-a','decision','Title of a','["auth", "tokens"]','Body of a','decisions/a.json');
INSERT INTO "memory_version" VALUES('b','digest-of-b','decision','Title of b','["auth", "tokens"]','Body of b','decisions/b.json');
INSERT INTO "memory_version" VALUES('c','digest-of-c','decision','Title of c','["auth", "tokens"]','Body of c','decisions/c.json');
INSERT INTO "memory_version" VALUES('d','digest-of-d','decision','Title of d','["auth", "tokens"]','Body of d','decisions/d.json');
CREATE TABLE plan (
        root TEXT NOT NULL,
        prompt_id TEXT NOT NULL,
        annotator TEXT NOT NULL,
        order_name TEXT NOT NULL,
        seed INTEGER NOT NULL,
        stratum TEXT NOT NULL, -- in which the prompt stood when the order in which it was offered was made
        ts TEXT NOT NULL,
        PRIMARY KEY (root, prompt_id, annotator)
    );
INSERT INTO "plan" VALUES('/random','random-0','ann','random',1,'all','2026-02-01T00:00:12.000+00:00');
INSERT INTO "plan" VALUES('/random','random-1','ann','random',1,'all','2026-02-01T00:00:12.000+00:00');
INSERT INTO "plan" VALUES('/random','random-2','ann','random',1,'all','2026-02-01T00:00:12.000+00:00');
INSERT INTO "plan" VALUES('/random','random-3','ann','random',1,'all','2026-02-01T00:00:12.000+00:00');
INSERT INTO "plan" VALUES('/random','random-4','ann','random',1,'all','2026-02-01T00:00:12.000+00:00');
INSERT INTO "plan" VALUES('/random','random-5','ann','random',1,'all','2026-02-01T00:00:12.000+00:00');
INSERT INTO "plan" VALUES('/stratified','stratified-0','ann','stratified',1,'systems agree','2026-02-01T00:00:41.000+00:00');
INSERT INTO "plan" VALUES('/stratified','stratified-1','ann','stratified',1,'systems differ','2026-02-01T00:00:41.000+00:00');
INSERT INTO "plan" VALUES('/stratified','stratified-2','ann','stratified',1,'systems agree','2026-02-01T00:00:41.000+00:00');
INSERT INTO "plan" VALUES('/stratified','stratified-3','ann','stratified',1,'systems differ','2026-02-01T00:00:41.000+00:00');
INSERT INTO "plan" VALUES('/stratified','stratified-4','ann','stratified',1,'systems agree','2026-02-01T00:00:41.000+00:00');
INSERT INTO "plan" VALUES('/stratified','stratified-5','ann','stratified',1,'systems differ','2026-02-01T00:00:41.000+00:00');
INSERT INTO "plan" VALUES('/disagreement','disagreement-0','ann','disagreement-first',1,'systems agree','2026-02-01T00:01:10.000+00:00');
INSERT INTO "plan" VALUES('/disagreement','disagreement-1','ann','disagreement-first',1,'systems differ','2026-02-01T00:01:10.000+00:00');
INSERT INTO "plan" VALUES('/disagreement','disagreement-2','ann','disagreement-first',1,'systems agree','2026-02-01T00:01:10.000+00:00');
INSERT INTO "plan" VALUES('/disagreement','disagreement-3','ann','disagreement-first',1,'systems differ','2026-02-01T00:01:10.000+00:00');
INSERT INTO "plan" VALUES('/disagreement','disagreement-4','ann','disagreement-first',1,'systems agree','2026-02-01T00:01:10.000+00:00');
INSERT INTO "plan" VALUES('/disagreement','disagreement-5','ann','disagreement-first',1,'systems differ','2026-02-01T00:01:10.000+00:00');
INSERT INTO "plan" VALUES('/uncertain','uncertain-0','ann','uncertain-first',1,'far from the cutoff','2026-02-01T00:01:39.000+00:00');
INSERT INTO "plan" VALUES('/uncertain','uncertain-1','ann','uncertain-first',1,'near the cutoff','2026-02-01T00:01:39.000+00:00');
INSERT INTO "plan" VALUES('/uncertain','uncertain-2','ann','uncertain-first',1,'far from the cutoff','2026-02-01T00:01:39.000+00:00');
INSERT INTO "plan" VALUES('/uncertain','uncertain-3','ann','uncertain-first',1,'near the cutoff','2026-02-01T00:01:39.000+00:00');
INSERT INTO "plan" VALUES('/uncertain','uncertain-4','ann','uncertain-first',1,'far from the cutoff','2026-02-01T00:01:39.000+00:00');
INSERT INTO "plan" VALUES('/uncertain','uncertain-5','ann','uncertain-first',1,'near the cutoff','2026-02-01T00:01:39.000+00:00');
INSERT INTO "plan" VALUES('/later-random','later-random-0','ann','random',1,'far from the cutoff','2026-02-01T00:02:08.000+00:00');
INSERT INTO "plan" VALUES('/later-random','later-random-1','ann','random',1,'near the cutoff','2026-02-01T00:02:08.000+00:00');
INSERT INTO "plan" VALUES('/later-random','later-random-2','ann','random',1,'far from the cutoff','2026-02-01T00:02:08.000+00:00');
INSERT INTO "plan" VALUES('/later-random','later-random-3','ann','random',1,'near the cutoff','2026-02-01T00:02:08.000+00:00');
INSERT INTO "plan" VALUES('/later-random','later-random-4','ann','random',1,'far from the cutoff','2026-02-01T00:02:08.000+00:00');
INSERT INTO "plan" VALUES('/later-random','later-random-5','ann','random',1,'near the cutoff','2026-02-01T00:02:08.000+00:00');
CREATE TABLE prompt (
        prompt_id TEXT PRIMARY KEY,
        text TEXT NOT NULL,
        context_json TEXT NOT NULL, -- the turns before it, [{"role", "text"}], oldest first
        kind TEXT NOT NULL,
        source TEXT NOT NULL,
        session_id TEXT NOT NULL,
        cwd TEXT NOT NULL,
        ts TEXT NOT NULL -- when it was typed, as its source says, or empty
    );
INSERT INTO "prompt" VALUES('random-0','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('random-1','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('random-2','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('random-3','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('random-4','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('random-5','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('stratified-0','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('stratified-1','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('stratified-2','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('stratified-3','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('stratified-4','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('stratified-5','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('disagreement-0','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('disagreement-1','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('disagreement-2','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('disagreement-3','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('disagreement-4','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('disagreement-5','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('uncertain-0','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('uncertain-1','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('uncertain-2','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('uncertain-3','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('uncertain-4','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('uncertain-5','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('later-random-0','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('later-random-1','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('later-random-2','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('later-random-3','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('later-random-4','how do tokens expire?','[]','','','','','');
INSERT INTO "prompt" VALUES('later-random-5','how do tokens expire?','[]','','','','','');
CREATE TABLE result (
        run_id TEXT NOT NULL REFERENCES run(run_id),
        prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
        memory_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        rank INTEGER NOT NULL,
        bm25 REAL NOT NULL,
        body_bonus INTEGER NOT NULL,
        score REAL NOT NULL,
        confidence TEXT NOT NULL,
        injected INTEGER NOT NULL,
        dropped_by TEXT, probability REAL, matched TEXT NOT NULL DEFAULT '[]',
        PRIMARY KEY (run_id, prompt_id, memory_id),
        FOREIGN KEY (memory_id, digest) REFERENCES memory_version(memory_id, digest)
    );
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-0','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-0','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-0','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-0','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-1','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-1','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-1','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-1','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-2','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-2','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-2','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-2','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-3','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-3','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-3','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-3','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-4','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-4','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-4','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-4','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('d0022978aa5b28e2','random-5','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-5','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-5','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('9b4046ab228be36c','random-5','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-0','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-0','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-0','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-0','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-1','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-1','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-1','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-1','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-2','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-2','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-2','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-2','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-3','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-3','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-3','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-3','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-4','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-4','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-4','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-4','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('e2f0a8f10bdc6d25','stratified-5','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-5','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-5','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('57ac7817e38e1db3','stratified-5','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-0','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-0','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-0','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-0','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-1','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-1','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-1','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-1','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-2','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-2','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-2','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-2','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-3','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-3','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-3','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-3','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-4','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-4','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-4','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-4','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('90c09116bd5eb06e','disagreement-5','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-5','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-5','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('3e37465854c66065','disagreement-5','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-0','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-0','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-0','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-0','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-1','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-1','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-1','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-1','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-2','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-2','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-2','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-2','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-3','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-3','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-3','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-3','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-4','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-4','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-4','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-4','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('22f634ac214ce01a','uncertain-5','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-5','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-5','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('82f86217543112a3','uncertain-5','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-0','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-0','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-0','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-0','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-0','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-1','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-1','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-1','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-1','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-1','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-2','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-2','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-2','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-2','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-2','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-3','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-3','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-3','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-3','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-3','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-4','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-4','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-4','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-4','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-4','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('576c31059026ac47','later-random-5','b','digest-of-b',2,-8.0,0,-8.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-5','a','digest-of-a',1,-9.0,0,-9.0,'high',1,NULL,NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-5','b','digest-of-b',2,-8.0,0,-8.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-5','c','digest-of-c',3,-7.0,0,-7.0,'high',0,'judge',NULL,'["tokens"]');
INSERT INTO "result" VALUES('db5b0a7e3303ea9b','later-random-5','d','digest-of-d',4,-6.0,0,-6.0,'high',0,'judge',NULL,'["tokens"]');
CREATE TABLE retrieval (
        retrieval_id INTEGER PRIMARY KEY, -- rises: of two for one prompt and system the higher is the newer
        run_id TEXT NOT NULL REFERENCES run(run_id),
        prompt_id TEXT NOT NULL REFERENCES prompt(prompt_id),
        ts TEXT NOT NULL,
        fallback TEXT NOT NULL, -- the judge's error status, or empty
        elapsed_ms REAL NOT NULL,
        UNIQUE (run_id, prompt_id)
    );
INSERT INTO "retrieval" VALUES(1,'d0022978aa5b28e2','random-0','2026-02-01T00:00:00.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(2,'9b4046ab228be36c','random-0','2026-02-01T00:00:01.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(3,'d0022978aa5b28e2','random-1','2026-02-01T00:00:02.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(4,'9b4046ab228be36c','random-1','2026-02-01T00:00:03.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(5,'d0022978aa5b28e2','random-2','2026-02-01T00:00:04.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(6,'9b4046ab228be36c','random-2','2026-02-01T00:00:05.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(7,'d0022978aa5b28e2','random-3','2026-02-01T00:00:06.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(8,'9b4046ab228be36c','random-3','2026-02-01T00:00:07.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(9,'d0022978aa5b28e2','random-4','2026-02-01T00:00:08.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(10,'9b4046ab228be36c','random-4','2026-02-01T00:00:09.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(11,'d0022978aa5b28e2','random-5','2026-02-01T00:00:10.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(12,'9b4046ab228be36c','random-5','2026-02-01T00:00:11.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(13,'e2f0a8f10bdc6d25','stratified-0','2026-02-01T00:00:29.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(14,'57ac7817e38e1db3','stratified-0','2026-02-01T00:00:30.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(15,'e2f0a8f10bdc6d25','stratified-1','2026-02-01T00:00:31.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(16,'57ac7817e38e1db3','stratified-1','2026-02-01T00:00:32.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(17,'e2f0a8f10bdc6d25','stratified-2','2026-02-01T00:00:33.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(18,'57ac7817e38e1db3','stratified-2','2026-02-01T00:00:34.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(19,'e2f0a8f10bdc6d25','stratified-3','2026-02-01T00:00:35.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(20,'57ac7817e38e1db3','stratified-3','2026-02-01T00:00:36.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(21,'e2f0a8f10bdc6d25','stratified-4','2026-02-01T00:00:37.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(22,'57ac7817e38e1db3','stratified-4','2026-02-01T00:00:38.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(23,'e2f0a8f10bdc6d25','stratified-5','2026-02-01T00:00:39.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(24,'57ac7817e38e1db3','stratified-5','2026-02-01T00:00:40.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(25,'90c09116bd5eb06e','disagreement-0','2026-02-01T00:00:58.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(26,'3e37465854c66065','disagreement-0','2026-02-01T00:00:59.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(27,'90c09116bd5eb06e','disagreement-1','2026-02-01T00:01:00.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(28,'3e37465854c66065','disagreement-1','2026-02-01T00:01:01.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(29,'90c09116bd5eb06e','disagreement-2','2026-02-01T00:01:02.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(30,'3e37465854c66065','disagreement-2','2026-02-01T00:01:03.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(31,'90c09116bd5eb06e','disagreement-3','2026-02-01T00:01:04.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(32,'3e37465854c66065','disagreement-3','2026-02-01T00:01:05.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(33,'90c09116bd5eb06e','disagreement-4','2026-02-01T00:01:06.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(34,'3e37465854c66065','disagreement-4','2026-02-01T00:01:07.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(35,'90c09116bd5eb06e','disagreement-5','2026-02-01T00:01:08.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(36,'3e37465854c66065','disagreement-5','2026-02-01T00:01:09.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(37,'22f634ac214ce01a','uncertain-0','2026-02-01T00:01:27.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(38,'82f86217543112a3','uncertain-0','2026-02-01T00:01:28.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(39,'22f634ac214ce01a','uncertain-1','2026-02-01T00:01:29.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(40,'82f86217543112a3','uncertain-1','2026-02-01T00:01:30.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(41,'22f634ac214ce01a','uncertain-2','2026-02-01T00:01:31.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(42,'82f86217543112a3','uncertain-2','2026-02-01T00:01:32.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(43,'22f634ac214ce01a','uncertain-3','2026-02-01T00:01:33.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(44,'82f86217543112a3','uncertain-3','2026-02-01T00:01:34.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(45,'22f634ac214ce01a','uncertain-4','2026-02-01T00:01:35.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(46,'82f86217543112a3','uncertain-4','2026-02-01T00:01:36.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(47,'22f634ac214ce01a','uncertain-5','2026-02-01T00:01:37.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(48,'82f86217543112a3','uncertain-5','2026-02-01T00:01:38.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(49,'576c31059026ac47','later-random-0','2026-02-01T00:01:56.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(50,'db5b0a7e3303ea9b','later-random-0','2026-02-01T00:01:57.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(51,'576c31059026ac47','later-random-1','2026-02-01T00:01:58.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(52,'db5b0a7e3303ea9b','later-random-1','2026-02-01T00:01:59.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(53,'576c31059026ac47','later-random-2','2026-02-01T00:02:00.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(54,'db5b0a7e3303ea9b','later-random-2','2026-02-01T00:02:01.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(55,'576c31059026ac47','later-random-3','2026-02-01T00:02:02.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(56,'db5b0a7e3303ea9b','later-random-3','2026-02-01T00:02:03.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(57,'576c31059026ac47','later-random-4','2026-02-01T00:02:04.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(58,'db5b0a7e3303ea9b','later-random-4','2026-02-01T00:02:05.000+00:00','',211.5);
INSERT INTO "retrieval" VALUES(59,'576c31059026ac47','later-random-5','2026-02-01T00:02:06.000+00:00','',1.5);
INSERT INTO "retrieval" VALUES(60,'db5b0a7e3303ea9b','later-random-5','2026-02-01T00:02:07.000+00:00','',211.5);
CREATE TABLE run (
        run_id TEXT PRIMARY KEY,
        root TEXT NOT NULL,
        system TEXT NOT NULL,
        config_json TEXT NOT NULL,
        config_hash TEXT NOT NULL,
        corpus_hash TEXT NOT NULL,
        engine_version TEXT NOT NULL,
        sqlite_version TEXT NOT NULL,
        ts TEXT NOT NULL
    );
INSERT INTO "run" VALUES('d0022978aa5b28e2','/random','bm25','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:00:00.000+00:00');
INSERT INTO "run" VALUES('9b4046ab228be36c','/random','bm25+judge','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:00:01.000+00:00');
INSERT INTO "run" VALUES('e2f0a8f10bdc6d25','/stratified','bm25','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:00:29.000+00:00');
INSERT INTO "run" VALUES('57ac7817e38e1db3','/stratified','bm25+judge','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:00:30.000+00:00');
INSERT INTO "run" VALUES('90c09116bd5eb06e','/disagreement','bm25','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:00:58.000+00:00');
INSERT INTO "run" VALUES('3e37465854c66065','/disagreement','bm25+judge','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:00:59.000+00:00');
INSERT INTO "run" VALUES('22f634ac214ce01a','/uncertain','bm25','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:01:27.000+00:00');
INSERT INTO "run" VALUES('82f86217543112a3','/uncertain','bm25+judge','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:01:28.000+00:00');
INSERT INTO "run" VALUES('576c31059026ac47','/later-random','bm25','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:01:56.000+00:00');
INSERT INTO "run" VALUES('db5b0a7e3303ea9b','/later-random','bm25+judge','{}','44136fa355b3678a','c1','1.0.0','3.40.1','2026-02-01T00:01:57.000+00:00');
CREATE TABLE sighting (
        annotator TEXT NOT NULL,
        prompt_id TEXT NOT NULL,
        ts TEXT NOT NULL, -- when ranks and verdicts came into view
        PRIMARY KEY (annotator, prompt_id, ts)
    );
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX label_event_by_pair ON label_event (annotator, prompt_id, memory_id, digest);
CREATE INDEX label_event_by_annotator ON label_event (annotator);
CREATE INDEX label_event_by_prompt ON label_event (prompt_id);
CREATE INDEX label_event_settled ON label_event (prompt_id, memory_id, digest) WHERE action = 'adjudicate';
CREATE TRIGGER label_event_is_never_deleted BEFORE DELETE ON label_event
    BEGIN SELECT RAISE(ABORT, 'label events are never deleted: append a retraction'); END;
CREATE VIEW label_standing AS
    SELECT * FROM label_event AS event
    WHERE action <> 'retract' AND NOT EXISTS (
        SELECT 1 FROM label_event AS retraction
        WHERE retraction.action = 'retract' AND retraction.supersedes = event.event_id
    );
CREATE INDEX result_by_memory ON result (prompt_id, memory_id);
CREATE INDEX label_event_retracted ON label_event (supersedes) WHERE action = 'retract';
CREATE TRIGGER label_event_is_never_replaced BEFORE INSERT ON label_event
    WHEN EXISTS (SELECT 1 FROM label_event WHERE event_id = NEW.event_id)
      OR EXISTS (SELECT 1 FROM label_event WHERE uid = NEW.uid)
    BEGIN SELECT RAISE(ABORT, 'label events are never replaced: append a new one'); END;
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
CREATE TRIGGER sighting_is_never_updated BEFORE UPDATE ON sighting
    BEGIN SELECT RAISE(ABORT, 'what was seen is never changed'); END;
CREATE TRIGGER sighting_is_never_deleted BEFORE DELETE ON sighting
    BEGIN SELECT RAISE(ABORT, 'what was seen cannot be unseen'); END;
CREATE INDEX result_injected ON result (run_id, prompt_id) WHERE injected;
CREATE TRIGGER label_event_is_never_updated BEFORE UPDATE ON label_event
    BEGIN SELECT RAISE(ABORT, 'label events are never changed: append a new one'); END;
COMMIT;
