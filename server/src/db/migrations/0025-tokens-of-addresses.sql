-- A change of a token is put on the record of every vault that uses it, and must not wait for a look at every address: the
-- kill switch is for emergencies.
create index addresses_by_token on addresses (token_id, vault_id);
