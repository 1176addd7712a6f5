-- The tables of the journal.
create table if not exists operation(
    number integer primary key autoincrement, at text not null, kind text not null, summary text not null,
    memories text not null, roots text not null, state text not null, undoes integer,
    size integer not null, document text not null);
create table if not exists tombstone(
    hash text primary key, memory text not null, title text not null, reason text not null, at text not null);
