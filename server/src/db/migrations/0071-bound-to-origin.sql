-- Sealed values of format 3 are bound to where they are sent, too, and audit records carry a MAC (decision 0067). The first start
-- with the key brings the database to format 3; afterwards nothing of an earlier format, and no record without a MAC, is written.

alter table sealing_key add column format smallint not null default 2 check (format in (2, 3));
alter table sealing_key alter column format drop default;

create function sealing_format_kept() returns trigger language plpgsql as $$
begin
  if new.format < old.format then
    raise exception 'The format of sealed values never goes back' using errcode = '55000';
  end if;
  return new;
end
$$;
create trigger sealing_format_kept before update on sealing_key for each row execute function sealing_format_kept();

create or replace function sealed_under_present_key() returns trigger language plpgsql as $$
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
    select from sealing_key k where substring(sealed from 1 for 9) = set_byte('\x00'::bytea, 0, k.format) || k.key_id
  ) then
    raise exception '% of % is sealed under another key than the present one', tg_argv[0], tg_table_name
      using errcode = '55000';
  end if;
  return new;
end
$$;

-- The id of the key, and HMAC-SHA-256. Records of before get theirs at the first start with the key.
alter table audit_records add column mac bytea,
  add constraint audit_records_mac check (mac is not null and octet_length(mac) = 40) not valid;

-- A node that still has the key before a rotation writes nothing that nobody would believe. The lock is the one that a change of
-- the key takes alone: it waits for what is being recorded, and what comes later sees the new key.
create function recorded_under_present_key() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('sealing_key', 0));
  if exists (select from inserted i where not exists (
    select from sealing_key k where substring(i.mac from 1 for 8) = k.key_id
  )) then
    raise exception 'an audit record has a MAC under another key than the present one' using errcode = '55000';
  end if;
  return null;
end
$$;
create trigger recorded_under_present_key after insert on audit_records
  referencing new table as inserted for each statement execute function recorded_under_present_key();
