-- Domains whose people sign in through their provider alone, and the few people who may do without it in an emergency.
alter table identity_providers add column enforce boolean not null default false;

-- Break-glass people: where their provider is enforced, a passkey and a mailed link together sign them in for an hour.
create table break_glass_people (
  user_id text primary key references users (id),
  named_at timestamptz(3) not null
);

-- A link that was mailed because a passkey of its person answered before. It works in that browser alone.
alter table magic_links add column break_glass boolean not null default false;

alter table sessions drop constraint sessions_method_check;
alter table sessions add constraint sessions_method_check
  check (method in ('magic_link', 'code', 'operator_link', 'invitation', 'passkey', 'provider', 'break_glass'));

alter table platform_changes drop constraint platform_changes_action_check;
alter table platform_changes add constraint platform_changes_action_check
  check (action in ('token_update', 'user_enable', 'identity_provider_activate', 'identity_provider_enforce',
    'break_glass_name', 'break_glass_remove', 'directory_activate'));
