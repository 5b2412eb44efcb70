import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { disable, findUserIdOf } from '../modules/people/users/offboarding.ts'
import { resetGovernance } from '../modules/rules/governance/reset.ts'
import type { Answer } from '../testing/answer.ts'
import { Authenticator } from '../testing/authenticator.ts'
import { fakeAddress } from '../testing/fake-wallet.ts'
import { addMember, allowAll, createVaultFixture, ensureGroup } from '../testing/fixtures.ts'
import { recordPeople } from '../testing/record-people.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'
import { verifyState } from './verify-state.ts'

let bench: TransferBench
const base = '/vaults/main-vault'

beforeAll(async () => {
  bench = await createTransferBench()
  await operate()
  await recordPeople(bench.test.deps)
})
afterAll(() => bench.close())

const found = async () => (await verifyState(bench.test.deps.db)).differences
const must = async <Body>(answer: Promise<Answer<Body>>): Promise<Body> => {
  const { status, body } = await answer
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body
}

/** Changes of every kind that is verified, as people make them. */
async function operate(): Promise<void> {
  const { admin } = bench.vault
  const night = await must(admin.post(`${base}/policy-groups`, { code: 'night', name: 'Night' }))
  const gone = await must(admin.post(`${base}/policy-groups`, { code: 'gone', name: 'Gone' }))
  const member = { userId: bench.firstApprover.userId }
  await must(admin.post(`/policy-groups/${night.id}/members`, member))
  await must(admin.delete(`/policy-groups/${night.id}/members/${member.userId}`))
  await must(admin.post(`/policy-groups/${night.id}/members`, member))
  await must(admin.post(`/policy-groups/${gone.id}/members`, member))
  await must(admin.patch(`/policy-groups/${night.id}`, { code: 'late', name: 'Late' }))
  await must(admin.delete(`/policy-groups/${gone.id}`))
  const leaver = await addMember(bench.test, bench.vault, 'leaver@example.org', ['late', 'treasury'])
  await must(admin.delete(`${base}/members/${leaver.userId}`))
  await must(admin.post(`${base}/service-tokens`, { name: 'Robot', groupIds: [night.id] }))

  const policy = { code: 'night-small', name: 'Small', actionType: 'transfer', effect: 'allow' }
  const small = await must(admin.post(`/policy-groups/${night.id}/policies`, policy))
  const approvers = [{ kind: 'user', userId: member.userId }]
  await must(admin.patch(`/policies/${small.id}`, { effect: 'requireApproval', approvalThreshold: 1, approvers }))
  await must(admin.patch(`/policies/${small.id}`, { name: 'Small ones', enabled: false }))
  const other = await must(admin.post(`/policy-groups/${night.id}/policies`, { ...policy, code: 'night-other' }))
  await must(admin.delete(`/policies/${other.id}`))

  await operateRegistries()
  await must(admin.patch(base, { walletServiceSecret: 'another-secret-of-the-wallet', name: 'Main' }))
  await must(admin.patch(base, { walletServiceSecret: bench.vault.wallet.secret }))
  await must(admin.put(`${base}/governance`, { threshold: 0, looseningDelayHours: 4, tighteningDelayHours: 0 }))
  await must(admin.put(`${base}/governance`, { threshold: 0, looseningDelayHours: 0, tighteningDelayHours: 0 }))

  const address = await bench.fundedAddress()
  const hold = { subjectType: 'address', subjectId: address.id, reason: 'Looks wrong' }
  const placed = await must(admin.post(`${base}/holds`, hold))
  const second = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
  const release = await must(admin.post(`${base}/holds/${placed.id}/release`, { reason: 'Checked' }))
  await must(second.post(`${base}/approval-requests/${release.request.id}/approve`))
  const held = await bench.fundedAddress()
  await must(admin.post(`${base}/holds`, { ...hold, subjectId: held.id }))
  await must(admin.put(`${base}/governance`, { threshold: 1, looseningDelayHours: 0, tighteningDelayHours: 0 }))
  const changes = [
    { action: 'policy_group_create', payload: { code: 'shift', name: 'Shift' } },
    { action: 'policy_create', targetId: '$change:0', payload: { ...policy, code: 'shift-pay' } },
  ]
  const draft = await must(admin.post(`${base}/change-sets`, { title: 'Shift', changes }))
  const asked = await must(admin.post(`${base}/change-sets/${draft.id}/submit`))
  await must(second.post(`${base}/approval-requests/${asked.request.id}/approve`))
  const key = new Authenticator()
  const { creation } = await must(bench.owner.post('/users/me/passkeys/options', {}))
  await must(bench.owner.post('/users/me/passkeys', { name: 'Phone', credential: await key.register(creation) }))
  await must(bench.order(address.id, '10'))
  await must(bench.order(address.id, '200'))
}

