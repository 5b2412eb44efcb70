import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { allowTransfers, createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'
import { resetGovernance } from './settings.ts'

let bench: GovernanceBench

beforeAll(async () => {
  bench = await createGovernanceBench()
})
afterAll(() => bench.close())

const reset = (code = bench.vault.code) =>
  inTransaction(bench.test.deps.db, (trx) =>
    resetGovernance(trx, {
      ...{ code, reason: 'Two administrators left', operator: 'root' },
      now: bench.test.clock.now(),
    }),
  )

test('T74 an operator brings back a vault whose quorum is lost, on the record and with a mail to every member', async () => {
  await expect(reset()).rejects.toThrow('has no governance')
  await expect(reset('nowhere')).rejects.toThrow('There is no vault "nowhere"')
  expect((await bench.govern()).status).toBe(200)
  const change = { action: 'policy_create', targetId: bench.membersId, payload: allowTransfers }
  const set = (await bench.draft([change])).body
  expect((await bench.submit(set.id)).status).toBe(202)
  const lost = bench.admins.slice(1).map(({ userId }) => userId)
  await bench.sql('update users set disabled_at = now() where id = any($1)', [lost])
  const off = { threshold: 0, looseningDelayHours: 0, tighteningDelayHours: 0 }
  expect((await bench.vault.admin.put(`${bench.url}/governance`, off)).status).not.toBe(200)

  await reset()
  expect((await bench.vault.admin.get(`${bench.url}/governance`)).body).toEqual({ ...off, approverGroupId: null })
  expect(await bench.changeSet(set.id)).toMatchObject({ status: 'stale' })
  const { body } = await bench.vault.admin.get(`${bench.url}/audit-log?action=governance.reset`)
  expect(body.items).toMatchObject([
    { actorId: null, details: { reason: 'Two administrators left', operator: 'root', before: { threshold: 2 } } },
  ])
  const [newest] = await bench.versions()
  expect(newest).toMatchObject({ authorId: null, direction: 'loosening' })
  const mailed = await bench.sql(`select user_id from notifications where subject_id = $1 and kind = 'rules_changed'`, [
    body.items[0]!.id,
  ])
  const told = mailed.map(({ user_id }) => user_id)
  expect(told).toEqual(expect.arrayContaining([bench.vault.admin.userId, bench.member.userId]))
  // The rules are in the hands of the remaining administrator again.
  const again = await bench.vault.admin.post(`/policy-groups/${bench.membersId}/policies`, allowTransfers)
  expect(again.status).toBe(201)
})
