-- The alarm: administrators are told when a transfer or an approval request was stopped by the service itself.
alter table notifications drop constraint notifications_kind_check;
alter table notifications add constraint notifications_kind_check
  check (kind in ('approval_needed', 'decided', 'rules_changed', 'stopped'));
