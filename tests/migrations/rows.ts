import { createHash } from 'node:crypto'
import { canonicalJson } from '../../server/src/lib/canonical-json.ts'

type Row = Record<string, unknown>
/** Tables with rows to insert, in the order of their references. */
export type Rows = [table: string, rows: Row[]][]

/** The last migration of version 0.1.0. No database in use is older. */
export const firstRelease = '0010-notifications'

const at = '2026-02-01T10:00:00.000Z'
const times = { created_at: at, updated_at: at }
const minute = (number: number) => `2026-02-01T10:${String(number).padStart(2, '0')}:00.000Z`
const sha256 = (text: string) => createHash('sha256').update(text).digest()

type AuditEntry = { id: string; actorId: string; action: string; targetType: string; targetId: string; details: object }

function auditRow({ id, actorId, action, targetType, targetId, details }: AuditEntry): Row {
  const content = canonicalJson({
    id,
    chain: 'v1',
    actorId,
    action,
    targetType,
    targetId,
    createdAt: new Date(at),
    details,
  })
  return {
    chain: 'v1',
    id,
    actor_id: actorId,
    action,
    target_type: targetType,
    target_id: targetId,
    created_at: at,
    content,
    hash: sha256(content),
  }
}

function orderOf(transferId: string, recipient: string, amount: string) {
  const payload = {
    transferId,
    vaultId: 'v1',
    initiatorId: 'u2',
    fromAddressId: 'a1',
    fromAddress: '0xA1',
    network: 'ethereum',
    coinType: 60,
    derivationPath: "m/44'/60'/0'",
    toAddress: recipient,
    tokenId: 't1',
    contractAddress: null,
    amount,
  }
  // As decimal text, without zeros at its end.
  const facts = {
    destination: { key: recipient.toLowerCase() },
    token: { code: 'ETH' },
    amount: `0.000${amount.replace(/0+$/, '')}`,
  }
  const payloadHash = sha256(canonicalJson(payload))
  return {
    transfer: {
      vault_id: 'v1',
      id: transferId,
      to_address: recipient,
      to_address_key: recipient.toLowerCase(),
      payload,
      payload_hash: payloadHash,
      decision: { effect: 'allow', facts },
      phase: 'done',
      created_at: at,
    },
    requested: {
      actorId: 'u2',
      action: 'transfer.requested',
      targetType: 'transfer',
      targetId: transferId,
      details: {
        status: 'pending',
        payload,
        payloadHash: payloadHash.toString('hex'),
        decision: 'allow',
        counterpartyId: null,
        bypassed: [],
      },
    },
  }
}

const paid = orderOf('x1', '0xPaid', '300')
const cancelled = orderOf('x2', '0xNever', '200')

const requestHash = sha256(
  canonicalJson({ requestId: 'r1', vaultId: 'v1', initiatorId: 'u2', action: 'create_address', steps: [] }),
)

const payoutHash = sha256('payout')

const auditRows = [
  auditRow({ id: 'l1', ...paid.requested }),
  auditRow({
    id: 'l2',
    actorId: 'u2',
    action: 'transfer.confirmed',
    targetType: 'transfer',
    targetId: 'x1',
    details: { from: 'pending', to: 'confirmed' },
  }),
  auditRow({ id: 'l3', ...cancelled.requested }),
  auditRow({
    id: 'l4',
    actorId: 'u2',
    action: 'transfer.cancelled',
    targetType: 'transfer',
    targetId: 'x2',
    details: { from: 'pending', to: 'cancelled' },
  }),
  auditRow({
    id: 'l5',
    actorId: 'u2',
    action: 'approval_request.created',
    targetType: 'approval_request',
    targetId: 'r1',
    details: { payloadHash: requestHash.toString('hex') },
  }),
]
const sealed = auditRows.slice(0, 2)
const sealText = canonicalJson({
  chain: 'v1',
  sequence: 1,
  previousHash: '00'.repeat(32),
  records: sealed.map(({ id, hash }) => ({ id, hash: (hash as Buffer).toString('hex') })),
  sealedAt: new Date(at),
})

