-- How far the changes of each vault's wallet service were read, with the lease of the node that reads them: the row of a vault is made
-- when it has transfers in flight for the first time.
create table followings (
  vault_id text primary key,
  -- Of the last answer; null: the wallet service has none, or it is asked for the first one.
  cursor text check (length(cursor) <= 200),
  -- Since when no change was missed; null: its transfers are asked about one by one.
  since timestamptz(3),
  -- The last answer.
  heard_at timestamptz(3),
  -- When it is asked again. A claim is a lease: it moves this to the moment when another node may.
  ask_at timestamptz(3) not null,
  -- Answers without anything new that came too soon, and failures, one after the other.
  fruitless smallint not null default 0,
  -- Changes that a question by id found, and entries about transfers that the vault does not have.
  found_by_question bigint not null default 0,
  strangers bigint not null default 0
) with (fillfactor = 50);
