-- The first passkey of a person in a protected vault waits for a second person. At most one waits in each vault; the person
-- finds theirs by it.
create unique index approval_requests_passkey on approval_requests (initiator_id, vault_id)
  where action = 'passkey_add' and status = 'pending';

-- Until then an operator lets the person add one alone, when nobody is left who could accept it.
alter table users add column first_passkey_until timestamptz(3);
