-- People, sign-in and sessions. Tokens are kept as SHA-256 digests only.

create table users (
  id text primary key,
  kind text not null default 'person' check (kind in ('person', 'service')),
  email text,
  name text,
  username text,
  image text,
  color text,
  emoji text,
  is_platform_admin boolean not null default false,
  disabled_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (kind = 'service' or email is not null)
);
-- E-mail addresses are stored in lower case, so the plain index is the case-insensitive one.
create unique index users_email on users (email);
create unique index users_username on users (lower(username));

create table sessions (
  id text primary key,
  token_hash bytea not null unique,
  user_id text not null references users (id),
  user_agent text,
  ip text,
  created_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ends_at timestamptz(3) not null
);
create index sessions_user on sessions (user_id);

create table magic_links (
  token_hash bytea primary key,
  email text not null,
  binding_hash bytea,
  redirect_to text,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index magic_links_expiry on magic_links (expires_at);

-- One row per sign-in request: what the two sign-in limits count.
create table sign_in_attempts (
  email_hash bytea not null,
  ip text not null,
  attempted_at timestamptz(3) not null
);
create index sign_in_attempts_email on sign_in_attempts (email_hash, attempted_at);
create index sign_in_attempts_ip on sign_in_attempts (ip, attempted_at);
