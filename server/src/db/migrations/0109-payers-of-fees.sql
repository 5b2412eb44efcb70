-- The address of the vault that paid the network fee, if it was not the sender.
alter table transfers add column fee_address_id text;
