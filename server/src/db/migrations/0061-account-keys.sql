-- What the wallet service of a vault has shown of its keys: the service derives each new address itself (T61, decision 0049).

-- The Ed25519 key by which the wallet service signs what it shows, as SPKI in base64url; null: it shows nothing.
alter table vaults add column wallet_key text;

create function wallet_key_is_kept() returns trigger language plpgsql as $$
begin
  raise exception 'the key of the wallet service of vault % is pinned', old.id using errcode = '55000';
end
$$;
create trigger wallet_key_pinned before update of wallet_key on vaults
  for each row when (old.wallet_key is not null and new.wallet_key is distinct from old.wallet_key)
  execute function wallet_key_is_kept();

-- The public keys of accounts, as the wallet service signed them. Append-only.
create table account_keys (
  vault_id text not null references vaults (id),
  -- m/44/<coin type>/<account>: the last level that is hardened.
  derivation_path text not null,
  network_id text not null references networks (id),
  xpub text not null check (xpub like 'xpub%'),
  challenge text not null,
  signature text not null,
  created_at timestamptz(3) not null,
  primary key (vault_id, derivation_path)
);
