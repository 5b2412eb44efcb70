/** The expected state of the rows after a migration. */
export type Check =
  /** A query and the rows it finds. */
  | { query: string; finds: unknown[] }
  /** A statement and the constraint that refuses it; null: it is accepted, and rolled back. */
  | { statement: string; refusedBy: string | null }

/** Checks of the rows before a migration: the rows that it will change must exist. */
export const checksBefore: Record<string, Check[]> = {
  '0014-reports': [{ query: 'select address_id from address_group_members', finds: [{ address_id: 'a1' }] }],
  '0018-entry-once': [insertEntry('deposit', 'd1', null)],
  '0021-held-rates': [
    { query: 'select usd_rate::int as rate from token_rates order by created_at', finds: rates(2000, 2001, 2003) },
  ],
  '0022-deposits': [
    {
      query: `select id, quarantined from wallet_events where outcome = 'quarantined' order by id`,
      finds: ['e2', 'e3'].map((id) => ({ id, quarantined: { amount: '2000' } })),
    },
    insertEntry('deposit', 'd9', null, '2e77'),
  ],
  '0024-sign-in': [{ query: 'select ip from sign_in_attempts', finds: [{ ip: '203.0.113.7' }] }],
  '0029-people': [{ query: "select id from policy_groups where code = 'auditors'", finds: [{ id: 'g2' }] }],
}

