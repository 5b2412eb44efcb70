import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { disable, findUserIdOf } from '../modules/people/offboarding/offboarding.ts'
import { resetGovernance } from '../modules/rules/governance/reset.ts'
import type { Answer } from '../testing/answer.ts'
import { addMember, createVaultFixture, ensureGroup } from '../testing/fixtures.ts'
import { databaseOf } from '../testing/one-transaction.ts'
import { operate } from '../testing/operated-vault.ts'
import { recordPeople } from '../testing/record-people.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'
import { verifyState } from './verify-state.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
  await operate(bench)
})
afterAll(() => bench.close())

const found = async () => (await verifyState(bench.test.deps.db)).differences
const must = async <Body>(answer: Promise<Answer<Body>>): Promise<Body> => {
  const { status, body } = await answer
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body
}

describe('T57 the rows on which decisions rest', () => {
  it('T57 agree with the audit records after changes of every kind', async () => {
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
      'the approvers of a policy',
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
      'a hold that was moved to another subject',
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
      /not as recorded: email/,
    ],
    [
      'a person who administers the platform',
      [`update users set is_platform_admin = true where email = 'owner@example.org'`],
      'user',
      /not as recorded: platform administration/,
    ],
    [
      'a person who was enabled',
      [`update users set disabled_at = null where email = 'disabled@example.org'`],
      'user',
      /not as recorded: disabling/,
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
      /not as recorded: owner/,
    ],
    [
      'the contract of a token',
      [`update tokens set contract_address = '0x0000000000000000000000000000000000000001' where code = 'USDT'`],
      'token',
      /not as recorded: contract/,
    ],
    [
      'the decimals of a token',
      [`update tokens set decimals = 7 where code = 'USDT'`],
      'token',
      /not as recorded: decimals/,
    ],
    [
      'the address of a counterparty',
      [`update counterparty_addresses set address = '0x0000000000000000000000000000000000000001'`],
      'counterparty',
      /not as recorded: addresses/,
    ],
    [
      'the key of an address of a counterparty',
      [
        `update counterparty_addresses set address_key = '0x0000000000000000000000000000000000000001'
         where ctid = (select min(ctid) from counterparty_addresses)`,
      ],
      'counterparty',
      /not as recorded: keys of addresses/,
    ],
    [
      'a counterparty that came back',
      ['update counterparties set archived_at = null'],
      'counterparty',
      /not as recorded: archived/,
    ],
    [
      'the people who may assign a category',
      [`update operation_categories set assign_scope = 'owner_only'`],
      'operation_category',
      /not as recorded: assignScope/,
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
    [
      'an adjustment that two people did not agree on',
      [`update approval_requests set resolved_result_id = 'another' where action = 'balance_adjust'`],
      'approval_request',
      /its results were changed/,
    ],
    [
      'a grant of a category that nobody gave',
      [
        `insert into category_grants (vault_id, id, category_id, subject_type, subject_id, can_view, can_assign, can_edit,
           grantor_id, created_at)
         select vault_id, 'forged', id, 'user', (select id from users where email = 'owner@example.org'), true, true, false,
           created_by_id, now() from operation_categories`,
      ],
      'operation_category',
      /not as recorded: grants/,
    ],
    [
      'a field that a category no longer demands',
      ['update category_fields set required = false'],
      'operation_category',
      /not as recorded: field \w+/,
    ],
    [
      'a rate that nobody set',
      [
        `insert into token_rates (token_id, as_of, source, usd_rate, created_at)
         select id, now(), 'manual', 9, now() from tokens where code = 'USDT'`,
      ],
      'token_rate',
      /no audit record creates it/,
    ],
    ['a rate', ['update token_rates set usd_rate = 9'], 'token_rate', /not as recorded: rate/],
    [
      'a held rate that nobody confirmed',
      [
        `update held_rates set status = 'confirmed', decided_at = now(), decided_by_id =
           (select id from users where email = 'second@platform.org') where status = 'held'`,
      ],
      'held_rate',
      /not as recorded: status/,
    ],
    [
      'an address in a folder',
      [
        `insert into address_group_members (vault_id, group_id, address_id, created_at)
         select g.vault_id, g.id, a.id, now() from address_groups g join addresses a on a.vault_id = g.vault_id
         on conflict do nothing`,
      ],
      'address_group',
      /not as recorded: addresses/,
    ],
    ['the grants of an address', [`delete from address_grants`], 'address', /not as recorded: grants/],
    [
      'a member of a group of the address book',
      ['delete from counterparty_group_memberships'],
      'counterparty_group',
      /not as recorded: members/,
    ],
    ['a network', [`update networks set slug = 'other'`], 'network', /not as recorded: slug/],
    [
      'the content of a change that two platform administrators agree on',
      [`update platform_changes set payload = '{"symbol": "EVIL"}' where status = 'held'`],
      'platform_change',
      /not as recorded: payload/,
    ],
    ['an answer of the screening', [`update screenings set score = 1`], 'screening', /not as recorded: answer/],
    [
      'a screening that people waived',
      [`update screenings set waived_hold_id = (select min(id) from holds)`],
      'screening',
      /no audit record says that people decided instead/,
    ],
    ['the symbol of a token', [`update tokens set symbol = 'X'`], 'token', /not as recorded: symbol/],
    ['a variant', ['update variants set enabled = not enabled'], 'rules', /not as version \d+ was published/],
    ['a vote', [`update transfers set phase = 'queued' where phase = 'waiting'`], 'transfer', /./],
  ])('T57 names %s', async (_what, statements, targetType, detail) => {
    const differences = await bench.rolledBack(async (query) => {
      await query('set local session_replication_role = replica')
      for (const statement of statements) await query(statement)
      return (await verifyState(databaseOf(query, bench.test.deps.db))).differences
    })
    expect(differences).toContainEqual(expect.objectContaining({ targetType, detail: expect.stringMatching(detail) }))
  })

  it('T57 names a screening beyond the first page', async () => {
    const report = await bench.rolledBack(async (query) => {
      await query('set local session_replication_role = replica')
      await query(`
        insert into screenings (vault_id, subject_type, subject_id, id, verdict, score, reference, answered_at, created_at)
        select v.id, 'transfer', 'x' || n, 'q' || n, case when n = 999 then 'allow' end, case when n = 999 then 1 end,
          case when n = 999 then 'r' end, case when n = 999 then now() end, now()
        from vaults v cross join generate_series(550, 999) n where v.code = '${bench.vault.code}'`)
      return verifyState(databaseOf(query, bench.test.deps.db), ['screenings'])
    })
    expect(report.checked.screenings).toBeGreaterThanOrEqual(450)
    expect(report.differences).toMatchObject([{ targetId: 'x999', detail: 'not as recorded: answer' }])
  })
})

describe('T57 another vault', () => {
  it('T57 is verified by its own audit records', async () => {
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
