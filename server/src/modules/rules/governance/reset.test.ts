import { afterEach, beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { allowTransfers, createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'
import { resetGovernance } from './reset.ts'

let bench: GovernanceBench

beforeEach(async () => {
  bench = await createGovernanceBench()
})
afterEach(() => bench.close())

const reset = (gone: string[] = [], code = bench.vault.code) =>
  inTransaction(bench.test.deps.db, (trx) =>
    resetGovernance(trx, {
      ...{ code, reason: 'Two administrators left', operator: 'root', gone },
      now: bench.test.clock.now(),
    }),
  )
const disable = (count: number) => {
  const lost = bench.admins.slice(-count)
  return bench
    .sql('update users set disabled_at = now() where id = any($1)', [lost.map(({ userId }) => userId)])
    .then(() => lost.map(({ email }) => email))
}

test('T74 an operator brings back a vault whose quorum is lost, on the record and with a mail to every member', async () => {
  await expect(reset()).rejects.toThrow('has no governance')
  await expect(reset([], 'nowhere')).rejects.toThrow('There is no vault "nowhere"')
  expect((await bench.govern()).status).toBe(200)
  await expect(reset()).rejects.toThrow('The quorum is not lost: 4 people can vote')
  const change = { action: 'policy_create', targetId: bench.membersId, payload: allowTransfers }
  const set = (await bench.draft([change])).body
  expect((await bench.submit(set.id)).status).toBe(202)
  const lost = await disable(2)

  await reset(lost)
  const settings = { threshold: 1, looseningDelayHours: 0, tighteningDelayHours: 0, approverGroupId: null }
  expect((await bench.vault.admin.get(`${bench.url}/governance`)).body).toEqual(settings)
  expect(await bench.changeSet(set.id)).toMatchObject({ status: 'stale' })
  const { body } = await bench.vault.admin.get(`${bench.url}/audit-log?action=governance.reset`)
  expect(body.items).toMatchObject([
    {
      actorId: null,
      details: {
        reason: 'Two administrators left',
        operator: 'root',
        before: { threshold: 2 },
        after: settings,
        gone: lost,
      },
    },
  ])
  const [newest] = await bench.versions()
  expect(newest).toMatchObject({ authorId: null, direction: 'loosening' })
  const mailed = await bench.sql(`select user_id from notifications where subject_id = $1 and kind = 'rules_changed'`, [
    body.items[0]!.id,
  ])
  const recipients = mailed.map(({ user_id }) => user_id)
  expect(recipients).toEqual(expect.arrayContaining([bench.vault.admin.userId, bench.member.userId]))
  // The two administrators who remain can change the rules together.
  const again = await bench.vault.admin.post(`/policy-groups/${bench.membersId}/policies`, allowTransfers)
  expect(again.status).toBe(202)
  expect((await bench.approve(bench.admins[1]!, again.body.request.id)).body.status).toBe('applied')
})

test('T82 nothing is reset while held or disabled administrators are the reason', async () => {
  await bench.govern()
  const lost = await disable(1)
  await bench.sql(
    `insert into holds (vault_id, id, subject_type, subject_id, reason, placed_by_id, created_at)
      values ($1, 'c' || repeat('7', 24), 'user', $2, 'Mine', $3, now())`,
    [bench.vault.id, bench.admins[1]!.userId, bench.vault.admin.userId],
  )
  await expect(reset()).rejects.toThrow(`${bench.admins[1]!.email} (held), ${lost[0]} (disabled)`)
  await expect(reset(lost)).rejects.toThrow(`${bench.admins[1]!.email} (held)`)
  await expect(reset([...lost, bench.admins[1]!.email])).rejects.toThrow('(held)')
  await bench.sql('delete from holds')
  await expect(reset()).rejects.toThrow('The quorum is not lost')
})

test('T82 no reset leaves one person in charge', async () => {
  await bench.govern()
  const lost = await disable(3)
  await expect(reset(lost)).rejects.toThrow('One person alone would be in charge')
  expect((await bench.vault.admin.get(`${bench.url}/governance`)).body.threshold).toBe(2)
})
