-- A stop that its directory took back counts for its brake for an hour: otherwise a directory could stop everybody in turn.
alter table directory_stops add column ended_at timestamptz(3);
