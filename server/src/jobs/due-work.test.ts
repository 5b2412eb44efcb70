import { afterAll, beforeAll, expect, it } from 'vitest'
import { fakeAddress } from '../testing/fake-wallet.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'
import { listDueTasks } from './due-work.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())

const inAYear = () => new Date(bench.test.deps.clock().getTime() + 366 * 24 * 3_600_000)
const dueIn = async (at: Date) => new Set(await listDueTasks(bench.test.deps.db, at))
const now = () => bench.test.deps.clock()

it('finds work when it is due, and not before', async () => {
  const address = await bench.fundedAddress()
  const { body: transfer } = await bench.order(address.id, '200')
  const rows = ['90', '90'].map((amount, row) => ({
    externalId: `due-${row}`,
    fromAddressId: address.id,
    toAddress: fakeAddress('due'),
    amount,
  }))
  const { body: payout } = await bench.owner.post(`/vaults/${bench.vault.code}/payouts`, { rows })
  expect([transfer.status, payout.status]).toEqual(['awaiting_approval', 'awaiting_approval'])
  const present = await dueIn(now())
  for (const task of ['expire-transfers', 'expire-payouts']) expect(present).not.toContain(task)
  const later = await dueIn(inAYear())
  for (const task of ['expire-transfers', 'expire-payouts']) expect(later).toContain(task)
  // The voters get mails, and the new records and entries are not sealed yet.
  for (const task of ['send-notifications', 'seal-audit', 'seal-ledger']) expect(present).toContain(task)
})

/** The columns and values of a job besides its state. */
const jobs = {
  'make-exports': [
    'report_exports',
    'report_type, format, parameters, percent, expires_at',
    `'x', 'csv', '{}', 0, now()`,
  ],
  'verify-ledgers': ['ledger_verifications', '', ''],
  'run-backtests': ['backtests', 'policies, from_at, to_at, decisions_count', `'[]', now(), now(), 0`],
} as const

it.each(Object.entries(jobs))('finds jobs of %s that wait, and jobs that a node has left', async (task, job) => {
  const [table, columns, values] = job
  const more = (text: string) => (text === '' ? '' : `, ${text}`)
  expect(await dueIn(inAYear())).not.toContain(task)
  await bench.sql(
    `insert into ${table} (vault_id, id, requester_id, state, created_at${more(columns)})
     values ($1, 'job', $2, 'queued', now()${more(values)})`,
    [bench.vault.id, bench.owner.userId],
  )
  expect(await dueIn(now())).toContain(task)
  await bench.sql(`update ${table} set state = 'running', leased_until = now() + interval '1 hour'`)
  expect(await dueIn(new Date())).not.toContain(task)
  expect(await dueIn(inAYear())).toContain(task)
})

it('finds a mail whose next attempt is due', async () => {
  await bench.sql('delete from queued_mails')
  expect(await dueIn(inAYear())).not.toContain('send-mails')
  await bench.sql(`insert into queued_mails (id, request, created_at, next_attempt_at)
    values ('mail', '{}', now(), now() + interval '1 hour')`)
  expect(await dueIn(new Date())).not.toContain('send-mails')
  expect(await dueIn(inAYear())).toContain('send-mails')
})
