-- While the books and the wallet service of a vault differ in what was ordered, nothing is handed over and no address is made.
alter table vaults add column halted_at timestamptz(3),
  add column halt_reason text check (halt_reason in ('books_behind', 'wallet_behind')),
  add constraint vaults_halt_check check ((halted_at is null) = (halt_reason is null));
create index vaults_halted on vaults (halted_at) where halted_at is not null;

-- How far what the wallet service of a vault accepted was compared with the books.
create table wallet_marks (
  vault_id text primary key references vaults (id),
  -- Of the last entry that the books know; null: nothing was compared with this wallet service.
  cursor text check (length(cursor) <= 200),
  -- The number of entries up to the cursor.
  entries bigint not null default 0 check (entries >= 0),
  -- Whether all entries of this wallet service were compared once.
  is_complete boolean not null default false,
  -- Counts the changes of the wallet service, each of which begins the comparison anew.
  wallet_number integer not null default 0,
  compared_at timestamptz(3)
) with (fillfactor = 50);

-- The derivation paths that were or will be asked of the wallet service. A path is written before it is asked for, and deleted when its
-- address is stored and the wallet service has listed it. A burnt path belongs to an address that the books have lost: it is never given
-- to anybody.
create table asked_paths (
  vault_id text not null references vaults (id),
  derivation_path text not null,
  asked_at timestamptz(3) not null,
  is_stored boolean not null default false,
  is_listed boolean not null default false,
  is_burnt boolean not null default false,
  -- The place of a burnt path in the structure of the vault; null where it has none.
  static_prefix text,
  path_index bigint check (path_index >= 0),
  primary key (vault_id, derivation_path),
  check ((static_prefix is null) = (path_index is null)),
  check (is_burnt or static_prefix is null)
);
create index asked_paths_not_listed on asked_paths (vault_id) where is_stored and not is_listed;
create index asked_paths_burnt on asked_paths (vault_id, static_prefix, path_index) where is_burnt;

-- The events of an address that credited nothing.
create index wallet_events_kept on wallet_events (network, address_key) where outcome not in ('credited', 'duplicate');
