-- Screening: a service of the operator's choice allows, holds or blocks each deposit and each transfer.

create table screenings (
  vault_id text not null references vaults (id),
  subject_type text not null check (subject_type in ('deposit', 'transfer')),
  subject_id text not null,
  -- Of the question: the same at each attempt, and a new one when the subject is asked about again.
  id text not null,
  -- null: not answered yet, which stops the subject as a hold does.
  verdict text check (verdict in ('allow', 'hold', 'block')),
  score smallint check (score between 0 and 100),
  reference text,
  asked_at timestamptz(3),
  answered_at timestamptz(3),
  attempts integer not null default 0,
  -- Why the last attempt brought no answer.
  failure text,
  -- null: nothing more is asked.
  next_attempt_at timestamptz(3),
  -- The hold that two people released instead of an answer.
  waived_hold_id text,
  created_at timestamptz(3) not null,
  primary key (vault_id, subject_type, subject_id),
  check ((verdict is null) = (answered_at is null)),
  check ((verdict is null) = (score is null)),
  check ((verdict is null) = (reference is null))
);
create index screenings_due on screenings (next_attempt_at) where next_attempt_at is not null;
create index screenings_unanswered on screenings (created_at) where verdict is null and waived_hold_id is null;

-- An answer changes what is shown of the deposit or the transfer.
create function log_screening_changes() returns trigger language plpgsql as $$
begin
  insert into changes (vault_id, kind, id) select distinct c.vault_id, c.subject_type, c.subject_id from changed c;
  return null;
end $$;
create trigger screenings_log_update after update on screenings
  referencing new table as changed for each statement execute function log_screening_changes();

-- What a screening holds is a hold beside those of people: a subject has at most one of each.
alter table holds add column origin text not null default 'people' check (origin in ('people', 'screening'))
  check (origin = 'people' or (placed_by_id is null and subject_type in ('deposit', 'transfer')));
drop index holds_active;
create unique index holds_active on holds (vault_id, subject_type, subject_id, origin) where released_at is null;
-- Every deposit is held until its answer. Lists leave these out, unless one asks for the subject.
drop index holds_newest;
create index holds_newest on holds (vault_id, created_at desc, id desc)
  where not (origin = 'screening' and released_at is not null and released_by_id is null);
create index holds_of_subject on holds (vault_id, subject_id, created_at desc, id desc);
