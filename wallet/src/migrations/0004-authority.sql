-- A protected client: its authority lies in a file (AUTHORITY_DIR). The mark here makes a lost or older file noticed.
alter table wallet.clients add column authority_version integer check (authority_version >= 1);
alter table wallet.clients add column authority_hash text check (authority_hash ~ '^[0-9a-f]{64}$');
alter table wallet.clients add constraint clients_authority_whole check ((authority_version is null) = (authority_hash is null));

-- What authorises the order: the signed order and the votes, verified again from here before anything is signed.
alter table wallet.transfers add column signed_order jsonb;

-- What a client ordered of a token within 24 hours.
create index transfers_ordered on wallet.transfers (client_id, network, created_at);

create function wallet.refuse_older_authority() returns trigger language plpgsql as $$
begin
  if old.authority_version is not null and (
    new.authority_version is null or new.authority_version < old.authority_version
    or (new.authority_version = old.authority_version and new.authority_hash is distinct from old.authority_hash)
  ) then
    raise exception 'the authority of client % cannot go back from version %', old.name, old.authority_version;
  end if;
  return new;
end $$;
create trigger clients_authority_never_back before update on wallet.clients
  for each row execute function wallet.refuse_older_authority();
