-- What one platform administrator asks for and another one confirms, because a vault with governance depends on it.

create table platform_changes (
  id text primary key,
  action text not null check (action in ('token_update', 'user_enable')),
  -- The token or the user.
  target_id text not null,
  payload jsonb not null,
  status text not null check (status in ('held', 'confirmed', 'rejected')),
  created_by_id text not null references users (id),
  created_at timestamptz(3) not null,
  decided_by_id text references users (id),
  decided_at timestamptz(3),
  check ((status = 'held') = (decided_at is null)),
  check (status <> 'confirmed' or (decided_by_id is not null and decided_by_id <> created_by_id))
);
create index platform_changes_feed on platform_changes (created_at desc, id desc);
create unique index platform_changes_open on platform_changes (action, target_id) where status = 'held';
