-- Identity providers (OpenID Connect): services of companies that say who somebody is. They give nobody a right.
create table identity_providers (
  id text primary key,
  name text not null,
  issuer text not null,
  client_id text not null,
  -- Sealed for the origin of the issuer; null for a client without a secret.
  client_secret bytea,
  -- Lower case. The provider answers for addresses of these domains only.
  domains text[] not null check (cardinality(domains) between 1 and 20),
  linking text not null check (linking in ('mail', 'email_verified')),
  session_hours integer not null check (session_hours between 1 and 24),
  status text not null check (status in ('draft', 'active', 'off')),
  -- The sign-in that its author tried after the last change.
  tried_at timestamptz(3),
  tried_email text,
  created_by_id text not null references users (id),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check ((tried_at is null) = (tried_email is null)),
  check (status <> 'active' or tried_at is not null)
);
create unique index identity_providers_issuer on identity_providers (issuer) where status = 'active';
create index identity_providers_by_age on identity_providers (created_at desc, id desc);

-- The domains of active providers. A domain belongs to one provider.
create table identity_domains (
  domain text primary key,
  provider_id text not null references identity_providers (id)
);

-- A person at a provider: the issuer and its name for the person, never an e-mail address.
create table identities (
  issuer text not null,
  subject text not null,
  user_id text not null references users (id),
  linked_via text not null check (linked_via in ('mail', 'email_verified')),
  linked_at timestamptz(3) not null,
  last_used_at timestamptz(3) not null,
  primary key (issuer, subject)
);
create unique index identities_of_user on identities (user_id, issuer);

-- A first sign-in through a provider that waits for the mailed link. The link works in the browser that began.
create table identity_links (
  token_hash bytea primary key,
  binding_hash bytea not null,
  provider_id text not null references identity_providers (id),
  email text not null,
  -- Facts about the person from the provider: issuer, subject, sid, authTime, acr, amr.
  identity jsonb not null,
  redirect_to text,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index identity_links_of_email on identity_links (email);
create index identity_links_expiry on identity_links (expires_at);

-- Answers of providers and logout tokens that were used. Only those that came back are here, so that a begun sign-in stores nothing.
create table used_provider_answers (
  answer_hash bytea primary key,
  expires_at timestamptz(3) not null
);
create index used_provider_answers_expiry on used_provider_answers (expires_at);

alter table sessions drop constraint sessions_method_check;
alter table sessions add constraint sessions_method_check
  check (method in ('magic_link', 'code', 'operator_link', 'invitation', 'passkey', 'provider'));
alter table sessions
  add column provider_id text references identity_providers (id),
  add column provider_subject text,
  add column provider_sid text,
  add column auth_time timestamptz(3),
  add column acr text,
  add column amr text[],
  add constraint sessions_of_provider check ((provider_id is null) = (provider_subject is null));
create index sessions_of_provider on sessions (provider_id, provider_subject) where provider_id is not null;

alter table platform_changes drop constraint platform_changes_action_check;
alter table platform_changes add constraint platform_changes_action_check
  check (action in ('token_update', 'user_enable', 'identity_provider_activate'));

create or replace function sealed_under_present_key() returns trigger language plpgsql as $$
declare
  sealed bytea;
begin
  if tg_argv[0] = 'body' then sealed := new.body;
  elsif tg_argv[0] = 'secrets' then sealed := new.secrets;
  elsif tg_argv[0] = 'token_sealed' then sealed := new.token_sealed;
  elsif tg_argv[0] = 'wallet_service_secret' then sealed := new.wallet_service_secret;
  elsif tg_argv[0] = 'client_secret' then sealed := new.client_secret;
  else sealed := new.wallet_webhook_secret;
  end if;
  if sealed is not null and not exists (
    select from sealing_key k where substring(sealed from 1 for 9) = set_byte('\x00'::bytea, 0, k.format) || k.key_id
  ) then
    raise exception '% of % is sealed under another key than the present one', tg_argv[0], tg_table_name
      using errcode = '55000';
  end if;
  return new;
end
$$;
create trigger client_secret_sealed before insert or update of client_secret on identity_providers
  for each row execute function sealed_under_present_key('client_secret');