/** Every statement of a migration that rewrites or constrains existing rows must be needed for one of its checks. */
export const checksAfter: Record<string, Check[]> = {
  '0075-deliveries': [
    {
      query: `select id, queue, to_char(next_attempt_at at time zone 'UTC', 'HH24:MI') as due, attempts from deliveries order by id`,
      finds: [
        { id: 'y1', queue: 'votes', due: '10:00', attempts: 0 },
        { id: 'y2', queue: 'votes', due: null, attempts: 0 },
        { id: 'y3', queue: 'hand-over', due: '10:00', attempts: 3 },
        { id: 'y4', queue: 'follow', due: '10:00', attempts: 0 },
        { id: 'y5', queue: 'hand-over', due: '10:00', attempts: 0 },
        { id: 'y6', queue: 'halted', due: null, attempts: 0 },
      ],
    },
    { query: 'select id from transfers where fee_owed', finds: [{ id: 'y7' }] },
    {
      query: `select column_name from information_schema.columns
        where table_name = 'transfers' and column_name in ('attempts', 'next_attempt_at', 'fee_posted')`,
      finds: [],
    },
    {
      query: `select indexname from pg_indexes
        where indexname in ('transfers_expiry', 'transfers_halted', 'transfers_in_flight', 'transfers_unfinished')`,
      finds: [],
    },
  ],
  '0120-fees-in-usd': [
    {
      query: `select usd_value_of(15, 3, 1)::text as down, usd_value_of(25, 3, 1)::text as up, usd_value_of(26, 3, 1)::text as more,
        usd_value_of(1500000000000000, 18, 2503.5)::text as fee, usd_value_of(7, 0, 3)::text as whole,
        usd_value_of(7, 0, null) as unknown`,
      finds: [{ down: '0.02', up: '0.02', more: '0.03', fee: '3.76', whole: '21.00', unknown: null }],
    },
    { query: 'select id from operations where fee_booked_at is not null', finds: [] },
  ],
  '0121-past-fees-in-usd': [
    {
      query: `select id, fee_amount::int as amount, to_char(fee_booked_at at time zone 'UTC', 'HH24:MI') as booked,
        fee_usd_rate::int as rate, fee_usd_rate_source as source, fee_usd_value::text as value
        from operations where fee_booked_at is not null order by id`,
      // The rate of minute 3 was recorded when the fee of the same minute was booked, and the one of minute 50 an hour later.
      finds: [
        { id: 'x1', amount: 10, booked: '10:03', rate: 2003, source: 'provider', value: '0.02' },
        { id: 'x2', amount: 20, booked: '10:55', rate: null, source: null, value: null },
      ],
    },
    {
      statement: "update operations set fee_usd_value = 1 where id = 'x2'",
      refusedBy: 'The fee of operation x2 is booked once and cannot be changed',
    },
  ],
  '0110-litecoin': [
    { query: 'select type from networks where coin_type = 2', finds: [{ type: 'litecoin' }] },
    { statement: "update networks set type = 'dogecoin' where coin_type = 2", refusedBy: 'networks_type_check' },
    { query: "select look_alike_of('ltc1qw508d6qejx7kgm') as shown", finds: [{ shown: 'qw507kgm' }] },
    { query: "select proname from pg_proc where proname = 'is_litecoin_address'", finds: [] },
  ],
  '0117-checked-addresses-by-network': [
    {
      query: 'select vault_id, network_id, address_check from vault_networks order by vault_id, network_id',
      finds: [
        { vault_id: 'v1', network_id: 'n1', address_check: 'none' },
        { vault_id: 'v17', network_id: 'n1', address_check: 'derived' },
        { vault_id: 'v17', network_id: 'n2', address_check: 'none' },
        { vault_id: 'v2', network_id: 'n1', address_check: 'none' },
      ],
    },
    {
      statement: "update vault_networks set address_check = 'nonsense' where network_id = 'n2'",
      refusedBy: 'vault_networks_address_check_check',
    },
    {
      statement: "update account_keys set script = 'p2tr' where vault_id = 'v1'",
      refusedBy: 'account_keys_script_check',
    },
  ],
  '0093-narrow-transfer-rows': [
    { query: "select id, tx_hash from transfer_hashes where id like 'x%'", finds: [{ id: 'x1', tx_hash: '0xe1' }] },
    {
      query: "select id, status from unconfirmed_transfers where id like 'x%'",
      finds: [{ id: 'x2', status: 'cancelled' }],
    },
    indexes('operations_status_feed', 'operations_hash_feed', 'deposits_hash_feed')('deposits_hash_feed'),
  ],
  '0100-identity-providers': [
    ...(['provider', 'nonsense'] as const).map((method) => ({
      statement: `update sessions set method = '${method}' where id = 's1'`,
      refusedBy: method === 'provider' ? null : 'sessions_method_check',
    })),
    {
      statement: "update sessions set provider_subject = 'anna' where id = 's1'",
      refusedBy: 'sessions_of_provider',
    },
    ...(['identity_provider_activate', 'nonsense'] as const).map((action) => ({
      statement: `insert into platform_changes (id, action, target_id, payload, status, created_by_id, created_at)
        values ('pc9', '${action}', 'ip1', '{}', 'held', 'u1', now())`,
      refusedBy: action === 'nonsense' ? 'platform_changes_action_check' : null,
    })),
  ],
  '0123-enforced-providers': [
    { query: "select enforce from identity_providers where id = 'ip1'", finds: [{ enforce: false }] },
    { query: 'select distinct break_glass from magic_links', finds: [{ break_glass: false }] },
    ...(['break_glass', 'nonsense'] as const).map((method) => ({
      statement: `update sessions set method = '${method}' where id = 's1'`,
      refusedBy: method === 'break_glass' ? null : 'sessions_method_check',
    })),
    ...(['identity_provider_enforce', 'break_glass_name', 'break_glass_remove', 'nonsense'] as const).map((action) => ({
      statement: `insert into platform_changes (id, action, target_id, payload, status, created_by_id, created_at)
        values ('pc-${action}', '${action}', 'ip1', '{}', 'held', 'u1', now())`,
      refusedBy: action === 'nonsense' ? 'platform_changes_action_check' : null,
    })),
  ],
  '0105-directories': [
    ...(['directory_activate', 'nonsense'] as const).map((action) => ({
      statement: `insert into platform_changes (id, action, target_id, payload, status, created_by_id, created_at)
        values ('pc10', '${action}', 'd1', '{}', 'held', 'u1', now())`,
      refusedBy: action === 'nonsense' ? 'platform_changes_action_check' : null,
    })),
  ],
  '0098-payouts-without-rows': [indexes('transfers_external_id', 'transfers_reference')('transfers_reference')],
  '0013-feeds': [
    indexes('operations_velocity_vault', 'operations_transfer_feed')('operations_transfer_feed'),
    indexes('operations_tx_hash', 'operations_hash_feed')('operations_hash_feed'),
  ],
  '0014-reports': [
    {
      query: `select group_id, address_id, to_char(added_at at time zone 'UTC', 'HH24:MI') as added, removed_at
        from address_group_membership_log`,
      finds: [{ group_id: 'f1', address_id: 'a1', added: '10:08', removed_at: null }],
    },
  ],
  '0016-ledger-reads': [
    {
      query: `select number::int, to_char(last_entry_at at time zone 'UTC', 'HH24:MI') as last
        from ledger_accounts order by number`,
      // The vault-level account, and the one without entries, have none.
      finds: ['10:05', '10:05', '10:06', null, null, '10:07'].map((last, index) => ({ number: index + 1, last })),
    },
    {
      query: `select pg_get_constraintdef(oid) as key from pg_constraint
        where conrelid = 'ledger_entries'::regclass and contype = 'p'`,
      finds: [{ key: 'PRIMARY KEY (sequence)' }],
    },
  ],
  '0017-rule-change-alerts': [
    insertNotification('audit_record', 'rules_changed', null),
    insertNotification('nonsense', 'rules_changed', 'notifications_subject_type_check'),
    insertNotification('audit_record', 'nonsense', 'notifications_kind_check'),
  ],
  '0018-entry-once': [insertEntry('deposit', 'd1', 'ledger_entries_once')],
  '0019-stopped-notifications': [
    insertNotification('transfer', 'stopped', null),
    insertNotification('transfer', 'nonsense', 'notifications_kind_check'),
  ],
  '0021-held-rates': [
    { query: 'select usd_rate::int as rate from token_rates order by as_of', finds: rates(2001, 2003) },
    {
      statement: `insert into token_rates (token_id, as_of, source, usd_rate, created_at)
        select token_id, as_of, 'another', usd_rate, created_at from token_rates`,
      refusedBy: 'token_rates_once',
    },
  ],
  '0022-deposits': [
    {
      query: `select id, reason, quarantined, quarantine_key from wallet_events where outcome = 'quarantined' order by id`,
      finds: ['v1 a1 t1 0xd1 2 2000', null].map((quarantine_key, index) => ({
        id: `e${index + 2}`,
        reason: 'amount_differs',
        quarantined: {
          amount: '2000',
          addressId: 'a1',
          tokenId: 't1',
          txHash: '0xd1',
          index: 2,
          fromAddress: '0xF1',
        },
        quarantine_key,
      })),
    },
    {
      statement: `update wallet_events set quarantine_key = 'v1 a1 t1 0xd1 2 2000' where id = 'e3'`,
      refusedBy: 'wallet_events_quarantined_once',
    },
    indexes('wallet_events_quarantined', 'wallet_events_not_credited')('wallet_events_not_credited'),
    insertEntry('deposit', 'd9', 'ledger_entries_credit_max', '2e77'),
  ],
  '0023-address-poisoning': [
    {
      query: 'select vault_id, user_id, address_key from paid_recipients order by user_id',
      finds: ['u1', 'u2'].map((user_id) => ({ vault_id: 'v1', user_id, address_key: '0xpaid' })),
    },
  ],
  '0024-sign-in': [
    { query: 'select sender from sign_in_attempts', finds: [{ sender: '203.0.113.7' }] },
    indexes('sign_in_attempts_ip', 'sign_in_attempts_sender', 'sign_in_attempts_email')('sign_in_attempts_sender'),
  ],
  '0029-people': [
    {
      query: `select vault_id, code, name, is_system, id ~ '^c[0-9a-z]{24}$' as is_new from policy_groups
        where code like 'auditors%' order by vault_id, code`,
      finds: [
        { vault_id: 'v1', code: 'auditors', name: 'Auditors', is_system: true, is_new: true },
        { vault_id: 'v1', code: 'auditors-g2', name: 'Ours', is_system: false, is_new: false },
        { vault_id: 'v2', code: 'auditors', name: 'Auditors', is_system: true, is_new: true },
      ],
    },
    // Members of a group that a customer created and named `auditors` read no more than before.
    { query: "select is_auditor('v1', 'u2') as is_auditor", finds: [{ is_auditor: false }] },
  ],
  '0031-reading': [indexes('operations_ordered_feed', 'operations_velocity_initiator')('operations_ordered_feed')],
  '0032-payouts': [
    insertNotification('payout', 'approval_needed', null),
    insertNotification('nonsense', 'approval_needed', 'notifications_subject_type_check'),
    indexes('transfers_external_id', 'transfers_payout_row')('transfers_external_id', 'transfers_payout_row'),
  ],
  '0037-replaced-transactions': [
    insertNotification('transfer', 'stuck', null),
    insertNotification('transfer', 'nonsense', 'notifications_kind_check'),
  ],
  '0033-payouts-in-lists': [
    indexes(
      'payouts_asked_feed',
      'payouts_of_initiator',
      'transfers_asked_feed',
    )('payouts_asked_feed', 'transfers_asked_feed'),
    {
      query:
        "select indexdef like '%payout_id IS NULL%' as is_bare from pg_indexes where indexname = 'transfers_asked_feed'",
      finds: [{ is_bare: true }],
    },
    {
      query: "select prosrc like '%join payouts%' as knows_payouts from pg_proc where proname = 'log_vote_changes'",
      finds: [{ knows_payouts: true }],
    },
    {
      query: "select tgname from pg_trigger where tgrelid = 'payouts'::regclass and not tgisinternal order by 1",
      finds: [{ tgname: 'payouts_log_insert' }, { tgname: 'payouts_log_update' }],
    },
  ],
  '0039-holds': [
    insertEntry('hold', 'h9', 'ledger_entries_sides_of_kind'),
    insertEntry('nonsense', 'h9', 'ledger_entries_kind_check'),
  ],
  '0041-people-who-leave': [
    insertNotification('transfer', 'quorum_lost', null),
    insertNotification('transfer', 'nonsense', 'notifications_kind_check'),
  ],
  '0042-watching': [
    insertNotification('transfer', 'stuck', null),
    insertNotification('transfer', 'quorum_lost', null),
    insertNotification('transfer', 'nonsense', 'notifications_kind_check'),
  ],
  '0043-resolved-events': [
    insertEntry('correct', 'd9', null),
    insertEntry('settle', 'd9', 'ledger_entries_sides_of_kind'),
    insertEntry('nonsense', 'd9', 'ledger_entries_kind_check'),
    ...[null, 'wallet_events_outcome_check'].map((refusedBy) => ({
      statement: `insert into wallet_events (id, received_at, body, outcome)
        values ('e99', now(), '{}', '${refusedBy === null ? 'dismissed' : 'nonsense'}')`,
      refusedBy,
    })),
    {
      query:
        "select pg_get_triggerdef(oid) like '%amount%' as follows from pg_trigger where tgname = 'operations_keep_rate'",
      finds: [{ follows: true }],
    },
  ],
  '0050-passkeys': [
    insertPasskey('AQ', null),
    insertPasskey('', 'passkeys_credential_id_check'),
    ...(['passkey', 'nonsense'] as const).map((method) => ({
      statement: `update sessions set method = '${method}' where id = 's1'`,
      refusedBy: method === 'passkey' ? null : 'sessions_method_check',
    })),
  ],
  '0051-orphaned-deposits': [
    insertEntry('orphan_return', 'x9', null),
    insertEntry('orphan', 'x9', 'ledger_entries_sides_of_kind'),
    insertEntry('nonsense', 'x9', 'ledger_entries_kind_check'),
    insertNotification('deposit', 'orphaned', null),
    insertNotification('nonsense', 'orphaned', 'notifications_subject_type_check'),
    insertNotification('deposit', 'nonsense', 'notifications_kind_check'),
    ...[null, 'wallet_events_outcome_check'].map((refusedBy) => ({
      statement: `insert into wallet_events (id, received_at, body, outcome)
        values ('e99', now(), '{}', '${refusedBy === null ? 'orphaned' : 'nonsense'}')`,
      refusedBy,
    })),
    { statement: "update operations set status = 'failed' where id = 'd1'", refusedBy: null },
    { statement: "update operations set status = 'pending' where id = 'd1'", refusedBy: 'operations_deposit_status' },
    { statement: "update ledger_accounts set exposure = 5 where purpose = 'available'", refusedBy: null },
    { statement: 'update ledger_accounts set exposure = -1', refusedBy: 'ledger_accounts_exposure' },
    { query: 'select distinct occurrence, orphaned_at from deposits', finds: [{ occurrence: 0, orphaned_at: null }] },
  ],
  '0045-screening': [
    { query: 'select id, origin from holds', finds: [{ id: 'h1', origin: 'people' }] },
    insertHolds(['people', 'people'], 'holds_active'),
    insertHolds(['people', 'screening'], null),
    {
      query: `select indexdef like '%WHERE%' as leaves_out from pg_indexes where indexname = 'holds_newest'`,
      finds: [{ leaves_out: true }],
    },
  ],
  '0068-holds-of-people': [
    { query: 'select id, ends_at from holds', finds: [{ id: 'h1', ends_at: null }] },
    endHold('ends_at = now()', 'holds_of_people'),
    endHold("confirmed_by_id = 'u2'", 'holds_confirmed'),
    endHold("confirmed_at = now(), confirmed_by_id = 'u1'", 'holds_by_two'),
    endHold("confirmed_at = now(), confirmed_by_id = 'u2'", null),
  ],
  '0049-backtests': [insertApprover('group', null), insertApprover('user', 'policy_approvers_threshold_of_group')],
  '0063-signed-payouts': [
    {
      statement: `update signed_votes set subject_type = 'nonsense'`,
      refusedBy: 'signed_votes_subject_type_check',
    },
  ],
  '0060-sealed-ledger': [
    { query: 'select count(*)::int as waiting from ledger_unsealed', finds: [{ waiting: 8 }] },
    { query: 'select format, root from audit_seals', finds: [{ format: 1, root: null }] },
    insertAuditSeal('1', null),
    insertAuditSeal('2', 'audit_seals_signed'),
    insertAuditSeal('default', 'null value in column "format" of relation "audit_seals" violates not-null constraint'),
  ],
  '0064-first-passkeys': [
    insertWaitingKeys(['r8'], null),
    insertWaitingKeys(['r8', 'r9'], 'approval_requests_passkey'),
  ],
  '0066-authority-marks': [
    insertMark('1, null, now()', 'authority_marks_check1'),
    insertMark(`1, repeat('a', 64), null`, 'authority_marks_check'),
    insertMark('null, null, null', null),
    insertMark(`1, repeat('a', 64), now()`, null),
    insertMark('0, null, now()', null),
    {
      statement: `update signed_votes set decision = 'nonsense' where decision = 'initiate'`,
      refusedBy: 'signed_votes_decision_check',
    },
    { statement: `update signed_votes set decision = 'cancel' where decision = 'initiate'`, refusedBy: null },
  ],
  '0076-ledger-totals': [
    {
      // Without the entries that wait, nothing was ever in the accounts but what one of them holds without an entry.
      query: 'select vault_id, available::int, reserved::int from ledger_totals order by vault_id',
      finds: [
        { vault_id: 'v1', available: 0, reserved: 0 },
        { vault_id: 'v2', available: 0, reserved: 5 },
      ],
    },
  ],
  '0082-policies-revised': [
    {
      query: `select count(*)::int as unrevised from policies p
        where not exists (select from rules_heads h where h.vault_id = p.vault_id)`,
      finds: [{ unrevised: 0 }],
    },
  ],
  '0071-bound-to-origin': [
    { query: 'select format from sealing_key', finds: [{ format: 2 }] },
    {
      statement: `update sealing_key set format = 3; update sealing_key set format = 2`,
      refusedBy: 'The format of sealed values never goes back',
    },
    {
      statement: `delete from sealing_key;
        insert into sealing_key (key_id, sealed_at) values (decode('0101010101010101', 'hex'), now())`,
      refusedBy: 'null value in column "format" of relation "sealing_key" violates not-null constraint',
    },
    insertAuditRecord('null', 'audit_records_mac'),
    insertAuditRecord(macUnder('02'), 'an audit record has a MAC under another key than the present one'),
    insertAuditRecord(macUnder('01'), null),
    // Records of before have none until a node has started.
    { query: 'select count(*)::int as without from audit_records where mac is null', finds: [{ without: 5 }] },
    setSealed('02', null),
    setSealed('03', 'wallet_service_secret of vaults is sealed under another key than the present one'),
  ],
}

