-- The requests that a service token may send. Tokens of before may still send every request, and so may those of older versions.
alter table service_tokens add column scopes text[] not null default '{read,operate,vote,write,report,rules}'
  check (cardinality(scopes) > 0 and scopes <@ '{read,operate,vote,write,report,rules}');
