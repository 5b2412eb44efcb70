-- Litecoin has a type of its own: until now its addresses were compared exactly, and no checksum was read.
alter table networks drop constraint networks_type_check;
alter table networks add constraint networks_type_check
  check (type in ('evm', 'bitcoin', 'litecoin', 'tron', 'solana', 'other'));

-- Is the text an address of the main network in the spelling that the service writes? Bech32 (BIP-173, BIP-350), P2PKH, P2SH.
create function is_litecoin_address(address text) returns boolean language plpgsql immutable as $$
declare
  alphabet constant text := 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
  base58 constant text := '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  generator constant bigint[] := array[996825010, 642813549, 513874426, 1027748829, 705979059];
  -- The human-readable part "ltc", as BIP-173 spreads it.
  symbols integer[] := array[3, 3, 3, 0, 12, 20, 3];
  state bigint := 1;
  symbol integer;
  top bigint;
  version integer;
  bits integer;
  padding integer;
  bytes bytea := '';
  number numeric := 0;
begin
  if address ~ '^ltc1[02-9ac-hj-np-z]{8,86}$' then
    for place in 5..length(address) loop
      symbols := symbols || (position(substr(address, place, 1) in alphabet) - 1);
    end loop;
    foreach symbol in array symbols loop
      top := state >> 25;
      state := ((state & 33554431) << 5) # symbol;
      for bit in 0..4 loop
        if (top >> bit) & 1 = 1 then state := state # generator[bit + 1]; end if;
      end loop;
    end loop;
    version := symbols[8];
    bits := (length(address) - 11) * 5;
    padding := bits % 8;
    return version <= 16 and padding < 5
      and symbols[array_length(symbols, 1) - 6] & ((1 << padding) - 1) = 0
      and bits / 8 between 2 and 40
      and case when version = 0 then state = 1 and bits / 8 in (20, 32) else state = 734539939 end;
  elsif address ~ '^[LM][1-9A-HJ-NP-Za-km-z]{24,34}$' then
    for place in 1..length(address) loop
      number := number * 58 + position(substr(address, place, 1) in base58) - 1;
    end loop;
    for place in 1..25 loop
      bytes := set_byte('\x00', 0, mod(number, 256)::integer) || bytes;
      number := div(number, 256);
    end loop;
    return number = 0 and get_byte(bytes, 0) in (48, 50)
      and substring(sha256(sha256(substring(bytes from 1 for 21))) from 1 for 4) = substring(bytes from 22);
  end if;
  return false;
end $$;
-- A network with another address, such as one that was mistyped, stays as it is.
update networks n set type = 'litecoin' where n.coin_type = 2 and n.type = 'other'
  and not exists (select from addresses a where a.network_id = n.id and not is_litecoin_address(a.address))
  and not exists (select from counterparty_addresses a where a.network_id = n.id and not is_litecoin_address(a.address));
drop function is_litecoin_address(text);

-- What all addresses of a kind begin with says nothing about an address.
create or replace function look_alike_of(address_key text) returns text language sql immutable parallel safe
return left(regexp_replace(address_key, '^(0x|bc1|ltc1)', ''), 4) || right(address_key, 4);
reindex index addresses_look_alike;
reindex index counterparty_addresses_look_alike;
reindex index paid_recipients_look_alike;