/** A mark of the vault, with what its wallet service shows since: version, hash and when. */
function insertMark(shown: string, refusedBy: string | null): Check {
  return {
    statement: `insert into authority_marks (vault_id, version, hash, seen_at, shown_version, shown_hash, alarm_since)
      values ('v1', 2, repeat('b', 64), now(), ${shown})`,
    refusedBy,
  }
}

/** The id of the key of which the rows are, or another one, and something in place of the HMAC. */
function macUnder(digits: string): string {
  return `decode(repeat('${digits}', 8) || repeat('00', 32), 'hex')`
}

function insertAuditRecord(mac: string, refusedBy: string | null): Check {
  return {
    statement: `insert into audit_records (chain, id, action, target_type, created_at, content, hash, mac)
      values ('v1', 'x9', 'x.y', 'x', now(), '', '', ${mac})`,
    refusedBy,
  }
}

/** A secret of the wallet service in this format. */
function setSealed(format: string, refusedBy: string | null): Check {
  return {
    statement: `update vaults set wallet_service_secret = decode('${format}' || repeat('01', 8), 'hex') where id = 'v1'`,
    refusedBy,
  }
}

/** A seal without a signature, of this format. */
function insertAuditSeal(format: string, refusedBy: string | null): Check {
  return {
    statement: `insert into audit_seals (chain, sequence, format, previous_hash, record_ids, record_hashes, hash, sealed_at)
      values ('v1', 9, ${format}, '', '{}', '{}', '', now())`,
    refusedBy,
  }
}

