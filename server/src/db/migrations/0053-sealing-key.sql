-- Under which key the secrets of the database are sealed. Nothing is stored that is sealed under another one, so a node that
-- still has the key before a rotation can neither read secrets nor leave any that nobody could read (decision 0043).

create table sealing_key (
  only_row boolean primary key default true check (only_row),
  -- Derived from STRONGROOM_SECRET_KEY; it names the key in every sealed value.
  key_id bytea not null check (octet_length(key_id) = 8),
  sealed_at timestamptz(3) not null
);

create function sealed_under_present_key() returns trigger language plpgsql as $$
declare
  sealed bytea;
begin
  if tg_argv[0] = 'body' then sealed := new.body;
  elsif tg_argv[0] = 'secrets' then sealed := new.secrets;
  elsif tg_argv[0] = 'token_sealed' then sealed := new.token_sealed;
  elsif tg_argv[0] = 'wallet_service_secret' then sealed := new.wallet_service_secret;
  else sealed := new.wallet_webhook_secret;
  end if;
  if sealed is not null and not exists (
    select from sealing_key k where substring(sealed from 1 for 9) = '\x02'::bytea || k.key_id
  ) then
    raise exception '% of % is sealed under another key than the present one', tg_argv[0], tg_table_name
      using errcode = '55000';
  end if;
  return new;
end
$$;
create trigger body_sealed before insert or update of body on idempotency_keys
  for each row execute function sealed_under_present_key('body');
create trigger secrets_sealed before insert or update of secrets on change_sets
  for each row execute function sealed_under_present_key('secrets');
create trigger token_sealed before insert or update of token_sealed on invitations
  for each row execute function sealed_under_present_key('token_sealed');
create trigger service_secret_sealed before insert or update of wallet_service_secret on vaults
  for each row execute function sealed_under_present_key('wallet_service_secret');
create trigger webhook_secret_sealed before insert or update of wallet_webhook_secret on vaults
  for each row execute function sealed_under_present_key('wallet_webhook_secret');
