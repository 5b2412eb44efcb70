-- Who leaves: what they made and what still works is found by its maker, and initiators learn that too few can vote.

create index service_tokens_maker on service_tokens (created_by_id) where revoked_at is null;
create index invitations_maker on invitations (created_by_id) where status = 'pending';
create index users_platform_administrators on users (id) where is_platform_admin;

alter table notifications drop constraint notifications_kind_check;
alter table notifications add constraint notifications_kind_check
  check (kind in ('approval_needed', 'decided', 'rules_changed', 'stopped', 'stuck', 'quorum_lost'));
