-- The members of a vault page by page: a page walks this index, whatever the number of groups.
create index policy_group_memberships_member on policy_group_memberships (vault_id, user_id);
