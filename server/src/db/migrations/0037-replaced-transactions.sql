-- Transactions that are replaced, fees with a limit, and transfers that wait for too long.

-- Hashes that the wallet service named before the present one, oldest first.
alter table transfers add column replaced_tx_hashes text[] not null default '{}';
create index transfers_replaced_hashes on transfers using gin (replaced_tx_hashes) where replaced_tx_hashes <> '{}';

-- What the order says about its fee; max_fee is in the smallest unit of the network's coin.
alter table transfers add column fee_level text check (fee_level in ('low', 'medium', 'high'));
alter table transfers add column max_fee numeric(78, 0) check (max_fee > 0);

-- When it was first handed to the wallet service, and since when it counts as stuck; null before this version.
alter table transfers add column sent_at timestamptz(3);
alter table transfers add column stuck_since timestamptz(3);

alter table notifications drop constraint notifications_kind_check;
alter table notifications add constraint notifications_kind_check
  check (kind in ('approval_needed', 'decided', 'rules_changed', 'stopped', 'stuck'));
