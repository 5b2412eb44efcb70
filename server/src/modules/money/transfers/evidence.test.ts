import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isSignedByKey } from '../../../lib/seal-key.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { sealAuditRecords } from '../../record/audit/audit-seals.ts'
import { rootOfLeaves } from '../../record/seals/seal-content.ts'
import { sealLedgerEntries } from '../ledger/ledger-seals.ts'

let bench: TransferBench
let id: string

beforeAll(async () => {
  bench = await createTransferBench()
  const address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  id = (await bench.order(address.id, '200')).body.id
  await bench.act(bench.firstApprover, id, 'approve', { comment: 'Checked' })
  await bench.act(bench.secondApprover, id, 'approve')
  await bench.deliver()
  bench.vault.wallet.confirm(id)
  await bench.deliver()
  await sealAuditRecords(bench.test.deps)
  await sealLedgerEntries(bench.test.deps)
})
afterAll(() => bench.close())

// An auditor needs only the file and this code: SHA-256 and JSON with sorted keys (docs/audit.md).
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`).join(',')}}`
}

it('T27 the evidence can be verified offline: order, votes, entries, records and seals', async () => {
  const { status, body } = await bench.vault.admin.get(`/vaults/main-vault/transfers/${id}/evidence`)
  expect(status).toBe(200)
  expect(hashOf(sorted(body.payload))).toBe(body.payloadHash)
  expect(body.payload).toMatchObject({
    transferId: id,
    amount: body.transfer.amount,
    toAddress: body.transfer.toAddress,
    contractAddress: body.transfer.contractAddress,
    fromAddress: body.transfer.fromAddress.address,
  })
  expect(body.transfer.payloadHash).toBe(body.payloadHash)

  const records = body.auditRecords.map((record) => {
    expect(hashOf(record.content)).toBe(record.hash)
    expect(record.sealSequence).not.toBeNull()
    return JSON.parse(record.content)
  })
  expect(records.map((record: { action: string }) => record.action).sort()).toEqual([
    'transfer.approved',
    'transfer.approved',
    'transfer.confirmed',
    'transfer.released',
    'transfer.requested',
  ])
  const votes = records.filter((record: { action: string }) => record.action === 'transfer.approved')
  expect(votes.map((record: { actorId: string }) => record.actorId)).toEqual([
    bench.firstApprover.userId,
    bench.secondApprover.userId,
  ])
  for (const vote of votes) expect(vote.details.payloadHash).toBe(body.payloadHash)

  for (const seal of body.seals) {
    const { sequence, previousHash, sealedAt, keyId, records } = seal
    const leaves = records.map(({ id, hash }) => ({ id, hash: Buffer.from(hash, 'hex') }))
    const root = rootOfLeaves(leaves).toString('hex')
    expect(root).toBe(seal.root)
    const head = { chain: body.transfer.vaultId, sequence, previousHash, sealedAt }
    expect(hashOf(sorted({ ...head, keyId, log: 'audit', root, size: records.length }))).toBe(seal.hash)
    const text = `strongroom-seal-1:${seal.hash}`
    expect(isSignedByKey(Buffer.from(seal.publicKey!, 'hex'), text, Buffer.from(seal.signature!, 'hex'))).toBe(true)
  }
  const sealed = new Set(body.seals.flatMap((seal) => seal.records.map(({ hash }) => hash)))
  for (const record of body.auditRecords) expect(sealed).toContain(record.hash)

  const policies = body.decision.policies as { code: string; rulesVersion: number }[]
  expect(policies.map(({ code }) => code)).toEqual(['large'])
  // The version of the rules that decided.
  expect(policies[0]!.rulesVersion).toBeGreaterThan(0)
  const transfer = (await bench.vault.admin.get(`/vaults/main-vault/transfers/${id}`)).body
  expect(transfer.rulesVersion).toBe(policies[0]!.rulesVersion)
  expect(body.ledgerEntries.map((entry) => [entry.kind, entry.amount])).toEqual([
    ['reserve', '200000000'],
    ['settle', '200000000'],
    ['fee', '21000'],
  ])
})

