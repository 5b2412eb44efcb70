-- The transfers of an address that have not ended, by nonce, however many it had before.
create index transfers_open on wallet.transfers (network, from_address, nonce) where status in ('queued', 'broadcast');
drop index wallet.transfers_to_settle;

-- Indexes that no statement reads. The hash of each transaction is unique in `transactions`, and a sequence is generated always.
alter table wallet.transfers drop constraint transfers_tx_hash_key, drop constraint transfers_sequence_key;
