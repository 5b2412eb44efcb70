-- How a session began, what a sign-in link asks for, which devices a person signed in from, and failed redemptions.

alter table sessions add column method text check (method in ('magic_link', 'code', 'operator_link', 'invitation'));
-- The known device of the session. Revoking the session, also from the mail, forgets the device.
alter table sessions add column device_hash bytea;

-- A mail that is sent again makes a new link; all links of one mail count as one.
alter table magic_links add column mail_id text;
-- Keyed with the secret key: six digits are found by trying where a plain digest is known.
alter table magic_links add column code_hash bytea;
alter table magic_links add column wrong_codes smallint not null default 0;
alter table magic_links add column by_operator boolean not null default false;
create index magic_links_email on magic_links (email);

create table known_devices (
  -- SHA-256 of the device cookie, or of a program's name and network.
  device_hash bytea not null,
  user_id text not null references users (id),
  last_seen_at timestamptz(3) not null,
  primary key (device_hash, user_id)
);
create index known_devices_last_seen on known_devices (last_seen_at);

-- Requests are counted by sender, and by e-mail address and sender together: never by the e-mail address alone. A sender is
-- a network address, or `device` and a digest for a device that the person signed in from.
alter table sign_in_attempts rename column ip to sender;
alter index sign_in_attempts_ip rename to sign_in_attempts_sender;
drop index sign_in_attempts_email;

create table failed_redemptions (
  sender text not null,
  failed_at timestamptz(3) not null
);
create index failed_redemptions_sender on failed_redemptions (sender, failed_at);
