import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Evidence, readEvidence } from '../sdk/src/evidence/evidence.ts'
import { verifyEvidence } from '../sdk/src/evidence/verify.ts'
import { sealLedgerEntries } from '../server/src/modules/money/ledger/seal.ts'
import { sealAuditRecords } from '../server/src/modules/record/audit/seal.ts'
import { createTransferBench, type TransferBench } from '../server/src/testing/transfer-bench.ts'

/** Evidence as the service makes it, checked offline: genuine, and with every value of it altered, one at a time. */

let bench: TransferBench
let text: string

beforeAll(async () => {
  bench = await createTransferBench()
  const address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  const rate = { usdRate: '1.0005', asOf: bench.test.clock.now().toISOString(), source: 'manual' }
  expect((await bench.vault.admin.post(`/tokens/${bench.vault.tokens.usdt.id}/rates`, rate)).status).toBe(201)
  const metadata = { tags: ['supplies', 'march'], paymentPurpose: 'Invoice 7', note: 'Call first' }
  const { id } = (await bench.order(address.id, '200', { metadata })).body
  await bench.act(bench.firstApprover, id, 'approve', { comment: 'Compared with the invoice' })
  await bench.act(bench.secondApprover, id, 'approve')
  await bench.deliver()
  bench.vault.wallet.confirm(id)
  await bench.deliver()
  await sealAuditRecords(bench.test.deps)
  await sealLedgerEntries(bench.test.deps)
  const { status, body } = await bench.vault.admin.get(`/vaults/main-vault/transfers/${id}/evidence`)
  expect(status).toBe(200)
  text = JSON.stringify(body)
})
afterAll(() => bench.close())

type Json = Record<string, unknown>
/** Paths of all leaves of a value: what is neither an object nor a list with members. */
function leavesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [path]
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]))
}

/** The file with another value at the path: of the same type, so that nothing but the value gives it away. */
function altered(path: string[]): Evidence | null {
  const copy = JSON.parse(text) as Json
  const parent = path.slice(0, -1).reduce((at, name) => at[name] as Json, copy)
  const name = path.at(-1)!
  parent[name] = otherThan(parent[name])
  return readEvidence(JSON.stringify(copy))
}

function otherThan(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return value === null ? 'forged' : ['forged']
  const last = value.slice(-1)
  return `${value.slice(0, -1)}${last === '1' ? '2' : '1'}`
}

const read = (): Evidence => readEvidence(text)!

describe('evidence of a transfer', () => {
  it('T84 holds in every check when it is genuine, and proves what people read', async () => {
    const { checks, fields } = await verifyEvidence(read())
    expect(checks.filter(({ state }) => state !== 'holds')).toEqual([
      expect.objectContaining({ name: 'chain', state: 'open' }),
    ])
    expect(fields.filter(({ state }) => state === 'contradicted')).toEqual([])
    const proven = new Set(fields.filter(({ state }) => state === 'proven').map(({ path }) => path))
    const named = [
      'txHash',
      'confirmedAt',
      'fee',
      'usdRate',
      'usdRateAsOf',
      'usdValue',
      'amountDecimal',
      'decisionPolicyName',
    ]
    const people = [
      'approvers.0.comment',
      'approvers.0.votedAt',
      'approvers.1.decision',
      'approvalRequirements.0.threshold',
    ]
    const words = ['metadata.paymentPurpose', 'metadata.note', 'metadata.tags.1', 'expiresAt', 'status', 'toAddress']
    for (const name of [...named, ...people, ...words]) expect(proven, name).toContain(`transfer.${name}`)
    for (const name of ['kind', 'amount', 'debitBalance', 'creditBalance', 'createdAt']) {
      expect(proven).toContain(`ledgerEntries.0.${name}`)
    }
    for (const path of fields
      .map((field) => field.path)
      .filter((path) => /^(decision|payload|auditRecords|seals|ledgerSeals)\./.test(path))) {
      expect(proven, path).toContain(path)
    }
  })

  it('T84 has every value altered, one at a time: each is found, or was marked as not proven', async () => {
    const unnoticed: string[] = []
    for (const path of leavesOf(JSON.parse(text))) {
      const file = altered(path)
      // The file is no evidence any more.
      if (file === null) continue
      const { checks, fields } = await verifyEvidence(file)
      const isFound = checks.some(({ state }) => state === 'fails')
      const name = path.join('.')
      const shown = fields.filter((field) => field.path === name || field.path.startsWith(`${name}.`))
      const isMarked = shown.length > 0 && shown.every(({ state }) => state === 'unproven')
      if (!isFound && !isMarked) unnoticed.push(name)
    }
    expect(unnoticed).toEqual([])
  })
})
