-- Small images that the service keeps and serves itself. What they are of names them by their address, in the column that
-- may hold the address of an image elsewhere as well.

alter table vaults add column logo_uri text;

create table images (
  -- SHA-256 (hex) of what it is of and of its bytes: another image has another address, so that answers never age.
  key text primary key check (key ~ '^[0-9a-f]{64}$'),
  -- null: of a person, a token or a network, which belong to no vault.
  vault_id text references vaults (id),
  subject_type text not null check (subject_type in
    ('user', 'token', 'network', 'vault', 'counterparty', 'counterparty_group', 'policy_group', 'address')),
  subject_id text not null,
  media_type text not null check (media_type in ('image/png', 'image/jpeg', 'image/webp')),
  content bytea not null check (octet_length(content) between 1 and 65536),
  created_at timestamptz(3) not null,
  check ((vault_id is null) = (subject_type in ('user', 'token', 'network')))
);
-- It is compressed already, and is read as a whole.
alter table images alter column content set storage external;
create index images_of_subject on images (subject_type, subject_id, created_at desc);
create index images_of_vault on images (vault_id) where vault_id is not null;
