BEGIN TRANSACTION;
CREATE TABLE decision(
    root text, memory text, "check" text, digest text, verdict text, at text,
    primary key (root, memory, "check")) without rowid;
INSERT INTO "decision" VALUES('{root}','wrapped','quality','6d063c84e0666b72e7339cdbb385bba664f7af31d804bdee0b1f7420a6e523b3','accepted','2026-11-29T00:02:08Z');
INSERT INTO "decision" VALUES('{root}','wrapped','safety','6d063c84e0666b72e7339cdbb385bba664f7af31d804bdee0b1f7420a6e523b3','accepted','2026-11-29T00:02:08Z');
COMMIT;