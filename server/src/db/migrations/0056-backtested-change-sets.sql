-- A backtest of a change set: who joins and leaves which groups by it.

-- {userId: {joins: [groupId], leaves: [groupId]}}; empty for policies that are tried alone.
alter table backtests add column moves jsonb not null default '{}';
