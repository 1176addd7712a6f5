-- Folders that hold the same memories: a clone, a worktree, or a folder before it was moved.

CREATE TABLE same_memories (
    root TEXT NOT NULL,
    other TEXT NOT NULL, -- the runs over it count for the root, too
    ts TEXT NOT NULL,
    PRIMARY KEY (root, other)
);
