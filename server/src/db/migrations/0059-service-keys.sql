-- The Ed25519 keys with which services sign in protected vaults. An administrator registers them: not who has the token.
create table service_keys (
  vault_id text not null references vaults (id),
  id text not null,
  user_id text not null references users (id),
  name text not null,
  -- SPKI in DER.
  public_key bytea not null check (octet_length(public_key) between 1 and 1024),
  created_by_id text not null references users (id),
  created_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  primary key (vault_id, id),
  unique (vault_id, public_key)
);
create index service_keys_of_user on service_keys (vault_id, user_id, created_at desc, id desc);
create constraint trigger service_keys_governed after insert or update or delete on service_keys
  deferrable initially deferred for each row execute function rules_must_be_published();
