-- The books. Hot tables carry no foreign key to rows that all writes of a vault share (the vaults row, say): the check
-- of such a key locks the shared row. `strongroom ledger verify` is the witness for those references.

create table ledger_accounts (
  vault_id text not null,
  id text not null,
  -- The compact name by which entries refer to this account.
  number bigint generated always as identity,
  token_id text not null,
  -- '' for the vault-level accounts (external, adjustment).
  address_id text not null default '',
  purpose text not null check (purpose in ('available', 'reserved', 'external', 'adjustment')),
  -- Cached sum of the account's entries; vault-level accounts keep none, so that no deposit updates a shared row.
  balance numeric(78, 0),
  created_at timestamptz(3) not null,
  primary key (vault_id, id),
  unique (vault_id, address_id, token_id, purpose),
  unique (vault_id, token_id, number),
  check ((purpose in ('external', 'adjustment')) = (address_id = '')),
  check ((address_id = '') = (balance is null)),
  constraint ledger_accounts_balance_not_negative check (balance >= 0)
) with (fillfactor = 50);

-- One row moves `amount` of one token from the debit account to the credit account: it cannot fail to sum to zero.
-- A null side is the vault-level account of the same token (external, or adjustment for kind 'adjust').
create table ledger_entries (
  vault_id text not null,
  sequence bigint generated always as identity,
  kind text not null check (kind in ('deposit', 'reserve', 'settle', 'release', 'fee', 'adjust')),
  token_id text not null,
  operation_id text not null,
  debit_account bigint,
  credit_account bigint,
  amount numeric(78, 0) not null check (amount > 0),
  -- Running balances of the two accounts after this entry.
  debit_balance numeric(78, 0) check (debit_balance >= 0),
  credit_balance numeric(78, 0) check (credit_balance >= 0),
  created_at timestamptz(3) not null,
  primary key (vault_id, sequence),
  -- The token is part of both keys: no entry can move one token out and another in.
  foreign key (vault_id, token_id, debit_account) references ledger_accounts (vault_id, token_id, number),
  foreign key (vault_id, token_id, credit_account) references ledger_accounts (vault_id, token_id, number),
  constraint ledger_entries_two_sides check (debit_account <> credit_account),
  constraint ledger_entries_sides_of_kind check (
    case kind
      when 'deposit' then debit_account is null and credit_account is not null
      when 'settle' then debit_account is not null and credit_account is null
      when 'fee' then debit_account is not null and credit_account is null
      when 'adjust' then (debit_account is null) <> (credit_account is null)
      else debit_account is not null and credit_account is not null
    end
  ),
  constraint ledger_entries_running_balances check (
    (debit_account is null) = (debit_balance is null) and (credit_account is null) = (credit_balance is null)
  )
);
create index ledger_entries_debit on ledger_entries (debit_account, sequence) where debit_account is not null;
create index ledger_entries_credit on ledger_entries (credit_account, sequence) where credit_account is not null;
-- Every effect happens once: an operation has at most one entry of a kind.
create unique index ledger_entries_once on ledger_entries (vault_id, operation_id, kind);

-- Few by nature, made by hand: the balance of an adjustment account is the sum of these.
create table adjustments (
  vault_id text not null,
  id text not null,
  address_id text not null,
  token_id text not null,
  amount numeric(78, 0) not null check (amount <> 0),
  reason text not null,
  created_by_id text not null,
  created_at timestamptz(3) not null,
  primary key (vault_id, id)
);
create index adjustments_token on adjustments (vault_id, token_id);

-- What transfers and deposits share: history and reports read this one table.
create table operations (
  vault_id text not null,
  id text not null,
  type text not null check (type in ('transfer', 'deposit')),
  status text not null check (status in ('awaiting_approval', 'pending', 'confirmed', 'failed', 'rejected', 'cancelled')),
  address_id text not null,
  owner_id text not null,
  initiator_id text,
  network_id text not null,
  token_id text not null,
  amount numeric(78, 0) not null check (amount > 0),
  flow_type text not null check (flow_type in ('internal', 'external')),
  tx_hash text,
  usd_rate numeric(38, 18),
  usd_rate_as_of timestamptz(3),
  usd_rate_source text,
  usd_value numeric(78, 2),
  -- Who the other side was when the operation was created; later changes of the address book leave it alone.
  counterparty_id text,
  counterparty_address_id text,
  counterparty_name text,
  counterparty_kind text,
  tags text[] not null default '{}',
  payment_purpose text,
  note text,
  created_at timestamptz(3) not null,
  confirmed_at timestamptz(3),
  blockchain_at timestamptz(3),
  updated_at timestamptz(3) not null,
  primary key (vault_id, id),
  check (type = 'transfer' or status = 'confirmed')
) with (fillfactor = 85);
create index operations_feed on operations (vault_id, created_at desc, id desc);
create index operations_owner_feed on operations (vault_id, owner_id, created_at desc, id desc);
create index operations_tx_hash on operations (vault_id, tx_hash) where tx_hash is not null;

create table transfers (
  vault_id text not null,
  id text not null,
  to_address text not null,
  to_address_key text not null,
  to_address_id text,
  contract_address text,
  -- The order exactly as it was decided on, and its hash: what votes and the hand-over are bound to.
  payload jsonb not null,
  payload_hash bytea not null,
  -- Matching policies as they were, with the trace of the decision.
  decision jsonb not null,
  decision_policy_id text,
  decision_policy_code text,
  decision_policy_name text,
  approval_threshold integer not null default 0,
  expires_at timestamptz(3),
  phase text not null default 'waiting' check (phase in ('waiting', 'queued', 'submitting', 'submitted', 'broadcast', 'halted', 'done')),
  wallet_tx_hash text,
  fee numeric(78, 0) check (fee >= 0),
  fee_token_id text,
  fee_posted boolean not null default false,
  failure_reason text,
  halt_reason text,
  attempts smallint not null default 0,
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (vault_id, id)
) with (fillfactor = 70);
-- Small by nature: only what is not finished.
create index transfers_unfinished on transfers (next_attempt_at) where phase in ('queued', 'submitting', 'submitted', 'broadcast');
create index transfers_expiry on transfers (expires_at) where phase = 'waiting';
create index transfers_fee_unposted on transfers (vault_id) where fee is not null and not fee_posted;

create table deposits (
  vault_id text not null,
  id text not null,
  address_id text not null,
  token_id text not null,
  tx_hash text not null,
  tx_index integer not null default 0 check (tx_index >= 0),
  from_address text,
  created_at timestamptz(3) not null,
  primary key (vault_id, id)
);
-- The address stands for network and recipient, the token for the contract.
create unique index deposits_once on deposits (vault_id, address_id, token_id, tx_hash, tx_index);

-- Every authentic webhook body as it arrived, and what came of it.
create table wallet_events (
  id text primary key,
  received_at timestamptz(3) not null,
  body text not null,
  network text,
  address_key text,
  outcome text not null check (outcome in ('credited', 'duplicate', 'ignored', 'unmatched', 'quarantined')),
  vault_id text,
  deposit_id text,
  quarantined jsonb
);
create index wallet_events_unmatched on wallet_events (network, address_key) where outcome = 'unmatched';
create index wallet_events_quarantined on wallet_events (vault_id, received_at desc, id desc) where outcome = 'quarantined';
