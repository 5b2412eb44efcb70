import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import type { Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, createVaultFixture, ensureGroup } from '../../../testing/fixtures.ts'
import { createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'
import { verifyHolds } from '../../rules/holds/verify-holds.ts'
import { endUnconfirmedHolds } from './people.ts'
import { releaseByOperator } from './release.ts'

/** One administrator of four, in a vault whose rules need the agreement of two others, holds everybody else. */
let bench: GovernanceBench
let alone: Person
let others: Person[]
let guard: Person
let base: `/vaults/${string}`

const hours = 3_600_000
const outcome = ({ status, body }: Answer<{ reason: string }>) => [status, body?.reason]

beforeAll(async () => {
  bench = await createGovernanceBench()
  base = bench.url
  alone = bench.vault.admin
  others = bench.admins.slice(1)
  guard = await addMember(bench.test, bench.vault, 'guard@example.org', ['guards'])
  const guardsId = await ensureGroup(bench.vault, 'guards')
  const guarding = { code: 'guards', name: 'Guards may hold', actionType: 'hold_place', effect: 'allow' }
  expect((await alone.post(`/policy-groups/${guardsId}/policies`, guarding)).status).toBe(201)
  // A user who is held in their only vault is signed out; these users have another vault.
  const elsewhere = await createVaultFixture(bench.test, { code: 'elsewhere', isLocked: false })
  for (const { email } of [...others, guard, bench.member]) await addMember(bench.test, elsewhere, email)
  expect((await bench.govern({ threshold: 1 })).status).toBe(200)
})
afterAll(() => bench.close())
beforeEach(async () => {
  await bench.sql('delete from holds')
})

const hold = (on: Person, by: Person = alone) =>
  by.post(`${base}/holds`, { subjectType: 'user', subjectId: on.userId, reason: 'Something is wrong' })
const confirm = (id: string, by: Person) => by.post(`${base}/holds/${id}/confirm`)
const held = async (on: Person, by: Person = alone) => {
  const { status, body } = await hold(on, by)
  expect([status, body.message]).toEqual([201, undefined])
  return body
}
const acts = async (by: Person) => (await by.get(`${base}/policies`)).status === 200
const whoActs = async () => {
  const able = []
  for (const person of [alone, ...others]) if (await acts(person)) able.push(person.userId)
  return able
}
/** Returns the differences between the record and the holds that exist; the holds of earlier tests are gone. */
const differences = async () => {
  const ids = (await bench.sql('select id from holds')).map(({ id }) => id)
  return (await verifyHolds(bench.test.deps.db)).differences.filter(({ targetId }) => ids.includes(targetId))
}
const pass = async (milliseconds: number) => {
  bench.test.clock.advance(milliseconds)
  await endUnconfirmedHolds(bench.test.deps)
}

describe('T82 one person cannot lock out the others', () => {
  it('T82 a person who holds everybody else is suspended, too, and every hold ends without confirmation', async () => {
    const first = await held(others[0]!)
    expect(await acts(alone)).toBe(true)
    const last = await held(others[1]!)
    expect(await whoActs()).toEqual([others[2]!.userId])
    expect(outcome(await hold(others[2]!))).toEqual([403, 'caller_held'])
    const { body } = await others[2]!.get(`${base}/holds?active=true`)
    const suspension = body.items.find(({ becauseOfId }) => becauseOfId !== null)!
    expect(suspension).toMatchObject({ subjectId: alone.userId, becauseOfId: last.id, endsAt: last.endsAt })
    // The suspension of the placer cannot be confirmed, as a hold can.
    expect(outcome(await confirm(suspension.id, others[2]!))).toEqual([409, 'wrong_state'])
    expect(Date.parse(first.endsAt!) - Date.parse(first.createdAt)).toBe(72 * hours)
    await pass(72 * hours - 1_000)
    expect(await whoActs()).toEqual([others[2]!.userId])
    await pass(1_000)
    expect(await whoActs()).toHaveLength(4)
    expect(await differences()).toEqual([])
    // Another person must place the next hold.
    expect(outcome(await hold(others[0]!))).toEqual([403, 'other_person_required'])
    expect((await hold(others[0]!, others[1])).status).toBe(201)
  })

  it('T82 a person whose passkey was stolen holds themselves, also when too few who vote are left', async () => {
    await held(others[0]!)
    const { id } = await held(others[1]!, others[1]!)
    const { body } = await others[2]!.get(`${base}/holds?active=true`)
    expect(body.items.filter(({ subjectId }) => subjectId === others[1]!.userId)).toMatchObject([
      { id, becauseOfId: null },
    ])
    expect(await whoActs()).toEqual([alone.userId, others[2]!.userId])
  })

  it('T82 holds of a member with the right to hold lock out no quorum either', async () => {
    await held(others[0]!, guard)
    await held(others[1]!, guard)
    await held(others[2]!, guard)
    expect(await acts(guard)).toBe(false)
    expect(outcome(await hold(alone, guard))).toEqual([403, 'caller_held'])
    expect(await acts(alone)).toBe(true)
  })

  it('T82 a service cannot hold a person', async () => {
    const token = await alone.post(`${base}/service-tokens`, {
      name: 'Robot',
      groupIds: [bench.vault.groups.administrators],
    })
    expect((await bench.approve(others[0]!, token.body.request.id)).body.status).toBe('applied')
    const robot = bench.test.client({ authorization: `Bearer ${token.body.token}` }) as Person
    expect(outcome(await hold(others[0]!, robot))).toEqual([403, 'person_required'])
    expect(outcome(await confirm((await held(bench.member)).id, robot))).toEqual([403, 'person_required'])
  })

  it('T82 a second person confirms a hold, and ends the suspension of the first', async () => {
    await held(others[0]!)
    const last = await held(others[1]!)
    expect(await acts(alone)).toBe(false)
    expect(outcome(await confirm(last.id, bench.member))).toEqual([403, 'no_policy_allows'])
    const confirmed = await confirm(last.id, others[2]!)
    expect(confirmed.body).toMatchObject({ isActive: true, confirmedById: others[2]!.userId })
    expect(outcome(await confirm(last.id, others[2]!))).toEqual([409, 'wrong_state'])
    expect(await acts(alone)).toBe(true)
    await pass(73 * hours)
    expect(await acts(others[0]!)).toBe(true)
    expect(await acts(others[1]!)).toBe(false)
    expect(await differences()).toEqual([])
  })

  it('T82 a hold that cannot be ended does not keep the holds after it in force', async () => {
    const stuck = await held(others[0]!)
    bench.test.clock.advance(1_000)
    await held(others[1]!, others[2]!)
    // The clock of the test stays, so that nobody is signed out.
    const later = new Date(bench.test.clock.now().getTime() + 73 * hours)
    const end = () => endUnconfirmedHolds({ ...bench.test.deps, clock: () => later })
    await bench.sql(`create function refuse() returns trigger language plpgsql as $$ begin raise 'broken'; end $$`)
    await bench.sql(
      `create trigger refused before update on holds for each row when (old.id = '${stuck.id}') execute function refuse()`,
    )
    await end()
    await bench.sql('drop trigger refused on holds')
    expect([await acts(others[0]!), await acts(others[1]!)]).toEqual([false, true])
    await end()
    expect(await acts(others[0]!)).toBe(true)
    expect(await differences()).toEqual([])
  })

  it('T82 the verifier names a forged confirmation and a forged end', async () => {
    const { id } = await held(bench.member)
    expect(await differences()).toEqual([])
    await bench.sql('update holds set confirmed_by_id = $2, confirmed_at = now() where id = $1', [
      id,
      others[0]!.userId,
    ])
    expect(await differences()).toMatchObject([{ targetId: id }])
    await bench.sql('update holds set confirmed_by_id = null, confirmed_at = null, ends_at = null where id = $1', [id])
    expect(await differences()).toMatchObject([{ targetId: id }])
  })

  it('T82 the placer and the held person cannot confirm a hold', async () => {
    const { id, endsAt } = await held(others[0]!)
    expect(endsAt).not.toBeNull()
    expect(outcome(await confirm(id, alone))).toEqual([403, 'other_person_required'])
    expect(outcome(await confirm(id, others[0]!))).toEqual([403, 'caller_held'])
    const thing = await alone.post(`${base}/holds`, { subjectType: 'vault', subjectId: bench.vault.id, reason: 'Stop' })
    expect(thing.body.endsAt).toBeNull()
    expect(outcome(await confirm(thing.body.id, others[1]!))).toEqual([409, 'wrong_state'])
  })

  it('T82 the approvers of releases that a policy names form a separate quorum', async () => {
    const keepers = [bench.member, guard].map(({ userId }) => ({ kind: 'user', userId }))
    const policy = {
      ...{ code: 'keepers', name: 'Keepers', actionType: 'hold_release', effect: 'requireApproval' },
      ...{ approvalThreshold: 2, approvers: keepers },
    }
    await bench.sql(
      'with published as (update rules_heads set published_in = pg_current_xact_id() returning true) delete from governance',
    )
    const made = await alone.post(`/policy-groups/${bench.vault.groups.everyone}/policies`, policy)
    expect([made.status, made.body.message]).toEqual([201, undefined])
    await held(bench.member)
    expect(await acts(alone)).toBe(false)
  })

  it('T82 an operator releases a hold, with a record and a mail to every member', async () => {
    await held(others[0]!)
    const { id } = await held(others[1]!)
    const release = (of: string, code: string = bench.vault.code) =>
      inTransaction(bench.test.deps.db, (trx) =>
        releaseByOperator(trx, {
          ...{ code, id: of, reason: 'They called us', operator: 'root' },
          now: bench.test.clock.now(),
        }),
      )
    await expect(release('nothing')).rejects.toThrow('has no hold "nothing" in force')
    await expect(release(id, 'elsewhere')).rejects.toThrow(`"elsewhere" has no hold`)
    await release(id)
    expect(await acts(others[1]!)).toBe(true)
    expect(await acts(alone)).toBe(true)
    await expect(release(id)).rejects.toThrow('in force')
    const { body } = await alone.get(`${base}/audit-log?action=hold.released`)
    const record = body.items.find(({ targetId }) => targetId === id)!
    expect(record).toMatchObject({ actorId: null, details: { reason: 'They called us', operator: 'root' } })
    const notified = await bench.sql('select user_id from notifications where subject_id = $1', [record.id])
    const people = [alone, ...others, guard, bench.member].map(({ userId }) => userId)
    expect(notified.map(({ user_id }) => user_id).sort()).toEqual(people.sort())
  })

  it('T82 auditors do not count as remaining approvers of releases', async () => {
    await bench.sql('delete from policies where code = $1', ['keepers'])
    const auditor = await addMember(bench.test, bench.vault, 'auditor@example.org', ['auditors'])
    const keepers = [bench.member, guard, auditor].map(({ userId }) => ({ kind: 'user', userId }))
    const policy = {
      ...{ code: 'keepers', name: 'Keepers', actionType: 'hold_release', effect: 'requireApproval' },
      ...{ approvalThreshold: 2, approvers: keepers },
    }
    const made = await alone.post(`/policy-groups/${bench.vault.groups.everyone}/policies`, policy)
    expect([made.status, made.body.message]).toEqual([201, undefined])
    await held(bench.member)
    expect(await acts(alone)).toBe(false)
    await bench.sql('delete from policies where code = $1', ['keepers'])
  })

  it('T82 in a vault without governance two administrators remain for a release', async () => {
    await held(others[0]!)
    expect(await acts(alone)).toBe(true)
    await held(others[1]!)
    expect(await acts(alone)).toBe(false)
  })
})