/** An approver of this kind with a threshold of their own. */
function insertApprover(kind: 'user' | 'group', refusedBy: string | null): Check {
  return {
    statement: `insert into policy_approvers (vault_id, id, policy_id, kind, ${kind}_id, threshold, created_at)
      values ('v1', 'q9', 'p1', '${kind}', '${kind === 'user' ? 'u1' : 'g1'}', 2, now())`,
    refusedBy,
  }
}

function rates(...found: number[]): { rate: number }[] {
  return found.map((rate) => ({ rate }))
}

/** For indexes that a migration creates and drops: those that exist afterwards. */
function indexes(...names: string[]) {
  return (...kept: string[]): Check => ({
    query: `select indexname from pg_indexes where indexname in (${names.map((name) => `'${name}'`).join()}) order by 1`,
    finds: kept.map((indexname) => ({ indexname })),
  })
}

function insertPasskey(credentialId: string, refusedBy: string | null): Check {
  return {
    statement: `insert into passkeys (id, user_id, credential_id, public_key, signatures, transports, is_synced, name, created_at)
      values ('k1', 'u1', '${credentialId}', 'key', 0, '{internal}', false, 'Phone', now())`,
    refusedBy,
  }
}

/** Requests of one person to have a first passkey accepted. */
function insertWaitingKeys(ids: string[], refusedBy: string | null): Check {
  const rows = ids.map(
    (id) => `('v1', '${id}', 'passkey_add', 'pending', 'u2', '[]', 'h', '[]', 1, now(), now(), now())`,
  )
  return {
    statement: `insert into approval_requests (vault_id, id, action, status, initiator_id, steps, payload_hash, decision,
      approval_threshold, expires_at, created_at, updated_at) values ${rows.join(', ')}`,
    refusedBy,
  }
}

