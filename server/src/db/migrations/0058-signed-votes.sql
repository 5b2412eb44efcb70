-- What people sign in a protected vault: nothing unsigned is ordered, approved or handed over there.

alter table vaults add column protection text not null default 'off' check (protection in ('off', 'votes'));

create constraint trigger vaults_protection_governed after update on vaults
  deferrable initially deferred for each row when (old.protection is distinct from new.protection)
  execute function wallet_must_be_published();

-- The votes as they were signed, each with the key that it was checked with. Append-only.
create table signed_votes (
  vault_id text not null references vaults (id),
  subject_type text not null check (subject_type in ('transfer', 'approval_request')),
  subject_id text not null,
  user_id text not null references users (id),
  decision text not null check (decision in ('initiate', 'approve', 'reject')),
  -- As it came: docs/signed-orders.md.
  signed_vote jsonb not null,
  -- SPKI in DER.
  public_key bytea not null check (octet_length(public_key) between 1 and 1024),
  -- Of a passkey; null for the key of a service.
  rp_id text,
  origin text,
  created_at timestamptz(3) not null,
  primary key (vault_id, subject_id, user_id, decision),
  check ((rp_id is null) = (origin is null))
);
