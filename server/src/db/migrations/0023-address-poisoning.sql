-- Marks for what is sent to make people pay a stranger: deposits of next to nothing, and addresses that look like known ones.

-- In raw units; a deposit below it is marked as dust. Null: none is.
alter table tokens add column dust_limit numeric(78, 0) check (dust_limit > 0);

-- What people compare of an address when they look at it: its first four and its last four characters, without what all
-- addresses of its kind begin with. It is the one place that decides what looks alike; indexes and queries share it.
create function look_alike_of(address_key text) returns text language sql immutable parallel safe
return left(regexp_replace(address_key, '^(0x|bc1)', ''), 4) || right(address_key, 4);

create index addresses_look_alike on addresses (vault_id, look_alike_of(address_key));
create index counterparty_addresses_look_alike on counterparty_addresses (vault_id, look_alike_of(address_key));

-- Whom a person has paid, from an address of theirs or by an order of theirs: once for each recipient, so that a search
-- does not grow with the number of payments.
create table paid_recipients (
  vault_id text not null,
  user_id text not null,
  address_key text not null,
  primary key (vault_id, user_id, address_key)
);
create index paid_recipients_look_alike on paid_recipients (vault_id, look_alike_of(address_key));

insert into paid_recipients (vault_id, user_id, address_key)
select o.vault_id, p.user_id, t.to_address_key
from operations o
join transfers t on t.vault_id = o.vault_id and t.id = o.id
cross join lateral (values (o.owner_id), (o.initiator_id)) as p (user_id)
where o.type = 'transfer' and o.status = 'confirmed' and p.user_id is not null
group by 1, 2, 3;
