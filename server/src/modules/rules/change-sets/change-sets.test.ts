import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMemberById } from '../../../access/authenticate.ts'
import { governedOf } from '../../../composition/governed.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { fakeAddress, startFakeWallet } from '../../../testing/fake-wallet.ts'
import { addMember, allowAll, createAddress, createVaultFixture } from '../../../testing/fixtures.ts'
import {
  allowTransfers,
  blockTransfers,
  createGovernanceBench,
  type GovernanceBench,
} from '../../../testing/governance-bench.ts'
import { hashInBrowser } from '../../../testing/hash-in-browser.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { requestAction } from '../approval-requests/request-action.ts'
import { applyDueChangeSets, type Postponed } from './due.ts'
import { updateChangeSetRow } from './queries.ts'
import { rulesExecutor } from './rules-executor.ts'

let bench: GovernanceBench
let count = 0

beforeAll(async () => {
  bench = await createGovernanceBench()
  // A new wallet service is asked for the address.
  await allowAll(bench.vault, 'create_address')
  await createAddress(bench.member)
  await bench.govern()
})
afterAll(() => bench.close())

const hour = 3_600_000
const add = (code = `allow-${++count}`) => ({
  action: 'policy_create',
  targetId: bench.membersId,
  payload: { ...allowTransfers, code, name: code },
})
const hasPolicy = async (code: string) =>
  (await bench.vault.admin.get(`${bench.url}/policies?limit=100`)).body.items.some((policy) => policy.code === code)

/** Sets the governance that a test needs, with the votes that this change needs itself. */
async function settle(settings: object): Promise<void> {
  const response = await bench.govern(settings)
  if (response.status === 200) return
  expect(response.status, JSON.stringify(response.body)).toBe(202)
  for (const admin of bench.admins.slice(1, 3)) await bench.approve(admin, response.body.request.id)
  const { applyAt } = await bench.changeSet(response.body.request.targetId!)
  if (applyAt === null) return
  bench.test.clock.advance(2 * hour)
  await bench.applyDue()
}

/** Submits a change set. Returns its id and the id of its approval request. */
async function submitted(changes = [add()], by = bench.admins[0]!): Promise<{ id: string; requestId: string }> {
  const draft = await bench.draft(changes, by)
  expect(draft.status, JSON.stringify(draft.body)).toBe(201)
  const answer = await bench.submit(draft.body.id, by)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return { id: draft.body.id, requestId: answer.body.request.id }
}

async function approved(changes = [add()]): Promise<{ id: string; requestId: string }> {
  const set = await submitted(changes)
  for (const admin of bench.admins.slice(1, 3)) {
    const { status, body } = await bench.approve(admin, set.requestId)
    expect(status, JSON.stringify(body)).toBe(200)
  }
  return set
}

test('several changes are one decision and one version; a change can refer to the result of an earlier one', async () => {
  const before = await bench.versions()
  const { status, body: draft } = await bench.draft([
    { action: 'policy_group_create', payload: { code: 'night', name: 'Night shift' } },
    { action: 'policy_group_member_add', targetId: '$change:0', payload: { userId: bench.member.userId } },
    { action: 'policy_create', targetId: '$change:0', payload: { ...allowTransfers, code: 'night' } },
  ])
  expect(status, JSON.stringify(draft)).toBe(201)
  expect(draft).toMatchObject({ status: 'draft', direction: 'loosening', changeCount: 3 })
  expect(draft.differences).toMatchObject([
    { kind: 'group', before: null, after: { code: 'night', members: [bench.member.userId] } },
    { kind: 'policy', before: null, after: { code: 'night' } },
  ])
  expect(await bench.versions()).toEqual(before)
  expect(await hasPolicy('night')).toBe(false)

  const { body } = await bench.submit(draft.id)
  expect(body.request.payload).toHaveProperty('changes', draft.changes)
  // The voters are shown differences, and vote on the changes: the request binds both.
  const { differences } = await bench.changeSet(draft.id)
  expect(body.request.payload).toHaveProperty('differencesHash', await hashInBrowser(differences))
  await bench.approve(bench.admins[1]!, body.request.id)
  await bench.approve(bench.admins[2]!, body.request.id)
  expect(await bench.versions()).toHaveLength(before.length + 1)
  expect(await hasPolicy('night')).toBe(true)
})

