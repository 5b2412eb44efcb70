-- A token has one rate at a moment, whoever says it. Of several the one that was recorded last is kept.
delete from token_rates r using token_rates o
where o.token_id = r.token_id and o.as_of = r.as_of and (o.created_at, o.source) > (r.created_at, r.source);
create unique index token_rates_once on token_rates (token_id, as_of);

-- Set for a rate that was held back and then confirmed by a platform administrator.
alter table token_rates add column confirmed_by_id text references users (id);
create index token_rates_recorded on token_rates (token_id, created_at);

-- Rates that differ too much from those before them. None of these rows is read by an operation: a confirmed rate is
-- copied to token_rates.
create table held_rates (
  id text primary key,
  token_id text not null references tokens (id),
  as_of timestamptz(3) not null,
  source text not null,
  usd_rate numeric(38, 18) not null check (usd_rate > 0),
  -- The rate from which it differs too much; null: the token had none.
  compared_usd_rate numeric(38, 18),
  status text not null check (status in ('held', 'confirmed', 'rejected', 'superseded')),
  -- null: the rates provider.
  created_by_id text references users (id),
  created_at timestamptz(3) not null,
  decided_by_id text references users (id),
  decided_at timestamptz(3),
  check ((status = 'held') = (decided_at is null)),
  check (status <> 'confirmed' or (decided_by_id is not null and decided_by_id is distinct from created_by_id))
);
create index held_rates_feed on held_rates (created_at desc, id desc);
create unique index held_rates_open on held_rates (token_id, as_of) where status = 'held';
