-- Evidence finds the seal of an entry of the ledger: one of the first seals after the entry.
create index ledger_seals_by_time on ledger_seals (chain, sealed_at);
