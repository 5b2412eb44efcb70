-- The part of a transaction that pays a transfer, where one transaction may pay several (Bitcoin: the output); null if it was not told.
alter table transfers add column tx_index integer;