/** The address book, categories, tokens and people. */
async function operateRegistries(): Promise<void> {
  const { admin } = bench.vault
  for (const action of ['create', 'update', 'archive']) await allowAll(bench.vault, `counterparty_${action}`)
  const at = (name: string) => ({ network: 'ethereum', address: fakeAddress(name) })
  const createParty = (name: string) =>
    must(admin.post(`${base}/counterparties`, { name, kind: 'company', addresses: [at(name), at(`${name} 2`)] }))
  const party = (await createParty('Payee')) as { id: string; addresses: { id: string }[] }
  const archived = (await createParty('Former payee')) as { id: string }
  await must(
    admin.patch(`${base}/counterparties/${party.id}`, {
      name: 'Renamed',
      kind: 'exchange',
      addAddresses: [at('a third')],
      removeAddressIds: [party.addresses[0]!.id],
    }),
  )
  await must(admin.post(`${base}/counterparties/${archived.id}/archive`))
  const category = await must(admin.post(`${base}/operation-categories`, { key: 'salaries', name: 'Salaries' }))
  const categoryId = (category as { id: string }).id
  await must(admin.patch(`${base}/operation-categories/${categoryId}`, { assignScope: 'vault_members', name: 'Pay' }))
  await must(admin.patch(`/tokens/${bench.vault.tokens.usdt.id}`, { enabled: false }))
  await must(admin.patch(`/tokens/${bench.vault.tokens.usdt.id}`, { enabled: true }))
  await recordPeople(bench.test.deps)
  const { userId } = await bench.test.signIn('disabled@example.org')
  await recordPeople(bench.test.deps)
  await must(admin.post(`/users/${userId}/disable`, { reason: 'Left' }))
}

