-- A payout may take the place of one that waits for votes, without some of its rows.
-- The payout whose place it takes, with the rows that are left out.
alter table payouts add column replaces jsonb;
-- The payout that took its place.
alter table payouts add column replaced_by text;
-- Its reference stands again in the payout that took the place of its payout.
alter table transfers add column is_replaced boolean not null default false;
-- For good: a list that is sent again is not paid again.
create unique index transfers_reference on transfers (vault_id, external_id)
  where external_id is not null and not is_replaced;
drop index transfers_external_id;
