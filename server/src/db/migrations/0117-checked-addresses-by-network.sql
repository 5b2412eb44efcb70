-- A wallet service may show the keys of some networks of a vault only, so each network says if new addresses on it must follow from a
-- pinned key.
alter table vault_networks add column address_check text not null default 'none' check (address_check in ('none', 'derived'));
update vault_networks vn set address_check = 'derived' from vaults v, networks n
  where v.id = vn.vault_id and n.id = vn.network_id and v.wallet_key is not null and n.type = 'evm';

create function address_check_is_kept() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or new.address_check <> old.address_check then
    raise exception 'addresses of vault % on network % follow from pinned keys', old.vault_id, old.network_id using errcode = '55000';
  end if;
  return new;
end
$$;
create trigger address_check_kept before update or delete on vault_networks
  for each row when (old.address_check = 'derived') execute function address_check_is_kept();

-- The script of the addresses of an account, on networks where a key has addresses of several scripts. It is signed with the key.
alter table account_keys add column script text check (script = 'p2wpkh');

-- A pinned key of an account binds its network.
create function bind_network() returns trigger language plpgsql as $$
begin
  update vault_networks set address_check = 'derived'
    where vault_id = new.vault_id and network_id = new.network_id and address_check = 'none';
  return null;
end
$$;
create trigger account_key_binds_network after insert on account_keys for each row execute function bind_network();
