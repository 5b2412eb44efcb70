-- A replacement above the limit of the order was decided on, and is handed to the wallet service by the next delivery. What it
-- is, the audit records say.
alter table transfers add column replacement_due boolean not null default false;
