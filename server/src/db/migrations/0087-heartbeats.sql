-- A row for each node, committed every few seconds: the time of the last commit that the node knows to be confirmed.
create table heartbeats (
  node uuid primary key,
  at timestamptz(3) not null default now(),
  confirmed_at timestamptz(3) not null default now()
);