/** Requests the votes like a version of the service that did not bind votes to the differences. */
async function submitUnbound(): Promise<{ id: string; requestId: string; code: string }> {
  const [change, { deps, clock }] = [add(), bench.test]
  const { body: draft } = await bench.draft([change])
  const { id, title, changes, direction, baseVersion } = draft
  const vaultId = bench.vault.id
  const now = clock.now()
  const requestId = await inTransaction(deps.db, async (trx) => {
    const outcome = await requestAction(trx, {
      member: (await findMemberById(trx, vaultId, bench.vault.admin.userId))!,
      action: 'rules_change',
      steps: [{ action: 'rules_change', targetId: id, payload: { title, changes, direction, baseVersion } }],
      executors: { rules_change: rulesExecutor({ deps, governed: governedOf(deps) }) },
      approvalTtlHours: 24,
      now,
      fetched: null,
    })
    if (!('request' in outcome)) throw new Error('the change did not wait for votes')
    await updateChangeSetRow(trx, { vaultId, id, now }, { status: 'submitted', request_id: outcome.request })
    return outcome.request
  })
  return { id, requestId, code: change.payload.code }
}

test('votes without a hash of the differences apply nothing, and the error names the next step', async () => {
  const before = await bench.versions()
  const { id, requestId, code } = await submitUnbound()
  expect((await bench.approve(bench.admins[1]!, requestId)).status).toBe(200)
  const last = await bench.approve(bench.admins[2]!, requestId)
  expect(last).toMatchObject({ status: 409, body: { reason: 'not_applied' } })
  expect(last.body.details).toMatch(/bound to no differences. Ask for the change again$/)
  const { body } = await bench.vault.admin.get(`${bench.url}/approval-requests/${requestId}`)
  expect(body.status).toBe('stale')
  expect([await hasPolicy(code), await bench.versions()]).toEqual([false, before])

  // The author requests the same changes again.
  const url = `${bench.url}/change-sets/${id}` as const
  expect((await bench.vault.admin.post(`${url}/rebase`)).status).toBe(200)
  const again = await bench.submit(id)
  expect(again.status, JSON.stringify(again.body)).toBe(202)
  for (const admin of bench.admins.slice(1, 3)) await bench.approve(admin, again.body.request.id)
  expect(await hasPolicy(code)).toBe(true)
})

test('a draft that is not possible is refused with the path of the fault', async () => {
  const bad = await bench.draft([add(), { ...add(), payload: { ...allowTransfers, code: 'x', effect: 'perhaps' } }])
  expect(bad.status).toBe(400)
  expect(bad.body.details[0]!.field).toBe('changes.1.payload.effect')
  const unknown = await bench.draft([{ action: 'policy_delete', targetId: 'nothing', payload: {} }])
  expect(unknown.body).toMatchObject({ reason: 'not_found', message: 'changes.0: Policy not found' })
  const token = { action: 'service_token_create', payload: { name: 'CI', groupIds: [bench.membersId] } }
  expect((await bench.draft([token])).body.details[0]!.field).toBe('changes.0.action')
  for (const reference of ['$change:1', '$change:0']) {
    expect((await bench.draft([{ ...add(), targetId: reference }])).status).toBe(400)
  }
})

test('a secret that is no text is refused with its path, also in the shape of a fingerprint', async () => {
  const { body: draft } = await bench.draft([add()])
  for (const field of ['walletServiceSecret', 'walletWebhookSecret'])
    for (const secret of [5, { fingerprint: '0123456789abcdef' }]) {
      const changes = [add(), { action: 'vault_update', payload: { [field]: secret } }]
      const url = `${bench.url}/change-sets/${draft.id}` as const
      for (const answer of [await bench.draft(changes), await bench.vault.admin.put(url, { title: 'A', changes })]) {
        expect(answer.status, JSON.stringify(answer.body)).toBe(400)
        expect(answer.body.details[0]!.field).toBe(`changes.1.payload.${field}`)
      }
    }
})

test('only its author changes and submits a draft; every administrator may cancel it', async () => {
  const { body } = await bench.draft([add()])
  const url = `${bench.url}/change-sets/${body.id}` as const
  expect((await bench.submit(body.id, bench.admins[1]!)).body.reason).toBe('not_permitted')
  const edited = await bench.vault.admin.put(url, { title: 'Another', changes: [add('edited')] })
  expect(edited.body).toMatchObject({ title: 'Another', changeCount: 1, status: 'draft' })
  expect((await bench.member.post(`${url}/cancel`)).status).toBe(403)
  expect((await bench.admins[1]!.post(`${url}/cancel`)).body.status).toBe('cancelled')
  expect((await bench.submit(body.id)).body.reason).toBe('wrong_state')
})

