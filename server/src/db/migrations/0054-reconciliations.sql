-- Every vault is compared with the chain again and again, address by address.

create table reconciliations (
  vault_id text primary key references vaults (id),
  next_at timestamptz(3) not null,
  -- Nobody takes it before: a node works on it, or the wallet service was silent.
  leased_until timestamptz(3),
  -- Counts the takings; what an earlier one still writes no longer counts.
  attempt integer not null default 0,
  -- Where it goes on; null: at the beginning.
  after_address_id text,
  after_token_id text,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  check ((after_address_id is null) = (after_token_id is null))
);
create index reconciliations_due on reconciliations (next_at);

-- What differed when it was last looked at.
create table reconciliation_differences (
  vault_id text not null,
  address_id text not null,
  token_id text not null references tokens (id),
  -- What the chain has more (or, below zero, less) than the books explain.
  difference numeric(79, 0) not null check (difference <> 0),
  -- How much of it the administrators were told; 0: nothing, because it may pass.
  announced numeric(79, 0) not null default 0,
  first_seen_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  primary key (vault_id, address_id, token_id),
  foreign key (vault_id, address_id) references addresses (vault_id, id)
);
create index reconciliation_differences_announced on reconciliation_differences (first_seen_at) where announced <> 0;

create index transfers_in_flight on transfers (vault_id)
  where phase in ('submitting', 'submitted', 'broadcast', 'halted');
