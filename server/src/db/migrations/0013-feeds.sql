-- History by whatever it is asked by: each of these is one range in the order of the feed. Most are partial, so that an
-- ordinary deposit writes only the first two.
create index operations_address_feed on operations (vault_id, address_id, created_at desc, id desc);
create index operations_token_feed on operations (vault_id, token_id, created_at desc, id desc);
create index operations_status_feed on operations (vault_id, status, created_at desc, id desc)
  where type = 'transfer' and status <> 'confirmed';
create index operations_transfer_feed on operations (vault_id, created_at desc, id desc) where type = 'transfer';
-- The feed of transfers is the window of the vault-wide velocity too.
drop index operations_velocity_vault;
-- Transfers ordered by somebody else than the owner of their address.
create index operations_initiated_feed on operations (vault_id, initiator_id, created_at desc, id desc)
  where initiator_id <> owner_id;
create index operations_internal_feed on operations (vault_id, created_at desc, id desc) where flow_type = 'internal';
-- By hash: a purpose may be longer than an entry of an index.
create index operations_purpose_feed
  on operations (vault_id, hashtextextended(payment_purpose, 0), created_at desc, id desc)
  where payment_purpose is not null;
create index operations_counterparty_address_feed
  on operations (vault_id, counterparty_address_id, created_at desc, id desc) where counterparty_address_id is not null;
create index transfers_policy_feed on transfers (vault_id, decision_policy_id, created_at desc, id desc)
  where decision_policy_id is not null;
-- One transaction on a chain may pay thousands of addresses.
drop index operations_tx_hash;
create index operations_hash_feed on operations (vault_id, tx_hash, created_at desc, id desc) where tx_hash is not null;
-- What a person may be asked to vote on: votes that were never needed stay open for good, these do not.
create index approval_eligibilities_open on approval_eligibilities (vault_id, user_id, subject_id) where held is null;
