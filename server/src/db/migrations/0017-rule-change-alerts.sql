-- Administrators and approvers are told of every change to the rules, so that nobody changes them unnoticed.
alter table notifications drop constraint notifications_subject_type_check;
alter table notifications add constraint notifications_subject_type_check
  check (subject_type in ('transfer', 'approval_request', 'audit_record'));
alter table notifications drop constraint notifications_kind_check;
alter table notifications add constraint notifications_kind_check
  check (kind in ('approval_needed', 'decided', 'rules_changed'));
create index notifications_rules_changed on notifications (user_id, vault_id) where next_attempt_at is not null and kind = 'rules_changed';
