-- The tables of decisions about memories: those of a person, and the newest rating of each text by a model.

-- [decision]
create table if not exists decision(
    root text, memory text, "check" text, digest text, verdict text, at text,
    primary key (root, memory, "check")) without rowid

-- [rating]
create table if not exists rating(
    root text not null, memory text not null, digest text not null, rubric text not null, category text not null,
    title text not null, words integer not null, decision text not null, overall real not null, answer text not null,
    provider text not null, model text not null, template_hash text not null, at text not null,
    primary key (root, memory, digest, rubric)) without rowid
