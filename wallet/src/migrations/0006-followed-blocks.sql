-- How far the blocks of each chain were followed for transactions of transfers, apart from `cursors`, which follow deposits.
create table wallet.follows (
  network    text primary key,
  block      bigint not null check (block >= 0),
  hash       text not null,
  updated_at timestamptz(3) not null default now()
);

-- Why a transaction that is in a block moved nothing. It becomes `failure_reason` when the block is final.
alter table wallet.transfers add column mined_failure text;
alter table wallet.transfers add constraint transfers_mined_failure check (mined_failure is null or block_number is not null);

-- Until now the receipt was read at each pass. What is in no final block yet is asked for once more.
update wallet.transfers set block_number = null, block_time = null, fee = null, confirmations = 0 where status = 'broadcast';

create index transfers_mined on wallet.transfers (network, block_number) where status = 'broadcast' and block_number is not null;
create index transfers_unmined on wallet.transfers (network, sequence) where status = 'broadcast' and block_number is null;
