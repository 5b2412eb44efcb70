-- When metadata and keys of an active identity provider were last read by any node, for those who operate the service.
create table identity_provider_reads (
  provider_id text primary key references identity_providers (id),
  asked_at timestamptz(3) not null,
  read_at timestamptz(3),
  failing_since timestamptz(3)
);
