-- The approval request whose voter asked for a backtest of its change set; null for one of who reads the whole vault.
alter table backtests add column request_id text;
create index backtests_of_requests on backtests (vault_id, request_id) where request_id is not null;
