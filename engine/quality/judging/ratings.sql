-- The store of ratings: its table, and the newest ratings of a root by a rubric.

-- [table]
create table if not exists rating(
    root text not null, memory text not null, digest text not null, rubric text not null, category text not null,
    title text not null, words integer not null, decision text not null, overall real not null, answer text not null,
    provider text not null, model text not null, template_hash text not null, at text not null,
    primary key (root, memory, digest, rubric)) without rowid

-- [newest]
select memory, digest, category, title, words, decision, overall, provider, model from rating
where root = :root and rubric = :rubric and (provider, model, template_hash) = (
    select provider, model, template_hash from rating
    where root = :root and rubric = :rubric and provider <> :rule order by at desc limit 1)
order by memory
