import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Evidence, readEvidence } from '../sdk/src/evidence/evidence.ts'
import { verifyEvidence } from '../sdk/src/evidence/verify.ts'
import type { Vote } from '../server/src/lib/signed-vote.ts'
import { sealLedgerEntries } from '../server/src/modules/money/ledger/ledger-seals.ts'
import { sealAuditRecords } from '../server/src/modules/record/audit/audit-seals.ts'
import type { Person } from '../server/src/testing/app.ts'
import type { Authenticator } from '../server/src/testing/authenticator.ts'
import { buildProject } from '../server/src/testing/build-project.ts'
import { authorityAnswer } from '../server/src/testing/fake-authority.ts'
import { fakeAddress } from '../server/src/testing/fake-wallet.ts'
import { addPasskey, confirming } from '../server/src/testing/passkeys.ts'
import { createTransferBench, type TransferBench } from '../server/src/testing/transfer-bench.ts'
import { newVote } from '../server/src/testing/votes.ts'

/** Evidence as the service makes it, checked offline: genuine, and with every value of it altered, one at a time. */

let bench: TransferBench
const base = '/vaults/main-vault'
const keys = new Map<Person, Authenticator>()
/** The file of each kind of transfer. */
const files: Record<'ordinary' | 'signed' | 'row of a signed payout', string> = {
  ordinary: '',
  signed: '',
  'row of a signed payout': '',
}
const kinds = Object.keys(files) as (keyof typeof files)[]

beforeAll(async () => {
  bench = await createTransferBench()
  const address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  const rate = { usdRate: '1.0005', asOf: bench.test.clock.now().toISOString(), source: 'manual' }
  expect((await bench.vault.admin.post(`/tokens/${bench.vault.tokens.usdt.id}/rates`, rate)).status).toBe(201)
  const ordinary = (await bench.order(address.id, '200', { metadata })).body.id
  await bench.act(bench.firstApprover, ordinary, 'approve', { comment: 'Compared with the invoice' })
  await bench.act(bench.secondApprover, ordinary, 'approve')
  await settle(ordinary)
  await protect()
  const signed = await orderSigned({ fromAddressId: address.id, toAddress: bench.recipient, amount: '200', metadata })
  const row = await payOutSigned(address.id)
  await settle(signed, row)
  await sealAuditRecords(bench.test.deps)
  await sealLedgerEntries(bench.test.deps)
  const ids = [ordinary, signed, row]
  for (const [i, kind] of kinds.entries()) {
    const { status, body } = await bench.vault.admin.get(`${base}/transfers/${ids[i]!}/evidence`)
    expect(status, JSON.stringify(body)).toBe(200)
    files[kind] = JSON.stringify(body)
  }
})
afterAll(() => bench.close())

const metadata = { tags: ['supplies', 'march'], paymentPurpose: 'Invoice 7', note: 'Call first' }

async function settle(...ids: string[]): Promise<void> {
  await bench.deliver()
  for (const id of ids) bench.vault.wallet.confirm(id)
  await bench.deliver()
}

async function protect(): Promise<void> {
  const people = [bench.owner, bench.firstApprover, bench.secondApprover]
  for (const person of people) keys.set(person, await addPasskey(person))
  bench.vault.admin = confirming(bench.vault.admin, await addPasskey(bench.vault.admin))
  expect((await bench.vault.admin.put(`${base}/protection`, { protection: 'votes' })).status).toBe(200)
  const named = people.map((person) => ({ person: person.userId, key: keys.get(person)! }))
  bench.vault.wallet.authority = authorityAnswer(bench.vault.id, named, 7)
}

async function orderSigned(order: object): Promise<string> {
  const { order: shown, vote } = (await bench.owner.post(`${base}/transfers/preview`, order)).body as Preview
  const { transferId, expiresAt, rulesVersion } = shown
  const signed = { transferId, expiresAt, rulesVersion, vote: keys.get(bench.owner)!.vote(vote) }
  const { status, body } = await bench.owner.post(`${base}/transfers`, { ...order, signed })
  expect(status, JSON.stringify(body)).toBe(201)
  await approveSigned('transfer', body)
  return body.id
}

type Preview = { order: { transferId: string; expiresAt: string; rulesVersion: number }; vote: Vote }

/** A payout of two rows; returns the transfer of the second. */
async function payOutSigned(fromAddressId: string): Promise<string> {
  const rows = ['120', '130'].map((amount, i) => ({
    ...{ externalId: `row-${i}`, fromAddressId, toAddress: fakeAddress(`paid ${i}`), amount },
  }))
  const preview = await bench.owner.post(`${base}/payouts/preview`, { rows })
  expect(preview.status, JSON.stringify(preview.body)).toBe(200)
  const { payoutId, orders, vote } = preview.body.toSign!
  const { expiresAt, rulesVersion } = orders[0]!
  const signed = { payoutId, expiresAt, rulesVersion, vote: keys.get(bench.owner)!.vote(vote) }
  const { status, body } = await bench.owner.post(`${base}/payouts`, { name: 'Salaries', rows, signed })
  expect(status, JSON.stringify(body)).toBe(201)
  await approveSigned('payout', body)
  const { items } = (await bench.owner.get(`${base}/payouts/${body.id}/rows`)).body
  return items.find(({ externalId }) => externalId === 'row-1')!.transferId
}

