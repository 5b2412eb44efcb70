-- A hold on a person ends by itself unless a second person confirms it. Holds from before have no end.
alter table holds
  add column ends_at timestamptz(3),
  add column confirmed_by_id text references users (id),
  add column confirmed_at timestamptz(3),
  -- The hold of the same moment that also suspends the one who placed it.
  add column because_of_id text,
  add constraint holds_of_people check (ends_at is null or (subject_type = 'user' and origin = 'people')),
  add constraint holds_confirmed check ((confirmed_at is null) = (confirmed_by_id is null)),
  add constraint holds_by_two check (confirmed_by_id is null or confirmed_by_id <> placed_by_id);
create index holds_due on holds (ends_at) where released_at is null and confirmed_at is null and ends_at is not null;
create index holds_because on holds (vault_id, because_of_id) where because_of_id is not null and released_at is null;
