-- Links to block explorers, what searches need, and verifications of the ledger in the background.

-- Templates of links with {hash} or {address}; null: no links.
alter table networks add column explorer_tx_url text;
alter table networks add column explorer_address_url text;

-- The beginning of an on-chain address (GET /search), whatever the collation of the database.
create index addresses_key_prefix on addresses (vault_id, address_key text_pattern_ops);
create index counterparty_addresses_key_prefix on counterparty_addresses (vault_id, address_key text_pattern_ops);

create table ledger_verifications (
  vault_id text not null references vaults (id),
  id text not null,
  requester_id text not null references users (id),
  state text not null check (state in ('queued', 'running', 'done', 'failed')),
  -- Counts the takings; what an earlier one still writes no longer counts.
  attempt integer not null default 0,
  -- Whoever took it is thought dead after that.
  leased_until timestamptz(3),
  failure text,
  -- [{check, message}]; a ledger without differences has an empty one.
  findings jsonb,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  primary key (vault_id, id),
  check ((state = 'running') = (leased_until is not null)),
  check ((state = 'failed') = (failure is not null)),
  check ((state = 'done') = (findings is not null))
);
-- A vault has one at a time that is not finished.
create unique index ledger_verifications_open on ledger_verifications (vault_id) where state in ('queued', 'running');
create index ledger_verifications_age on ledger_verifications (created_at);
