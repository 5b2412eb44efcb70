-- USD per one unit of a token, as somebody said it was at a moment.
create table token_rates (
  token_id text not null references tokens (id),
  as_of timestamptz(3) not null,
  source text not null,
  usd_rate numeric(38, 18) not null check (usd_rate > 0),
  created_at timestamptz(3) not null,
  primary key (token_id, as_of, source)
);
