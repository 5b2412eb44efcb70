-- Questions about single transfers that a node may begin in a second at the wallet service of the vault.
alter table vaults add column questions_per_second smallint not null default 20
  check (questions_per_second between 1 and 1000);
