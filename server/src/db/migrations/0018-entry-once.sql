-- An id of an operation is one of all vaults, so the vault says nothing in this key but is a quarter of it.
drop index ledger_entries_once;
create unique index ledger_entries_once on ledger_entries (operation_id, kind);
