-- When and from where the token of a service was last used, and how many days before its end its administrators were last told.
alter table service_tokens add column last_used_at timestamptz(3);
alter table service_tokens add column last_used_from text;
alter table service_tokens add column told_days int;
-- The networks from which it is accepted, in CIDR notation; null: from everywhere.
alter table service_tokens add column networks text[];
create index service_tokens_ends on service_tokens (expires_at) where revoked_at is null and expires_at is not null;