async function approveSigned(subject: 'transfer' | 'payout', { id, payloadHash: hash }: Payable): Promise<void> {
  for (const person of [bench.firstApprover, bench.secondApprover]) {
    const by = { decision: 'approve', person: person.userId } as const
    const signature = keys.get(person)!.vote(newVote({ subject, hash, ...by }))
    const vote = { payloadHash: hash, signature, comment: 'Compared with the invoice' }
    const { status, body } = await person.post(`${base}/${subject}s/${id}/approve`, vote)
    expect(status, JSON.stringify(body)).toBe(200)
  }
}

type Payable = { id: string; payloadHash: string }

type Json = Record<string, unknown>
/** The paths of all leaves of a value. A leaf is not an object or list with members. */
function leavesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [path]
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]))
}

/** All values in `npm run nightly:models`, every fourth in the suite. */
const alteredLeavesOf = (file: unknown) =>
  leavesOf(file).filter((_, i) => process.env.EVIDENCE === 'all' || i % 4 === 0)

/** The file with another value at the path: of the same type, so that nothing but the value gives it away. */
function altered(text: string, path: string[]): Evidence | null {
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

const read = (kind: keyof typeof files): Evidence => readEvidence(files[kind])!

describe.each(kinds)('evidence of a transfer: %s', (kind) => {
  it('T84 passes every check when it is genuine, and proves the fields that people read', async () => {
    const { checks, fields } = await verifyEvidence(read(kind))
    expect(checks.filter(({ state }) => state !== 'holds')).toEqual([
      expect.objectContaining({ name: 'chain', state: 'open' }),
    ])
    expect(fields.filter(({ state }) => state === 'contradicted')).toEqual([])
    const proven = new Set(fields.filter(({ state }) => state === 'proven').map(({ path }) => path))
    const leaves = new Set(fields.map(({ path }) => path))
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
    const shown = [...named, ...people, ...words].filter((name) => leaves.has(`transfer.${name}`))
    for (const name of shown) expect(proven, name).toContain(`transfer.${name}`)
    expect(shown.length).toBeGreaterThan(named.length)
    for (const name of ['kind', 'amount', 'debitBalance', 'creditBalance', 'createdAt']) {
      expect(proven).toContain(`ledgerEntries.0.${name}`)
    }
    for (const path of fields
      .map((field) => field.path)
      .filter((path) => /^(decision|payload|auditRecords|seals|ledgerSeals)\./.test(path))) {
      expect(proven, path).toContain(path)
    }
  })

  it('T84 has its values altered, one at a time: each is found, or was marked as not proven', async () => {
    const unnoticed: string[] = []
    for (const path of alteredLeavesOf(JSON.parse(files[kind]))) {
      const file = altered(files[kind], path)
      // The file is not evidence any more.
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

describe('T84 strongroom evidence verify, as the process that an auditor runs', () => {
  let folder: string
  beforeAll(async () => {
    buildProject('build:server')
    folder = await mkdtemp(join(tmpdir(), 'strongroom-evidence-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const program = fileURLToPath(new URL('../server/bin/strongroom.js', import.meta.url))
  async function verify(text: string): Promise<{ code: number | null; lines: string[] }> {
    const file = join(folder, 'evidence.json')
    await writeFile(file, text)
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [program, 'evidence', 'verify', file], (_error, out) =>
        resolve({ code: child.exitCode, lines: out.split('\n') }),
      )
    })
  }
  const alteredBy = (change: (file: Evidence) => void): string => {
    const file = JSON.parse(files.ordinary) as Evidence
    change(file)
    return JSON.stringify(file)
  }
  const unsigned = 'none of the votes is signed: the records say who voted, and no key of a person proves it'

  it('checks the seals of an ordinary vault, says that nothing is signed, and ends with 0', async () => {
    const { code, lines } = await verify(files.ordinary)
    expect(code).toBe(0)
    expect(lines).toContain(unsigned)
    for (const name of ['records', 'votes', 'quorum', 'seals', 'sealed', 'ledger', 'entries'])
      expect(lines, name).toContain(`ok   ${name}`)
    expect(lines).toContainEqual(
      expect.stringMatching(/^[1-9]\d+ values proven, \d+ not proven by this file, 0 contradicted$/),
    )
  })

  it('names the signers in a protected vault, and does not say that nothing is signed', async () => {
    const { code, lines } = await verify(files.signed)
    expect([code, lines.includes(unsigned)]).toEqual([0, false])
    expect(
      lines.filter((line) => /^ok {3}(initiate|approve) by \S+ with the key [0-9a-f]{64}/.test(line)),
    ).toHaveLength(3)
  })

  it.each<[string, (file: Evidence) => void]>([
    ['the amount of the order', ({ payload }) => Object.assign(payload, { amount: '1' })],
    ['the hash of the transaction', ({ transfer }) => Object.assign(transfer, { txHash: `0x${'1'.repeat(64)}` })],
    ['a record', ({ auditRecords: [record] }) => Object.assign(record!, { content: `${record!.content} ` })],
    ['an entry of the ledger', ({ ledgerEntries: [entry] }) => Object.assign(entry!, { amount: '1' })],
    ['the comment of a voter', ({ transfer }) => Object.assign((transfer.approvers as Json[])[0]!, { comment: 'x' })],
  ])('ends with 1 where %s of an ordinary vault was altered', async (_what, change) => {
    const { code, lines } = await verify(alteredBy(change))
    expect(code).toBe(1)
    expect(lines).toContainEqual(expect.stringMatching(/^FAIL /))
    expect(lines).toContain(unsigned)
  })

  it('ends with 2 for a file that is not evidence', async () => {
    expect((await verify('{}')).code).toBe(2)
  })
})