test('the second of two change sets on a version becomes stale, and a rebase makes it valid again', async () => {
  const first = await submitted()
  const other = await submitted([add('other')], bench.admins[1]!)
  const late = (await bench.draft([add('late')])).body
  for (const admin of bench.admins.slice(1, 3)) await bench.approve(admin, first.requestId)
  expect(await bench.changeSet(other.id)).toMatchObject({ status: 'stale' })
  const refused = await bench.submit(late.id)
  expect(refused.body).toMatchObject({ reason: 'rules_changed' })
  expect(refused.body.details).toContain('policy "allow-')

  await bench.approve(bench.admins[0]!, other.requestId)
  expect((await bench.approve(bench.admins[2]!, other.requestId)).body.reason).toBe('not_applied')
  expect(await bench.changeSet(other.id)).toMatchObject({ status: 'stale' })
  expect(await hasPolicy('other')).toBe(false)

  const rebased = await bench.admins[1]!.post(`${bench.url}/change-sets/${other.id}/rebase`)
  expect(rebased.body, JSON.stringify(rebased.body)).toMatchObject({ status: 'draft', requestId: null })
  const again = await bench.submit(other.id, bench.admins[1]!)
  for (const admin of [bench.admins[0]!, bench.admins[2]!]) await bench.approve(admin, again.body.request.id)
  expect(await hasPolicy('other')).toBe(true)
})

test('two last votes at the same time for two change sets apply only one of them', async () => {
  const [first, second] = [await submitted([add('at-once-1')]), await submitted([add('at-once-2')])]
  for (const { requestId } of [first, second]) await bench.approve(bench.admins[1]!, requestId)
  const before = await bench.versions()
  await Promise.all([first, second].map(({ requestId }) => bench.approve(bench.admins[2]!, requestId)))
  const statuses = await Promise.all([first, second].map(async ({ id }) => (await bench.changeSet(id)).status))
  expect(statuses.toSorted()).toEqual(['applied', 'stale'])
  expect(await bench.versions()).toHaveLength(before.length + 1)
})

test('a rejection ends a change set', async () => {
  const { id, requestId } = await submitted()
  await bench.admins[1]!.post(`${bench.url}/approval-requests/${requestId}/reject`)
  expect(await bench.changeSet(id)).toMatchObject({ status: 'rejected' })
})

test('a service does not vote, and neither does an auditor', async () => {
  const { requestId } = await submitted()
  const { body } = await bench.vault.admin.get(`${bench.url}/approval-requests/${requestId}`)
  expect(body.approvers.map(({ userId }) => userId).toSorted()).toEqual(
    bench.admins
      .slice(1)
      .map(({ userId }) => userId)
      .toSorted(),
  )
})

test('a loosening waits for its time, and takes effect once', async () => {
  await settle({ looseningDelayHours: 2 })
  const code = `delayed-${++count}`
  const { id } = await approved([add(code)])
  const waiting = await bench.changeSet(id)
  expect(waiting.status).toBe('scheduled')
  const announced = await bench.sql(
    `select content from announcements where content like '%waits for its time%' order by created_at desc limit 1`,
  )
  expect(announced[0]!.content).toContain(`- what changes: ["policy ${waiting.differences[0]!.name}"]`)
  expect(new Date(waiting.applyAt!).getTime() - bench.test.clock.now().getTime()).toBeGreaterThan(1.9 * hour)
  await bench.applyDue()
  expect(await hasPolicy(code)).toBe(false)
  bench.test.clock.advance(2 * hour)
  const before = await bench.versions()
  await Promise.all([bench.applyDue(), bench.applyDue()])
  expect(await hasPolicy(code)).toBe(true)
  expect(await bench.versions()).toHaveLength(before.length + 1)
  expect(await bench.changeSet(id)).toMatchObject({ status: 'applied' })
})

test('any administrator may cancel a change set while its delay runs', async () => {
  const { id } = await approved()
  const cancelled = await bench.admins[3]!.post(`${bench.url}/change-sets/${id}/cancel`)
  expect(cancelled.body).toMatchObject({ status: 'cancelled', resolvedById: bench.admins[3]!.userId })
  bench.test.clock.advance(2 * hour)
  await bench.applyDue()
  expect(await bench.changeSet(id)).toMatchObject({ status: 'cancelled' })
})