/** A vault of two users that received, paid, cancelled, adjusted and requested, as version 0.1.0 stored it. */
const firstReleaseRows: Rows = [
  [
    'users',
    [
      { id: 'u1', email: 'owner@example.org', name: 'Owner', is_platform_admin: true, ...times },
      { id: 'u2', email: 'initiator@example.org', name: 'Initiator', ...times },
      { id: 'u3', kind: 'service', name: 'Books', ...times },
    ],
  ],
  [
    'sessions',
    [
      {
        id: 's1',
        token_hash: sha256('session'),
        user_id: 'u1',
        created_at: at,
        last_seen_at: at,
        expires_at: minute(30),
        ends_at: minute(59),
      },
    ],
  ],
  ['magic_links', [{ token_hash: sha256('link'), email: 'owner@example.org', created_at: at, expires_at: minute(15) }]],
  ['sign_in_attempts', [{ email_hash: sha256('owner@example.org'), ip: '203.0.113.7', attempted_at: at }]],
  [
    'networks',
    [{ id: 'n1', coin_type: 60, code: 'ethereum', slug: 'ethereum', name: 'Ethereum', type: 'evm', ...times }],
  ],
  [
    'tokens',
    [
      {
        id: 't1',
        network_id: 'n1',
        code: 'ETH',
        symbol: 'ETH',
        name: 'Ether',
        contract_key: '',
        decimals: 6,
        ...times,
      },
    ],
  ],
  [
    'vaults',
    ['v1', 'v2'].map((id) => ({
      id,
      code: `vault-${id}`,
      name: id,
      wallet_service_url: 'https://wallet.test',
      ...times,
    })),
  ],
  ['vault_networks', ['v1', 'v2'].map((vault_id) => ({ vault_id, network_id: 'n1', position: 0 }))],
  ['routes', [{ vault_id: 'v1', id: 'o1', position: 0, code: 'index', name: 'Index', dynamic: true, ...times }]],
  ['variants', [{ vault_id: 'v1', id: 'w1', route_id: 'o1', path_id: 0, code: 'first', name: 'First', ...times }]],
  [
    'addresses',
    [
      ['v1', 'a1', 'u1'],
      ['v1', 'a2', 'u2'],
      ['v2', 'a3', 'u1'],
    ].map(([vault_id, id, owner_id], index) => ({
      vault_id,
      id,
      network_id: 'n1',
      address: `0x${id!.toUpperCase()}`,
      address_key: `0x${id}`,
      derivation_path: `m/44'/60'/${index}'`,
      static_prefix: "m/44'/60'",
      path_index: index,
      segments: '[]',
      owner_id,
      ...times,
    })),
  ],
  ['policy_groups', [{ vault_id: 'v1', id: 'g1', code: 'treasury', name: 'Treasury', ...times }]],
  ['policy_group_memberships', [{ vault_id: 'v1', id: 'm1', group_id: 'g1', user_id: 'u1', created_at: at }]],
  [
    'policies',
    [
      {
        vault_id: 'v1',
        id: 'p1',
        group_id: 'g1',
        code: 'all',
        name: 'All',
        action_type: 'transfer',
        effect: 'allow',
        ...times,
      },
    ],
  ],
  ['policy_approvers', [{ vault_id: 'v1', id: 'q1', policy_id: 'p1', kind: 'user', user_id: 'u1', created_at: at }]],
  [
    'approval_requirements',
    [
      {
        vault_id: 'v1',
        subject_id: 'r1',
        policy_id: 'p1',
        policy_code: 'all',
        policy_name: 'All',
        threshold: 1,
        allow_initiator: false,
        created_at: at,
      },
    ],
  ],
  ['approval_voters', [{ vault_id: 'v1', id: 'b1', subject_id: 'r1', user_id: 'u1', created_at: at }]],
  ['approval_eligibilities', [{ vault_id: 'v1', subject_id: 'r1', user_id: 'u1', policy_id: 'p1' }]],
  [
    'invitations',
    [
      {
        vault_id: 'v1',
        id: 'i1',
        email: 'new@example.org',
        token_hash: sha256('invitation'),
        token_sealed: sha256('sealed'),
        created_by_id: 'u1',
        ...times,
      },
    ],
  ],
  ['invitation_groups', [{ vault_id: 'v1', id: 'j1', invitation_id: 'i1', group_id: 'g1', created_at: at }]],
  [
    'service_tokens',
    [
      {
        vault_id: 'v1',
        id: 'k1',
        user_id: 'u3',
        name: 'Books',
        token_hash: sha256('token'),
        created_by_id: 'u1',
        created_at: at,
      },
    ],
  ],
  // Their numbers are 1 to 6, in this order.
  [
    'ledger_accounts',
    [
      ['v1', 'a1', 'available', '690'],
      ['v1', 'a1', 'reserved', '0'],
      ['v1', 'a2', 'available', '50'],
      ['v1', 'a2', 'reserved', '0'],
      ['v1', '', 'external', null],
      ['v2', 'a3', 'available', '7'],
    ].map(([vault_id, address_id, purpose, balance], index) => ({
      vault_id,
      id: `c${index + 1}`,
      token_id: 't1',
      address_id,
      purpose,
      balance,
      created_at: at,
    })),
  ],
  [
    'ledger_entries',
    [
      { kind: 'deposit', operation_id: 'd1', credit_account: 1, amount: '1000', credit_balance: '1000', minute: 1 },
      {
        kind: 'reserve',
        operation_id: 'x1',
        debit_account: 1,
        credit_account: 2,
        amount: '300',
        debit_balance: '700',
        credit_balance: '300',
        minute: 2,
      },
      { kind: 'settle', operation_id: 'x1', debit_account: 2, amount: '300', debit_balance: '0', minute: 3 },
      { kind: 'fee', operation_id: 'x1', debit_account: 1, amount: '10', debit_balance: '690', minute: 3 },
      {
        kind: 'reserve',
        operation_id: 'x2',
        debit_account: 1,
        credit_account: 2,
        amount: '200',
        debit_balance: '490',
        credit_balance: '200',
        minute: 4,
      },
      {
        kind: 'release',
        operation_id: 'x2',
        debit_account: 2,
        credit_account: 1,
        amount: '200',
        debit_balance: '0',
        credit_balance: '690',
        minute: 5,
      },
      { kind: 'adjust', operation_id: 'y1', credit_account: 3, amount: '50', credit_balance: '50', minute: 6 },
      {
        vault_id: 'v2',
        kind: 'deposit',
        operation_id: 'd2',
        credit_account: 6,
        amount: '7',
        credit_balance: '7',
        minute: 7,
      },
    ].map(({ minute: posted, ...entry }) => ({ vault_id: 'v1', token_id: 't1', created_at: minute(posted), ...entry })),
  ],
  [
    'adjustments',
    [
      {
        vault_id: 'v1',
        id: 'y1',
        address_id: 'a2',
        token_id: 't1',
        amount: '50',
        reason: 'Opening balance',
        created_by_id: 'u1',
        created_at: minute(6),
      },
    ],
  ],
  [
    'operations',
    [
      { id: 'd1', type: 'deposit', status: 'confirmed', amount: '1000', tx_hash: '0xd1' },
      { id: 'x1', type: 'transfer', status: 'confirmed', amount: '300', initiator_id: 'u2', tx_hash: '0xe1' },
      { id: 'x2', type: 'transfer', status: 'cancelled', amount: '200', initiator_id: 'u2' },
      {
        vault_id: 'v2',
        id: 'd2',
        type: 'deposit',
        status: 'confirmed',
        amount: '7',
        address_id: 'a3',
        tx_hash: '0xd2',
      },
    ].map((operation) => ({
      vault_id: 'v1',
      address_id: 'a1',
      owner_id: 'u1',
      network_id: 'n1',
      token_id: 't1',
      flow_type: 'external',
      ...times,
      ...operation,
    })),
  ],
  ['transfers', [{ ...paid.transfer, fee: '10', fee_token_id: 't1', fee_posted: true }, cancelled.transfer]],
  [
    'deposits',
    [
      {
        vault_id: 'v1',
        id: 'd1',
        address_id: 'a1',
        token_id: 't1',
        tx_hash: '0xd1',
        tx_index: 2,
        from_address: '0xF1',
      },
      { vault_id: 'v2', id: 'd2', address_id: 'a3', token_id: 't1', tx_hash: '0xd2' },
    ].map((deposit) => ({ ...deposit, created_at: at })),
  ],
  [
    'wallet_events',
    [
      { id: 'e1', outcome: 'credited', vault_id: 'v1', deposit_id: 'd1' },
      // The same contradiction was received twice: another amount for a credited deposit.
      { id: 'e2', outcome: 'quarantined', vault_id: 'v1', deposit_id: 'd1', quarantined: { amount: '2000' } },
      { id: 'e3', outcome: 'quarantined', vault_id: 'v1', deposit_id: 'd1', quarantined: { amount: '2000' } },
      { id: 'e4', outcome: 'unmatched', network: 'ethereum', address_key: '0xnobody' },
    ].map((event) => ({ received_at: at, body: '{}', ...event })),
  ],
  ['audit_records', auditRows.map((row, index) => ({ ...row, seal_sequence: index < sealed.length ? 1 : null }))],
  [
    'audit_seals',
    [
      {
        chain: 'v1',
        sequence: 1,
        previous_hash: Buffer.alloc(32),
        record_ids: sealed.map(({ id }) => id),
        record_hashes: sealed.map(({ hash }) => hash),
        hash: sha256(sealText),
        sealed_at: at,
      },
    ],
  ],
  [
    'idempotency_keys',
    [{ caller_id: 'u1', key: 'k', fingerprint: sha256('f'), status: 201, body: sha256('b'), created_at: at }],
  ],
  [
    'token_rates',
    [
      // Two rates with the same timestamp, which version 0.1.0 allowed; the second was recorded last.
      { token_id: 't1', as_of: minute(1), source: 'provider', usd_rate: '2000', created_at: minute(1) },
      { token_id: 't1', as_of: minute(1), source: 'manual', usd_rate: '2001', created_at: minute(2) },
      { token_id: 't1', as_of: minute(3), source: 'provider', usd_rate: '2003', created_at: minute(3) },
    ],
  ],
  ['counterparties', [{ vault_id: 'v1', id: 'z1', name: 'Supplier', kind: 'company', created_by_id: 'u1', ...times }]],
  [
    'counterparty_addresses',
    [
      {
        vault_id: 'v1',
        id: 'z2',
        counterparty_id: 'z1',
        network_id: 'n1',
        address: '0xSupplier',
        address_key: '0xsupplier',
        created_at: at,
      },
    ],
  ],
  ['counterparty_groups', [{ vault_id: 'v1', id: 'z3', code: 'suppliers', name: 'Suppliers', ...times }]],
  ['counterparty_group_memberships', [{ vault_id: 'v1', group_id: 'z3', counterparty_id: 'z1', created_at: at }]],
  [
    'approval_requests',
    [
      {
        vault_id: 'v1',
        id: 'r1',
        action: 'create_address',
        status: 'pending',
        initiator_id: 'u2',
        steps: '[]',
        payload_hash: requestHash,
        decision: '[]',
        approval_threshold: 1,
        expires_at: minute(50),
        ...times,
      },
    ],
  ],
  [
    'notifications',
    [
      {
        vault_id: 'v1',
        subject_id: 'r1',
        subject_type: 'approval_request',
        user_id: 'u1',
        kind: 'approval_needed',
        created_at: at,
      },
    ],
  ],
]