/** An end or a confirmation of a hold that `u1` placed on a counterparty. */
function endHold(change: string, refusedBy: string | null): Check {
  return { statement: `update holds set ${change} where id = 'h1'`, refusedBy }
}

/** Active holds of these origins on one deposit. */
function insertHolds(origins: string[], refusedBy: string | null): Check {
  const rows = origins.map((origin, i) => `('v1', 'h9${i}', 'deposit', 'd1', '${origin}', 'Wait', 0, now())`)
  return {
    statement: `insert into holds (vault_id, id, subject_type, subject_id, origin, reason, reserved, created_at)
      values ${rows.join(', ')}`,
    refusedBy,
  }
}

function insertNotification(subjectType: string, kind: string, refusedBy: string | null): Check {
  return {
    statement: `insert into notifications (vault_id, subject_id, subject_type, user_id, kind, created_at)
      values ('v1', 'l1', '${subjectType}', 'u1', '${kind}', now())`,
    refusedBy,
  }
}

/** An entry of the second vault for an operation that may have one in the first. */
function insertEntry(kind: string, operationId: string, refusedBy: string | null, balance = '8'): Check {
  return {
    statement: `insert into ledger_entries
        (vault_id, kind, token_id, operation_id, credit_account, amount, credit_balance, created_at)
      values ('v2', '${kind}', 't1', '${operationId}', 6, 1, ${balance}, now())`,
    refusedBy,
  }
}
