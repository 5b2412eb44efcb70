-- Every deposit that was reported, with the block that has it: the chain may take that back, and bring it again.
create table wallet.deposits (
  event_key    text primary key,
  network      text not null,
  block_number bigint not null,
  block_hash   text not null,
  -- In the smallest unit of the token.
  amount       numeric(78,0) not null check (amount > 0),
  -- What the events about it say of the transaction, without what changes from one to the next.
  tx           jsonb not null,
  -- How often it came back after it had been reported as orphaned.
  occurrence   integer not null default 0 check (occurrence >= 0),
  orphaned_at  timestamptz(3),
  -- Until the watcher has read as many blocks above it as the setting says.
  is_watched   boolean not null default true,
  -- The chain went back, or has another block in this place: the transaction must be looked up.
  is_doubtful  boolean not null default false,
  created_at   timestamptz(3) not null default now(),
  check (orphaned_at is null or not is_doubtful)
);
create index deposits_in_chain on wallet.deposits (network, block_number) where is_watched and orphaned_at is null;
create index deposits_doubtful on wallet.deposits (network, block_number) where is_doubtful;