test('T74 the vote of somebody who was disabled or held meanwhile no longer counts', async () => {
  const disabled = await approved()
  const second = bench.admins[1]!.userId
  await bench.sql('update users set disabled_at = now() where id = $1', [second])
  bench.test.clock.advance(2 * hour)
  await bench.applyDue()
  expect(await bench.changeSet(disabled.id)).toMatchObject({
    status: 'failed',
    failureReason: 'Only 1 of the 2 votes still count',
  })
  await bench.sql('update users set disabled_at = null where id = $1', [second])

  const held = await approved()
  const hold = { subjectType: 'user', subjectId: second, reason: 'Their computer was stolen' }
  expect((await bench.admins[3]!.post(`${bench.url}/holds`, hold)).status).toBe(201)
  bench.test.clock.advance(2 * hour)
  await bench.applyDue()
  expect(await bench.changeSet(held.id)).toMatchObject({ status: 'failed' })
  await bench.sql(`update holds set released_at = now(), release_reason = 'test'`)
  // A hold signs out the held user. The user who placed the hold is signed out too, because too few other voters are left.
  bench.admins[1] = await bench.test.signIn('second@example.org')
  bench.admins[3] = await bench.test.signIn('fourth@example.org')
})

test('the vote of somebody who was removed from the group meanwhile no longer counts', async () => {
  await settle({ looseningDelayHours: 2 })
  const code = `removed-${++count}`
  const { id } = await approved([add(code)])
  // The row is deleted directly, because a removal by the service would be the next version of the rules.
  const behind = (text: string) => bench.sql(`begin; set local session_replication_role = replica; ${text}; commit`)
  const ofSecond = `user_id = '${bench.admins[1]!.userId}'`
  await behind(`create table removed as select * from policy_group_memberships where ${ofSecond};
    delete from policy_group_memberships where ${ofSecond}`)
  bench.test.clock.advance(2 * hour)
  await bench.applyDue()
  const found = await bench.changeSet(id)
  await behind('insert into policy_group_memberships select * from removed; drop table removed')
  expect(found).toMatchObject({ status: 'failed', failureReason: 'Only 1 of the 2 votes still count' })
  expect(await hasPolicy(code)).toBe(false)
})

test('a tightening by one administrator makes scheduled change sets stale', async () => {
  const { id } = await approved()
  const blocked = await bench.admins[3]!.post(`/policy-groups/${bench.membersId}/policies`, blockTransfers)
  expect(blocked.status).toBe(201)
  expect(await bench.changeSet(id)).toMatchObject({ status: 'stale' })
  bench.test.clock.advance(2 * hour)
  await bench.applyDue()
  expect(await bench.changeSet(id)).toMatchObject({ status: 'stale', appliedVersion: null })
})

test('T74 a node that dies while it applies a change set changes nothing; another node applies it once', async () => {
  const code = `survives-${++count}`
  const { id } = await approved([add(code)])
  bench.test.clock.advance(2 * hour)
  const before = await bench.versions()
  // The group is locked by somebody else, so the task stands still in the middle of its transaction.
  await bench.test.deps.db.transaction().execute(async (trx) => {
    await trx.selectFrom('policy_groups').select('id').where('id', '=', bench.membersId).forUpdate().execute()
    const dying = bench.applyDue()
    await untilSessionsWait(bench.test.deps.db, 1)
    await bench.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    )
    await dying
  })
  expect(await bench.changeSet(id)).toMatchObject({ status: 'scheduled' })
  await Promise.all([bench.applyDue(), bench.applyDue()])
  expect(await bench.changeSet(id)).toMatchObject({ status: 'applied' })
  expect(await hasPolicy(code)).toBe(true)
  expect(await bench.versions()).toHaveLength(before.length + 1)
})

/** A wallet service with the addresses of the vault, which can take the place of the present one. */
async function movedWallet() {
  const moved = await startFakeWallet()
  moved.answerWithAddress = (path) => fakeAddress(bench.vault.wallet.secret + path)
  return moved
}

/** Schedules a change in a vault of its own. Returns a function that reads its status. */
async function scheduledElsewhere(): Promise<() => Promise<string>> {
  const { test } = bench
  const vault = await createVaultFixture(test, { code: 'elsewhere' })
  const second = await addMember(test, vault, 'second@example.org', ['administrators'])
  const url = `/vaults/${vault.code}` as const
  const rules = { threshold: 1, approverGroupId: null, looseningDelayHours: 1, tighteningDelayHours: 0 }
  expect((await vault.admin.put(`${url}/governance`, rules)).status).toBe(200)
  const change = { action: 'policy_create', targetId: vault.groups.administrators, payload: allowTransfers }
  const { body } = await vault.admin.post(`${url}/change-sets`, { title: 'Elsewhere', changes: [change] })
  const submitted = await vault.admin.post(`${url}/change-sets/${body.id}/submit`)
  const approved = await second.post(`/vaults/${vault.code}/approval-requests/${submitted.body.request.id}/approve`)
  expect(approved.status, JSON.stringify(approved.body)).toBe(200)
  return async () => (await vault.admin.get(`${url}/change-sets/${body.id}`)).body.status
}