describe('T57 the state of what decides', () => {
  it('T57 is as recorded after changes of every kind', async () => {
    const { checked, differences } = await verifyState(bench.test.deps.db)
    expect(differences).toEqual([])
    for (const [kind, count] of Object.entries(checked)) {
      if (kind !== 'payouts' && kind !== 'addresses') expect(count, kind).toBeGreaterThan(0)
    }
  })

  it.each<[string, string[], string, RegExp]>([
    [
      'the amount of a deposit and of all that follows from it',
      ['update operations set amount = amount + 1 where type = $$deposit$$'],
      'deposit',
      /the wallet event that credits it is of [\d.]+$/,
    ],
    [
      'a deposit at another address',
      [
        `update deposits d set address_id = (select a.id from addresses a where a.id <> d.address_id limit 1)
         where d.id = (select min(id) from deposits)`,
      ],
      'deposit',
      /the wallet event that credits it is for another address/,
    ],
    [
      'a deposit that no wallet service reported',
      [`update wallet_events set outcome = 'duplicate' where id = (select min(id) from wallet_events)`],
      'deposit',
      /no wallet event credits it/,
    ],
    [
      'a membership that nobody gave',
      [
        `insert into policy_group_memberships (vault_id, id, group_id, user_id, created_at)
         select g.vault_id, 'forged', g.id, (select id from users where email = 'owner@example.org'), now()
         from policy_groups g where g.code = 'administrators'`,
      ],
      'membership',
      /is in the group administrators, and not according to the audit records/,
    ],
    [
      'a membership that is gone',
      [
        `delete from policy_group_memberships m using policy_groups g
         where g.vault_id = m.vault_id and g.id = m.group_id and g.code = 'late'`,
      ],
      'membership',
      /its row is gone/,
    ],
    [
      'a group that nobody made',
      [
        `insert into policy_groups (vault_id, id, code, name, created_at, updated_at)
         select id, 'forged', 'forged', 'Forged', now(), now() from vaults`,
      ],
      'policy_group',
      /is in no audit record/,
    ],
    [
      'a policy that nobody made',
      [
        `insert into policies (vault_id, id, group_id, code, name, action_type, effect, rules, created_at, updated_at)
         select vault_id, 'forged', id, 'forged', 'Forged', 'transfer', 'allow', '[]', now(), now()
         from policy_groups where code = 'everyone'`,
      ],
      'policy',
      /it is in no audit record/,
    ],
    [
      'a policy that was enabled',
      [`update policies set enabled = true where code = 'night-small'`],
      'policy',
      /: enabled$/,
    ],
    [
      'the votes that a policy asks for',
      [`update policies set effect = 'allow', approval_threshold = 0 where code = 'night-small'`],
      'policy',
      /: approvalThreshold, effect$/,
    ],
    [
      'who approves',
      [
        `update policy_approvers set user_id = (select id from users where email = 'owner@example.org')
         where user_id is not null`,
      ],
      'policy',
      /: approvers$/,
    ],
    ['a policy that is gone', [`delete from policies where code = 'night-small'`], 'policy', /its row is gone/],
    ['the governance', [`update governance set loosening_delay_hours = 9`], 'governance', /: looseningDelayHours$/],
    [
      'another wallet service',
      [`update vaults set wallet_service_url = 'https://attacker.example.org'`],
      'vault',
      /its wallet service is not the one that was recorded/,
    ],
    [
      'an older secret of the wallet service',
      [
        `alter table vaults disable trigger user`,
        `update vaults set wallet_service_secret = set_byte(wallet_service_secret, 9,
           (get_byte(wallet_service_secret, 9) + 1) % 256)`,
        `alter table vaults enable trigger user`,
      ],
      'vault',
      /the secret of its wallet service is not the one/,
    ],
    [
      'a hold that was released',
      [`update holds set released_at = now(), release_reason = 'None' where released_at is null`],
      'hold',
      /it is released, and not according to its audit records/,
    ],
    [
      'a release that was taken back',
      [
        `update holds set released_at = null, released_by_id = null, release_reason = null where released_at is not null`,
      ],
      'hold',
      /its release was taken back/,
    ],
    [
      'a hold on something else',
      [`update holds set subject_id = 'x' where released_at is null`],
      'hold',
      /on something else/,
    ],
    ['a hold that is gone', [`delete from holds where released_at is null`], 'hold', /its row is gone/],
    [
      'a passkey that nobody added',
      [
        `insert into passkeys (id, user_id, credential_id, public_key, signatures, transports, is_synced, name, created_at)
         select 'forged', id, 'c', 'k', 0, '{}', false, 'Forged', now() from users where email = 'owner@example.org'`,
      ],
      'passkey',
      /no audit record gives it/,
    ],
    [
      'the key of a passkey',
      [`update passkeys set public_key = 'another'`],
      'passkey',
      /its key is not the one that was added/,
    ],
    [
      'the person of a passkey',
      [`update passkeys set user_id = (select id from users where email = 'operator@example.org')`],
      'passkey',
      /and according to the audit records to another/,
    ],
    ['a passkey that is gone', ['delete from passkeys'], 'passkey', /its row is gone/],
    [
      'a version of the rules',
      [
        `update rules_versions v set document = jsonb_set(v.document, '{governance,threshold}', '7')
         from rules_heads h where h.vault_id = v.vault_id and h.number = v.number`,
      ],
      'rules_version',
      /does not have its hash/,
    ],
    [
      'a version of the rules that is gone',
      [`delete from rules_versions v using rules_heads h where h.vault_id = v.vault_id and h.number = v.number`],
      'rules_version',
      /the newest should be/,
    ],
    [
      'the e-mail address of a person',
      [`update users set email = 'thief@example.org' where email = 'owner@example.org'`],
      'user',
      /its email is not what was recorded/,
    ],
    [
      'a person who administers the platform',
      [`update users set is_platform_admin = true where email = 'owner@example.org'`],
      'user',
      /its platform administration is not/,
    ],
    [
      'a person who was enabled',
      [`update users set disabled_at = null where email = 'disabled@example.org'`],
      'user',
      /its disabling is not/,
    ],
    [
      'a person whom nobody created',
      [`insert into users (id, email, name, created_at, updated_at) values ('x', 'x@example.org', 'X', now(), now())`],
      'user',
      /no audit record creates it/,
    ],
    [
      'the owner of an address',
      [`update addresses set owner_id = (select id from users where email = 'first.approver@example.org')`],
      'address',
      /its owner is not what was recorded/,
    ],
    [
      'the contract of a token',
      [`update tokens set contract_address = '0x0000000000000000000000000000000000000001' where code = 'USDT'`],
      'token',
      /its contract is not what was recorded/,
    ],
    ['the decimals of a token', [`update tokens set decimals = 7 where code = 'USDT'`], 'token', /its decimals is not/],
    [
      'the address of a counterparty',
      [`update counterparty_addresses set address = '0x0000000000000000000000000000000000000001'`],
      'counterparty',
      /its addresses is not what was recorded/,
    ],
    [
      'the key of an address of a counterparty',
      [
        `update counterparty_addresses set address_key = '0x0000000000000000000000000000000000000001'
         where ctid = (select min(ctid) from counterparty_addresses)`,
      ],
      'counterparty',
      /its keys of addresses is not what was recorded/,
    ],
    [
      'a counterparty that came back',
      ['update counterparties set archived_at = null'],
      'counterparty',
      /its archived is not what was recorded/,
    ],
    [
      'who may assign a category',
      [`update operation_categories set assign_scope = 'owner_only'`],
      'operation_category',
      /its assignScope is not what was recorded/,
    ],
    [
      'a category that nobody made',
      [
        `insert into operation_categories select (jsonb_populate_record(c, '{"id":"x","key":"x"}')).*
         from operation_categories c limit 1`,
      ],
      'operation_category',
      /no audit record creates it/,
    ],
    ['a vote', [`update transfers set phase = 'queued' where phase = 'waiting'`], 'transfer', /./],
  ])('T57 names %s', async (_what, statements, targetType, detail) => {
    const copies = await snapshot()
    try {
      for (const statement of statements) await bench.sql(`set session_replication_role = replica; ${statement}`)
      expect(await found()).toContainEqual(
        expect.objectContaining({ targetType, detail: expect.stringMatching(detail) }),
      )
    } finally {
      await restore(copies)
    }
    expect(await found()).toEqual([])
  })
})