it('T84 the evidence proves each ledger entry in the signed seal that holds it', async () => {
  const { body } = await bench.vault.admin.get(`/vaults/main-vault/transfers/${id}/evidence`)
  for (const { sequence, content, hash, sealSequence, proof } of body.ledgerEntries) {
    expect(hashOf(content)).toBe(hash)
    const seal = body.ledgerSeals.find((candidate) => candidate.sequence === sealSequence)!
    expect(rootFrom(sorted({ hash, id: sequence }), proof!, seal.size)).toBe(seal.root)
    const { previousHash, sealedAt, keyId, root, size } = seal
    const head = { chain: body.transfer.vaultId, sequence: seal.sequence, previousHash, sealedAt }
    expect(hashOf(sorted({ ...head, keyId, log: 'ledger', root, size }))).toBe(seal.hash)
    const text = `strongroom-seal-1:${seal.hash}`
    expect(isSignedByKey(Buffer.from(seal.publicKey!, 'hex'), text, Buffer.from(seal.signature!, 'hex'))).toBe(true)
  }
  expect(body.ledgerEntries).toHaveLength(3)
})

it('T84 the records in the evidence hold the decision, the rate, the metadata and the fee that it shows', async () => {
  const { body } = await bench.vault.admin.get(`/vaults/main-vault/transfers/${id}/evidence`)
  const detailsOf = (action: string) =>
    body.auditRecords.map(({ content }) => JSON.parse(content)).find((record) => record.action === action).details
  const { decisionHash, metadata, rate, expiresAt } = detailsOf('transfer.requested')
  expect(hashOf(sorted(body.decision))).toBe(decisionHash)
  const { transfer } = body
  const { category: _, ...shown } = transfer.metadata
  expect(metadata).toEqual(shown)
  const { usdRate, usdRateAsOf, usdRateSource } = transfer
  expect(rate).toEqual(usdRate === null ? null : { usdRate, usdRateAsOf, usdRateSource })
  expect(expiresAt).toBe(transfer.expiresAt)
  expect(detailsOf('transfer.confirmed')).toMatchObject({ fee: transfer.fee, txHash: transfer.txHash })
})

/** Returns the root that follows from a leaf and its path in a tree of so many leaves (docs/audit.md). */
function rootFrom(leaf: string, { index, path }: { index: number; path: string[] }, size: number): string {
  const digest = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
  const rest = path.map((hex) => Buffer.from(hex, 'hex'))
  let hash = digest(Buffer.of(0), Buffer.from(leaf))
  for (let at = index, width = size; width > 1; at >>= 1, width = (width + 1) >> 1) {
    if (at % 2 === 0 && at === width - 1) continue
    const other = rest.shift()!
    hash = at % 2 === 0 ? digest(Buffer.of(1), hash, other) : digest(Buffer.of(1), other, hash)
  }
  expect(rest).toEqual([])
  return hash.toString('hex')
}

it('T27 the evidence reveals a changed order by its hash', async () => {
  await bench.sql(`update transfers set payload = payload || '{"amount": "1"}' where id = $1`, [id])
  const { body } = await bench.vault.admin.get(`/vaults/main-vault/transfers/${id}/evidence`)
  expect(hashOf(sorted(body.payload))).not.toBe(body.payloadHash)
})

it('T39 the evidence is for administrators of its vault', async () => {
  const path = `/vaults/main-vault/transfers/${id}/evidence` as const
  for (const by of [bench.owner, bench.firstApprover]) expect((await by.get(path)).status).toBe(403)
  expect((await bench.test.anonymous.get(path)).status).toBe(401)
  expect((await bench.vault.admin.get('/vaults/main-vault/transfers/cmi8h2k1p0a1b2c3d4e5f6g7h/evidence')).status).toBe(
    404,
  )
})
