-- Passkeys of people (WebAuthn): keys that sign in beside the mailed link, and confirm what widens their power.
create table passkeys (
  id text primary key,
  user_id text not null references users (id),
  credential_id bytea not null unique check (octet_length(credential_id) between 1 and 1023),
  -- COSE, as the authenticator made it.
  public_key bytea not null check (octet_length(public_key) between 1 and 1024),
  -- What the authenticator counts; 0 for one that does not count.
  signatures bigint not null check (signatures >= 0),
  transports text[] not null,
  -- A copy is kept by the provider of the authenticator, so that other devices of the person have it too.
  is_synced boolean not null,
  name text not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3)
);
create index passkeys_of_user on passkeys (user_id, created_at desc);

-- A challenge is answered once. Only those that were answered are here, so that asking for one stores nothing.
create table used_passkey_challenges (
  challenge_hash bytea primary key,
  expires_at timestamptz(3) not null
);
create index used_passkey_challenges_expiry on used_passkey_challenges (expires_at);

alter table sessions drop constraint sessions_method_check;
alter table sessions add constraint sessions_method_check
  check (method in ('magic_link', 'code', 'operator_link', 'invitation', 'passkey'));