test('change sets whose wallet service is silent stop neither other vaults nor other change sets of their vault', async () => {
  await settle({ looseningDelayHours: 2 })
  const moved = await movedWallet()
  const move = { action: 'vault_update', payload: { walletServiceUrl: moved.url, walletServiceSecret: moved.secret } }
  const { id } = await approved([move] as never)
  await bench.sql(
    `insert into change_sets (vault_id, id, title, status, is_direct, author_id, base_version, changes, secrets, document, direction,
       request_id, apply_at, created_at, updated_at)
     select vault_id, id || n, title, status, is_direct, author_id, base_version, changes, secrets, document, direction,
       request_id, apply_at, created_at, updated_at from change_sets, generate_series(1, 20) n where id = $1`,
    [id],
  )
  const { id: later } = await approved()
  const statusElsewhere = await scheduledElsewhere()
  await moved.close()
  bench.test.clock.advance(2 * hour)
  const postponed: Postponed = new Map()
  const run = () => applyDueChangeSets({ deps: bench.test.deps, governed: governedOf(bench.test.deps) }, postponed)
  await run()
  expect(await statusElsewhere()).toBe('applied')
  for (let i = 0; i < 21; i += 1) await run()
  expect(await bench.changeSet(later)).toMatchObject({ status: 'applied' })
  expect(await bench.changeSet(id)).toMatchObject({ status: 'stale' })
})

test('a change set whose wallet service is silent is tried again later, and one whose wallet service is forbidden fails', async () => {
  const moved = await movedWallet()
  const move = { action: 'vault_update', payload: { walletServiceUrl: moved.url, walletServiceSecret: moved.secret } }
  const { id } = await approved([move] as never)
  await moved.close()
  bench.test.clock.advance(2 * hour)
  const { deps } = bench.test
  const postponed: Postponed = new Map()
  const run = (config = deps.config) =>
    applyDueChangeSets({ deps: { ...deps, config }, governed: governedOf({ ...deps, config }) }, postponed)
  await run()
  await run()
  expect(postponed.get(id)).toMatchObject({ attempts: 1 })
  expect(await bench.changeSet(id)).toMatchObject({ status: 'scheduled' })
  bench.test.clock.advance(2_000)
  await run({ ...deps.config, walletAllowedHosts: [], demo: false })
  expect(await bench.changeSet(id)).toMatchObject({
    status: 'failed',
    failureReason: expect.stringContaining('walletServiceUrl'),
  })
})

test('changes that were made in the tables while it waited are not applied', async () => {
  const code = `tampered-${++count}`
  const { id, requestId } = await approved([add(code)])
  const tamper = `update approval_requests set steps = replace(steps::text, $1, $2)::jsonb where id = $3`
  await bench.sql(tamper, [code, `${code}-x`, requestId])
  bench.test.clock.advance(2 * hour)
  await bench.applyDue()
  expect(await bench.changeSet(id)).toMatchObject({ status: 'failed' })
  expect((await bench.changeSet(id)).failureReason).toContain('differs from its audit records')
  expect(await hasPolicy(`${code}-x`)).toBe(false)
})

test('the approver group of governance votes instead of the administrators', async () => {
  const group = await approvedGroup()
  await settle({ threshold: 1, approverGroupId: group })
  const { id, requestId } = await submitted()
  expect((await bench.approve(bench.admins[1]!, requestId)).body.reason).toBe('not_an_approver')
  const seen = await bench.member.get(`${bench.url}/change-sets/${id}`)
  expect(seen.status).toBe(200)
  expect((await bench.approve(bench.member, requestId)).body.status).toBe('applied')
})

/** Creates a group of the member and another person, by votes. Returns its id. */
async function approvedGroup(): Promise<string> {
  await approved([
    { action: 'policy_group_create', payload: { code: 'board', name: 'Board' } },
    { action: 'policy_group_member_add', targetId: '$change:0', payload: { userId: bench.member.userId } },
    { action: 'policy_group_member_add', targetId: '$change:0', payload: { userId: bench.admins[3]!.userId } },
  ] as never)
  bench.test.clock.advance(2 * hour)
  await bench.applyDue()
  const { body } = await bench.vault.admin.get(`${bench.url}/policy-groups?limit=100`)
  return body.items.find(({ code }) => code === 'board')!.id
}