const tables = [
  'policy_group_memberships',
  'policy_approvers',
  'policies',
  'policy_groups',
  'governance',
  'vaults',
  'holds',
  'passkeys',
  'rules_versions',
  'transfers',
  'operations',
  'deposits',
  'wallet_events',
  'users',
  'addresses',
  'tokens',
  'counterparties',
  'counterparty_addresses',
  'operation_categories',
] as const

/** Copies what a forgery may touch, as the owner of the database. */
async function snapshot(): Promise<string[]> {
  for (const table of tables) {
    await bench.sql(`drop table if exists kept_${table}; create table kept_${table} as select * from ${table}`)
  }
  return [...tables]
}

async function restore(copies: string[]): Promise<void> {
  await bench.sql(
    ['begin', 'set local session_replication_role = replica']
      .concat(copies.map((table) => `delete from ${table}; insert into ${table} select * from kept_${table}`))
      .concat('commit')
      .join('; '),
  )
}

describe('T57 another vault', () => {
  it('T57 is verified by its own records', async () => {
    const other = await createVaultFixture(bench.test, { code: 'other-vault' })
    await ensureGroup(other, 'members')
    const left = ['gone.admin@example.org', 'away.admin@example.org']
    for (const email of ['third.admin@example.org', ...left])
      await addMember(bench.test, other, email, ['administrators'])
    await recordPeople(bench.test.deps)
    const governance = { threshold: 2, looseningDelayHours: 0, tighteningDelayHours: 0 }
    await must(other.admin.put('/vaults/other-vault/governance', governance))
    expect(await found()).toEqual([])
    const now = bench.test.clock.now()
    const platform = { userId: '', reason: 'Left', actorId: null, operator: 'root', now }
    await inTransaction(bench.test.deps.db, async (trx) => {
      for (const email of left) await disable(trx, { ...platform, userId: await findUserIdOf(trx, email) })
    })
    await inTransaction(bench.test.deps.db, (trx) =>
      resetGovernance(trx, { code: 'other-vault', reason: 'Two left', gone: left, operator: 'root', now }),
    )
    expect(await found()).toEqual([])
  })
})
