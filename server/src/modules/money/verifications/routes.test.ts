import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteExpiredRows } from '../../../jobs/housekeeping.ts'
import { exportLeaseSeconds, verificationAttemptsMax, verificationTtlHours } from '../../../lib/limits.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, createVaultFixture } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { runDueVerifications } from './due-verifications.ts'

let bench: TransferBench
let auditor: Person
const url = '/vaults/main-vault/ledger/verifications'

beforeAll(async () => {
  bench = await createTransferBench()
  auditor = await addMember(bench.test, bench.vault, 'auditor@example.org', ['auditors'])
  const address = await bench.fundedAddress()
  await bench.order(address.id, '10')
})
afterAll(() => bench.close())

const start = async (by: Person = auditor) => {
  const { status, body } = await by.post(url, undefined)
  expect(status, JSON.stringify(body)).toBe(202)
  return body
}
const read = async (id: string, by: Person = auditor) => (await by.get(`${url}/${id}`)).body
const run = (signal = new AbortController().signal) => runDueVerifications(bench.test.deps, signal)

describe('a verification of the ledger', () => {
  it('runs in the background, one at a time in a vault, and finds nothing in a sound ledger', async () => {
    const queued = await start()
    expect(queued).toMatchObject({ status: 'queued', startedAt: null, finishedAt: null, findings: null, failure: null })
    expect((await start(bench.vault.admin)).id).toBe(queued.id)
    await run()
    const done = await read(queued.id, bench.vault.admin)
    expect(done).toEqual({
      ...queued,
      status: 'done',
      findings: [],
      startedAt: expect.stringMatching(/Z$/),
      finishedAt: expect.stringMatching(/Z$/),
    })
    expect((await start()).id).not.toBe(queued.id)
    await run()
    expect(await bench.audited('ledger.verification_started', queued.id)).toBe(1)
  })

  it('names the differences in this vault, and none of another', async () => {
    const other = await createVaultFixture(bench.test, { code: 'other-vault', adminEmail: 'other@example.org' })
    const [account] = await bench.sql(
      `update ledger_accounts set balance = balance + 7 where balance = 990000000 returning id`,
    )
    expect(account).toBeDefined()
    const { id } = await start()
    const { body } = await other.admin.post('/vaults/other-vault/ledger/verifications', undefined)
    await run()
    const { status, findings } = await read(id)
    expect(status).toBe('done')
    expect(findings).toContainEqual({ check: 'cached balance', message: expect.stringContaining(account.id) })
    const ofOther = await other.admin.get(`/vaults/other-vault/ledger/verifications/${body.id}`)
    expect(ofOther.body).toMatchObject({ status: 'done', findings: [] })
    expect((await other.admin.get(`/vaults/other-vault/ledger/verifications/${id}`)).status).toBe(404)
    await bench.sql('update ledger_accounts set balance = balance - 7 where id = $1', [account.id])
  })

  it('waits again when its node stops, is taken over when its node died, and finally fails', async () => {
    const { id } = await start()
    const stopping = new AbortController()
    const { deps } = bench.test
    // The node stops between the claim and the first check.
    const slowReads = new Proxy(deps.slowReads, {
      get: (target, name, receiver) => {
        if (name === 'onReplica') stopping.abort()
        return Reflect.get(target, name, receiver)
      },
    })
    await runDueVerifications({ ...deps, slowReads }, stopping.signal)
    expect(await read(id)).toMatchObject({ status: 'queued', startedAt: null })
    const die = (attempt: number) =>
      bench.sql(`update ledger_verifications set state = 'running', attempt = $2, leased_until = $3 where id = $1`, [
        id,
        attempt,
        bench.test.clock.now(),
      ])
    await die(1)
    bench.test.clock.advance(exportLeaseSeconds * 1_000)
    await die(verificationAttemptsMax)
    bench.test.clock.advance(1_000)
    await run()
    expect(await read(id)).toMatchObject({ status: 'failed', failure: expect.stringContaining('several times') })
    await bench.sql(
      `update ledger_verifications set state = 'running', failure = null, attempt = 1, leased_until = $2 where id = $1`,
      [id, bench.test.clock.now()],
    )
    bench.test.clock.advance(1_000)
    await run()
    expect(await read(id)).toMatchObject({ status: 'done', findings: [] })
  })

  it('is kept for 30 days', async () => {
    const { id } = await start()
    await run()
    bench.test.clock.advance(verificationTtlHours * 3_600_000 + 1_000)
    await deleteExpiredRows(bench.test.deps)
    expect(await bench.sql('select 1 from ledger_verifications where id = $1', [id])).toEqual([])
  })

  it('T39 is for administrators and auditors', async () => {
    for (const by of [bench.owner, bench.firstApprover]) {
      const again = await bench.test.signIn(by.email)
      expect((await again.post(url, undefined)).body.reason).toBe('administrator_required')
      expect((await again.get(`${url}/none`)).status).toBe(403)
    }
  })
})
