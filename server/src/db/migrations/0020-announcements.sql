-- What a change is announced with. It is put into words when the change is made, because what it names may be renamed or
-- gone when the mail is sent.
create table announcements (
  -- The vault, or 'platform' for what belongs to no vault, as in audit_records.
  chain text not null,
  audit_record_id text not null,
  content text not null,
  created_at timestamptz(3) not null,
  primary key (chain, audit_record_id)
);

-- Changes that were sent in one mail are sent again in one mail, under the same Message-ID: this is its name.
alter table notifications add column mail_id text;

-- A claim is a lease: it moves next_attempt_at to the moment when somebody else may try. null: settled, sent or given up.
comment on column notifications.next_attempt_at is 'when it is to be sent, or sent again unless its sender settles it first';
comment on column notifications.vault_id is 'platform for a change that belongs to no vault';