/** The rows of later tables, by the migration after which they are inserted. */
export const rowsAfter: Record<string, Rows> = {
  [firstRelease]: firstReleaseRows,
  '0011-sharing': [
    ['address_grants', [grant({ id: 'h1', address_id: 'a1', subject_type: 'user', subject_id: 'u2' })]],
    [
      'address_groups',
      ['f1', 'f2'].map((id) => ({ vault_id: 'v1', id, name: `Folder ${id}`, created_by_id: 'u1', ...times })),
    ],
    ['address_group_members', [{ vault_id: 'v1', group_id: 'f1', address_id: 'a1', created_at: minute(8) }]],
    ['address_group_grants', [grant({ id: 'h2', group_id: 'f1', subject_type: 'group', subject_id: 'g1' })]],
  ],
  '0012-categories': [
    [
      'operation_categories',
      [
        {
          vault_id: 'v1',
          id: 'y2',
          key: 'payroll',
          name: 'Payroll',
          applies_to: 'both',
          view_scope: 'vault_members',
          assign_scope: 'vault_members',
          edit_scope: 'restricted',
          approval_scope: 'none',
          approval_threshold: 0,
          allow_initiator_approval: false,
          created_by_id: 'u1',
          updated_by_id: 'u1',
          ...times,
        },
      ],
    ],
    [
      'category_fields',
      [
        {
          vault_id: 'v1',
          id: 'y3',
          category_id: 'y2',
          key: 'cost_center',
          label: 'Cost center',
          type: 'text',
          required: false,
          sensitive: false,
          order_index: 0,
          ...times,
        },
      ],
    ],
    [
      'category_grants',
      [
        {
          vault_id: 'v1',
          id: 'y4',
          category_id: 'y2',
          subject_type: 'user',
          subject_id: 'u2',
          can_view: true,
          can_assign: true,
          can_edit: false,
          grantor_id: 'u1',
          created_at: at,
        },
      ],
    ],
    [
      'category_approvers',
      [{ vault_id: 'v1', id: 'y5', category_id: 'y2', kind: 'user', user_id: 'u1', created_at: at }],
    ],
    [
      'category_assignments',
      [
        {
          vault_id: 'v1',
          id: 'y6',
          operation_id: 'x1',
          operation_type: 'transfer',
          operation_created_at: at,
          category_id: 'y2',
          values: { cost_center: '100' },
          assigned_by_id: 'u2',
          ...times,
        },
      ],
    ],
    [
      'operation_relations',
      [
        {
          vault_id: 'v1',
          id: 'y7',
          source_operation_type: 'transfer',
          source_operation_id: 'x1',
          source_address_id: 'a1',
          target_operation_type: 'deposit',
          target_operation_id: 'd1',
          relation_type: 'refund',
          related_amount: '300',
          token_id: 't1',
          created_by_id: 'u1',
          created_at: at,
        },
      ],
    ],
    ['operation_relation_readers', [{ vault_id: 'v1', user_id: 'u1', relation_created_at: at, relation_id: 'y7' }]],
  ],
  '0015-report-exports': [
    [
      'report_exports',
      [
        {
          vault_id: 'v1',
          id: 'y8',
          requester_id: 'u1',
          report_type: 'asset_movement',
          format: 'csv',
          parameters: {},
          state: 'done',
          percent: 100,
          size_bytes: 3,
          created_at: at,
          expires_at: minute(40),
        },
      ],
    ],
    ['report_export_chunks', [{ vault_id: 'v1', export_id: 'y8', attempt: 1, position: 0, bytes: Buffer.from('a,b') }]],
  ],
  '0020-announcements': [
    ['announcements', [{ chain: 'v1', audit_record_id: 'l1', content: 'A rule was changed', created_at: at }]],
  ],
  '0070-platform-changes': [
    [
      'platform_changes',
      [
        {
          id: 'pc1',
          action: 'token_update',
          target_id: 't1',
          payload: '{}',
          status: 'held',
          created_by_id: 'u1',
          created_at: at,
        },
      ],
    ],
  ],
  '0021-held-rates': [
    [
      'held_rates',
      [
        {
          id: 'y9',
          token_id: 't1',
          as_of: minute(9),
          source: 'provider',
          usd_rate: '9000',
          status: 'held',
          created_at: at,
        },
      ],
    ],
  ],
  '0024-sign-in': [
    ['known_devices', [{ device_hash: sha256('device'), user_id: 'u1', last_seen_at: at }]],
    ['failed_redemptions', [{ sender: '203.0.113.7', failed_at: at }]],
  ],
  '0032-payouts': [
    [
      'payouts',
      [
        {
          vault_id: 'v1',
          id: 'pay1',
          initiator_id: 'u2',
          status: 'approved',
          rows_count: 1,
          sums: '[]',
          payload_hash: payoutHash,
          decision: '{}',
          ...times,
        },
      ],
    ],
  ],
  '0026-queued-mails': [
    ['queued_mails', [{ id: 'q1', request: { kind: 'new_device' }, created_at: at, attempts: 0, next_attempt_at: at }]],
    // People may have made a group of the code that a later version gives to a group of its own.
    ['policy_groups', [{ vault_id: 'v1', id: 'g2', code: 'auditors', name: 'Ours', ...times }]],
    ['policy_group_memberships', [{ vault_id: 'v1', id: 'm2', group_id: 'g2', user_id: 'u2', created_at: at }]],
  ],
  '0029-people': [['user_preferences', [{ user_id: 'u1', preferences: { columns: ['amount'] }, updated_at: at }]]],
  '0030-inbox': [['changes', [{ vault_id: 'v1', kind: 'transfer', id: 'c1' }]]],
  '0034-explorers-and-verifications': [
    [
      'ledger_verifications',
      [
        {
          vault_id: 'v1',
          id: 'lv1',
          requester_id: 'u1',
          state: 'done',
          findings: '[]',
          created_at: at,
          finished_at: at,
        },
      ],
    ],
  ],
  '0035-images': [
    [
      'images',
      [
        {
          key: sha256('image').toString('hex'),
          vault_id: null,
          subject_type: 'user',
          subject_id: 'u1',
          media_type: 'image/png',
          content: Buffer.from('89504e470d0a1a0a', 'hex'),
          created_at: at,
        },
      ],
    ],
  ],
  '0039-holds': [
    [
      'holds',
      [
        {
          vault_id: 'v1',
          id: 'h1',
          subject_type: 'counterparty',
          subject_id: 'cp1',
          reason: 'On a list',
          placed_by_id: 'u1',
          created_at: at,
          released_at: at,
          released_by_id: 'u1',
          release_reason: 'Off the list',
        },
      ],
    ],
  ],
  '0045-screening': [
    [
      'screenings',
      [
        {
          vault_id: 'v1',
          subject_type: 'deposit',
          subject_id: 'd1',
          id: 'sc1',
          verdict: 'allow',
          score: 5,
          reference: 'case-1',
          asked_at: at,
          answered_at: at,
          attempts: 1,
          created_at: at,
        },
      ],
    ],
  ],
  '0047-rules-versions': [
    ['rules_heads', [{ vault_id: 'v1', number: 1 }]],
    [
      'rules_versions',
      [{ vault_id: 'v1', number: 1, document: '{}', hash: Buffer.alloc(32), author_id: null, created_at: at }],
    ],
  ],
  '0048-governance': [
    [
      'governance',
      [{ vault_id: 'v1', threshold: 0, loosening_delay_hours: 0, tightening_delay_hours: 0, updated_at: at }],
    ],
    [
      'change_sets',
      [
        {
          vault_id: 'v1',
          id: 'cs1',
          title: 'A change',
          status: 'draft',
          is_direct: false,
          author_id: 'u1',
          base_version: 1,
          changes: '[]',
          document: '{}',
          direction: 'tightening',
          created_at: at,
          updated_at: at,
        },
      ],
    ],
    ['withheld_tokens', [{ vault_id: 'v1', token_id: 't1', created_at: at }]],
  ],
  '0049-backtests': [
    [
      'decisions',
      [{ vault_id: 'v1', id: 'dc1', action: 'transfer', initiator_id: 'u1', decisions: '[]', created_at: at }],
    ],
    [
      'backtests',
      [
        {
          vault_id: 'v1',
          id: 'bt1',
          requester_id: 'u1',
          state: 'done',
          policies: '[]',
          from_at: at,
          to_at: at,
          decisions_count: 1,
          result: {},
          created_at: at,
        },
      ],
    ],
    [
      'backtest_changes',
      [
        {
          vault_id: 'v1',
          backtest_id: 'bt1',
          subject_type: 'decision',
          subject_id: 'dc1',
          change: 'looser',
          created_at: at,
        },
      ],
    ],
  ],
  '0050-passkeys': [
    [
      'passkeys',
      [
        {
          id: 'k0',
          user_id: 'u1',
          credential_id: Buffer.from('credential'),
          public_key: Buffer.from('key'),
          signatures: 0,
          transports: ['internal'],
          is_synced: false,
          name: 'Phone',
          created_at: at,
        },
      ],
    ],
    ['used_passkey_challenges', [{ challenge_hash: sha256('challenge'), expires_at: minute(5) }]],
  ],
  '0051-orphaned-deposits': [
    [
      'deposit_orphans',
      [
        {
          vault_id: 'v1',
          id: 'x1',
          deposit_id: 'd1',
          address_id: 'a1',
          token_id: 't1',
          occurrence: 0,
          amount: '1000',
          taken: '0',
          created_at: at,
          returned_at: at,
        },
      ],
    ],
    [
      'exposure_covers',
      [{ vault_id: 'v1', id: 'k1', address_id: 'a1', token_id: 't1', amount: '1000', created_at: at }],
    ],
  ],
  '0053-sealing-key': [['sealing_key', [{ key_id: Buffer.alloc(8, 1), sealed_at: at }]]],
  '0054-reconciliations': [
    ['reconciliations', [{ vault_id: 'v1', next_at: at }]],
    [
      'reconciliation_differences',
      [{ vault_id: 'v1', address_id: 'a1', token_id: 't1', difference: '-5', first_seen_at: at, seen_at: at }],
    ],
  ],
  '0058-signed-votes': [
    [
      'signed_votes',
      [
        {
          vault_id: 'v1',
          subject_type: 'transfer',
          subject_id: 't1',
          user_id: 'u1',
          decision: 'approve',
          signed_vote: {},
          public_key: Buffer.from('key'),
          rp_id: 'localhost',
          origin: 'http://localhost:8420',
          created_at: at,
        },
      ],
    ],
  ],
  '0059-service-keys': [
    [
      'service_keys',
      [
        {
          vault_id: 'v1',
          id: 'sk1',
          user_id: 'u1',
          name: 'Key',
          public_key: Buffer.from('key'),
          created_by_id: 'u1',
          created_at: at,
        },
      ],
    ],
  ],
  '0060-sealed-ledger': [
    [
      'ledger_seals',
      [
        {
          chain: 'v1',
          sequence: 1,
          format: 2,
          previous_hash: Buffer.alloc(32),
          record_ids: ['1'],
          record_hashes: [Buffer.alloc(32, 1)],
          root: Buffer.alloc(32, 2),
          hash: Buffer.alloc(32, 3),
          public_key: Buffer.alloc(32, 4),
          signature: Buffer.alloc(64, 5),
          sealed_at: at,
        },
      ],
    ],
    ['witnesses', [{ target: 'file:/mnt/witness/heads', due_at: at, next_attempt_at: at }]],
  ],
  '0074-seals-by-time': [
    [
      'transfers',
      [
        { ...paid.transfer, id: 'y1', phase: 'waiting', expires_at: at },
        { ...paid.transfer, id: 'y2', phase: 'waiting', expires_at: at, payout_id: 'p9' },
        { ...paid.transfer, id: 'y3', phase: 'submitting', next_attempt_at: at, attempts: 3 },
        { ...paid.transfer, id: 'y4', phase: 'submitted', next_attempt_at: at },
        { ...paid.transfer, id: 'y5', phase: 'broadcast', next_attempt_at: at, replacement_due: true },
        { ...paid.transfer, id: 'y6', phase: 'halted' },
        { ...paid.transfer, id: 'y7', fee: '10', fee_token_id: 't1' },
      ],
    ],
  ],
  '0061-account-keys': [
    [
      'account_keys',
      [
        {
          vault_id: 'v1',
          derivation_path: 'm/44/60/1',
          network_id: 'n1',
          xpub: 'xpub1',
          challenge: 'c',
          signature: 's',
          created_at: at,
        },
      ],
    ],
  ],
  '0063-signed-payouts': [
    [
      'signed_votes',
      [
        {
          vault_id: 'v1',
          subject_type: 'payout',
          subject_id: 'p1',
          user_id: 'u1',
          decision: 'initiate',
          signed_vote: {},
          public_key: Buffer.from('key'),
          created_at: at,
        },
      ],
    ],
  ],
  '0066-authority-marks': [
    ['authority_marks', [{ vault_id: 'v1', version: 2, hash: 'b'.repeat(64), seen_at: at }]],
    [
      'signed_votes',
      [
        {
          vault_id: 'v1',
          subject_type: 'payout',
          subject_id: 'p1',
          user_id: 'u1',
          decision: 'reject',
          signed_vote: {},
          public_key: Buffer.from('key'),
          created_at: at,
        },
      ],
    ],
    [
      'stops_due',
      [{ vault_id: 'v1', subject_id: 'p1', user_id: 'u1', decision: 'reject', created_at: at, next_attempt_at: at }],
    ],
  ],
  '0075-deliveries': [
    [
      'ledger_accounts',
      [
        {
          vault_id: 'v2',
          id: 'c7',
          token_id: 't1',
          address_id: 'a4',
          purpose: 'reserved',
          balance: '5',
          created_at: at,
        },
      ],
    ],
  ],
  '0078-governance-off': [
    ['policy_groups', [{ vault_id: 'v2', id: 'g3', code: 'treasury', name: 'Treasury', ...times }]],
    [
      'policies',
      [
        {
          vault_id: 'v2',
          id: 'p2',
          group_id: 'g3',
          code: 'all',
          name: 'All',
          action_type: 'transfer',
          effect: 'allow',
          ...times,
        },
      ],
    ],
  ],
  '0080-followings': [['followings', [{ vault_id: 'v1', cursor: 'c', since: at, heard_at: at, ask_at: at }]]],
  '0087-heartbeats': [['heartbeats', [{ node: '00000000-0000-4000-8000-000000000001', at, confirmed_at: at }]]],
  '0089-what-wallets-accepted': [
    ['wallet_marks', [{ vault_id: 'v1', cursor: 'c', compared_at: at }]],
    ['asked_paths', [{ vault_id: 'v1', derivation_path: 'm/44/60/0', asked_at: at }]],
  ],
  '0113-stops-taken-back': [
    [
      'token_rates',
      [{ token_id: 't1', as_of: minute(50), source: 'late', usd_rate: '2100', created_at: '2026-02-01T11:50:00.000Z' }],
    ],
    [
      'ledger_entries',
      [
        {
          vault_id: 'v1',
          kind: 'fee',
          token_id: 't1',
          operation_id: 'x2',
          debit_account: 1,
          amount: '20',
          debit_balance: '670',
          created_at: minute(55),
        },
      ],
    ],
  ],
  '0109-payers-of-fees': [
    [
      'networks',
      [{ id: 'n2', coin_type: 2, code: 'litecoin', slug: 'litecoin', name: 'Litecoin', type: 'other', ...times }],
    ],
  ],
  '0100-identity-providers': [
    [
      'identity_providers',
      [
        {
          id: 'ip1',
          name: 'Corp',
          issuer: 'https://id.example.org',
          client_id: 'strongroom',
          domains: ['example.org'],
          linking: 'mail',
          session_hours: 12,
          status: 'draft',
          created_by_id: 'u1',
          ...times,
        },
      ],
    ],
    ['identity_domains', [{ domain: 'example.org', provider_id: 'ip1' }]],
    [
      'identities',
      [
        {
          issuer: 'https://id.example.org',
          subject: 's1',
          user_id: 'u1',
          linked_via: 'mail',
          linked_at: at,
          last_used_at: at,
        },
      ],
    ],
    [
      'identity_links',
      [
        {
          token_hash: sha256('link'),
          binding_hash: sha256('browser'),
          provider_id: 'ip1',
          email: 'person@example.org',
          identity: {},
          created_at: at,
          expires_at: minute(10),
        },
      ],
    ],
    ['used_provider_answers', [{ answer_hash: sha256('state'), expires_at: minute(20) }]],
  ],
  '0123-enforced-providers': [['break_glass_people', [{ user_id: 'u1', named_at: at }]]],
  '0124-identity-provider-reads': [['identity_provider_reads', [{ provider_id: 'ip1', asked_at: at }]]],
  '0105-directories': [
    [
      'directories',
      [
        {
          id: 'd1',
          name: 'Corp',
          domains: ['example.org'],
          status: 'draft',
          token_hash: sha256('directory'),
          token_expires_at: minute(30),
          created_by_id: 'u1',
          ...times,
        },
      ],
    ],
    ['directory_domains', [{ domain: 'example.org', directory_id: 'd1' }]],
    [
      'directory_people',
      [{ user_id: 'u1', directory_id: 'd1', user_name: 'anna', active: true, attributes: {}, version: 1, ...times }],
    ],
    ['directory_stops', [{ user_id: 'u1', directory_id: 'd1', asked_at: at, held: true }]],
  ],
  '0110-litecoin': [
    [
      'vaults',
      [
        {
          id: 'v17',
          code: 'bound',
          name: 'Bound',
          wallet_service_url: 'https://wallet.test',
          wallet_key: 'key',
          ...times,
        },
      ],
    ],
    ['vault_networks', ['n1', 'n2'].map((network_id, position) => ({ vault_id: 'v17', network_id, position }))],
  ],
  '0106-directory-groups': [
    ['directory_groups', [{ id: 'dg1', directory_id: 'd1', display_name: 'Treasury', version: 1, ...times }]],
    ['directory_group_members', [{ group_id: 'dg1', user_id: 'u1' }]],
  ],
}

function grant(of: Row): Row {
  return { vault_id: 'v1', can_view: true, can_transfer: false, grantor_id: 'u1', created_at: at, ...of }
}
