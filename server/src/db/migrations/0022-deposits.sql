-- Deposits of one wallet service cannot pass for those of another, and everything that is not credited can be read.

-- The secrets by which the wallet service of this vault signs its webhooks, sealed; null: those of the installation.
alter table vaults add column wallet_webhook_secret bytea;

alter table wallet_events
  -- Why the event was not credited.
  add column reason text,
  -- The vaults whose own secret signed the event; null: the secret of the installation did, or nobody in demo mode.
  add column signed_by text[],
  -- What makes two quarantined events the same one: the key of the deposit and the amount.
  add column quarantine_key text;

-- A quarantined event carries all that is shown of it, because it may have no deposit that it contradicts.
update wallet_events e
set reason = 'amount_differs',
  quarantined = jsonb_build_object('amount', e.quarantined ->> 'amount', 'addressId', d.address_id, 'tokenId', d.token_id,
    'txHash', d.tx_hash, 'index', d.tx_index, 'fromAddress', d.from_address)
from deposits d
where e.outcome = 'quarantined' and d.vault_id = e.vault_id and d.id = e.deposit_id;

-- Of events that were quarantined more than once the first one has the key; the others stay as they arrived.
update wallet_events e
set quarantine_key = f.key
from (
  select concat_ws(' ', vault_id, quarantined ->> 'addressId', quarantined ->> 'tokenId', quarantined ->> 'txHash',
    quarantined ->> 'index', quarantined ->> 'amount') as key, min(id) as id
  from wallet_events where outcome = 'quarantined' group by 1
) f
where e.id = f.id;

create unique index wallet_events_quarantined_once on wallet_events (quarantine_key) where quarantine_key is not null;
drop index wallet_events_quarantined;
create index wallet_events_not_credited on wallet_events (vault_id, outcome, received_at desc, id desc)
  where outcome in ('ignored', 'unmatched', 'quarantined');

-- What comes in may not make an account hold more than 2^256-1. A release may: it gives back what was there before.
-- Not valid: existing entries are not read, so that the table is locked for a moment only.
alter table ledger_entries add constraint ledger_entries_credit_max check (
  kind not in ('deposit', 'adjust') or credit_balance is null
  or credit_balance <= 115792089237316195423570985008687907853269984665640564039457584007913129639935
) not valid;
