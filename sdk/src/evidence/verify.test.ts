import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Evidence, readEvidence } from './evidence.ts'
import { type CheckName, checkNames, verifyEvidence } from './verify.ts'

/** The code of an auditor: SHA-256 and JSON with sorted keys, without any of the tested code. */
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`).join(',')}}`
}

const payload = {
  amount: '80000000',
  contractAddress: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  fromAddress: '0xc5ea06972767FaB9D5972dB40836Ed15D37662d6',
  initiatorId: 'treasurer',
  network: 'ethereum',
  toAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  tokenId: 'tusd',
  transferId: 'transfer',
  vaultId: 'vault',
}
const facts = { amount: '80', isNew: true }

/**
 * Returns a genuine file of a transfer that two people approved, or of a row of a payout that they approved.
 * tidy: long because it is one document.
 */
function genuine(isRow = false): Evidence {
  const payloadHash = hashOf(sorted(payload))
  const requirements = [{ policyCode: 'large', threshold: 2, bypassed: false, voters: ['first', 'second', 'third'] }]
  const payout = { id: 'payout', payloadHash: 'c'.repeat(64) }
  const record = (id: string, action: string, actorId: string | null, details: object, targetId = 'transfer') => {
    const content = sorted({
      action,
      actorId,
      chain: 'vault',
      createdAt: '2026-08-03T11:59:00.000Z',
      details,
      id,
      targetId,
      targetType: 'transfer',
    })
    return { id, content, hash: hashOf(content) }
  }
  const records = [
    record('r1', 'transfer.requested', 'treasurer', {
      status: 'pending',
      payload,
      payloadHash,
      factsHash: hashOf(sorted(facts)),
      ...(isRow ? { payout, requirements: [] } : { requirements }),
    }),
    ...(isRow
      ? [
          record('r0', 'payout.requested', 'treasurer', { payloadHash: payout.payloadHash, requirements }, 'payout'),
          record('r2', 'payout.voted', 'first', { payloadHash: payout.payloadHash, decision: 'approve' }, 'payout'),
          record('r3', 'payout.voted', 'second', { payloadHash: payout.payloadHash, decision: 'approve' }, 'payout'),
        ]
      : [
          record('r2', 'transfer.approved', 'first', { payloadHash }),
          record('r3', 'transfer.approved', 'second', { payloadHash }),
        ]),
    record('r4', 'transfer.confirmed', null, { from: 'pending', to: 'confirmed' }),
  ]
  const seal = (sequence: number, previousHash: string, held: typeof records) => {
    const body = {
      sequence,
      previousHash,
      records: held.map(({ id, hash }) => ({ id, hash })),
      sealedAt: '2026-08-03T12:00:00.000Z',
    }
    return { ...body, hash: hashOf(sorted({ ...body, chain: 'vault' })) }
  }
  const first = seal(7, 'a'.repeat(64), records.slice(0, 3))
  const second = seal(8, first.hash, records.slice(3))
  const { fromAddress, transferId, ...shown } = payload
  const entry = (sequence: string, kind: string, tokenId: string, amount: string) => {
    const sides = { debitBalance: '0', creditBalance: null, createdAt: '2026-08-03T12:00:00.000Z' }
    return { sequence, kind, tokenId, amount, ...sides }
  }
  return {
    schemaVersion: '1',
    ledgerSeals: [],
    signedVotes: [],
    transfer: {
      ...shown,
      id: transferId,
      fromAddress: { address: fromAddress },
      payloadHash,
      amountDecimal: '80',
      status: 'confirmed',
    },
    payload: { ...payload },
    payloadHash,
    decision: { facts },
    auditRecords: records.map(({ content, hash }, index) => ({ content, hash, sealSequence: index < 3 ? 7 : 8 })),
    seals: [first, second],
    ledgerEntries: [
      entry('1', 'reserve', 'tusd', '80000000'),
      entry('2', 'settle', 'tusd', '80000000'),
      entry('3', 'fee', 'eth', '21000'),
    ],
  }
}

const namesOf = async (evidence: Evidence, state: string) =>
  (await verifyEvidence(evidence)).checks.filter((check) => check.state === state).map(({ name }) => name)

const withRecord = (index: number, from: string, to: string) => (file: Evidence) => {
  const record = file.auditRecords[index]!
  record.content = record.content.replaceAll(from, to)
}

describe('an evidence file', () => {
  it('passes every check if it is genuine', async () => {
    const open = ['decision', 'seals', 'sealed', 'entries']
    const unclear = [...open, 'signatures']
    expect(await namesOf(genuine(), 'holds')).toEqual(checkNames.filter((name) => !unclear.includes(name)))
    // A file of version 1 has neither signed seals nor proofs of its entries.
    expect(await namesOf(genuine(), 'open')).toEqual(open)
  })

  it('of a row of a payout passes every check, and fails if a vote or its hash was changed', async () => {
    expect(await namesOf(genuine(true), 'fails')).toEqual([])
    for (const [change, failing] of [
      [withRecord(2, '"first"', '"nobody"'), ['records', 'quorum']],
      [withRecord(3, 'c'.repeat(64), 'd'.repeat(64)), ['records', 'votes']],
      [withRecord(3, '"approve"', '"reject"'), ['records', 'quorum']],
      [withRecord(1, '"payout"', '"another"'), ['records', 'votes']],
    ] as const) {
      const file = genuine(true)
      change(file)
      expect(await namesOf(file, 'fails')).toEqual(failing)
    }
  })

  it.each<[string, (file: Evidence) => void, CheckName[]]>([
    ['another amount in the order', (file) => (file.payload.amount = '1'), ['order', 'ledger']],
    ['another recipient shown', (file) => (file.transfer.toAddress = '0xdead'), ['shown']],
    ['another amount in token units shown', (file) => (file.transfer.amountDecimal = '800'), ['shown']],
    ['another fact', (file) => (file.decision.facts = { ...facts, isNew: false }), ['facts']],
    ['a fact that has no canonical form', (file) => (file.decision.facts = { rate: 0.5 }), ['facts']],
    ['another voter', withRecord(1, '"first"', '"nobody"'), ['records', 'quorum']],
    ['a vote for another order', withRecord(2, hashOf(sorted(payload)), 'b'.repeat(64)), ['records', 'votes']],
    ['a vote twice by one person', withRecord(2, '"second"', '"first"'), ['records', 'quorum']],
    ['a removed vote', (file) => file.auditRecords.splice(1, 1), ['quorum']],
    ['a removed order', (file) => file.auditRecords.splice(0, 1), ['votes', 'quorum']],
    ['a record of another transfer', withRecord(3, '"transfer",', '"other",'), ['records', 'votes']],
    ['a changed record with a matching hash', (file) => refit(file, 3), ['votes', 'sealed']],
    [
      'a signed vote that was left out',
      withRecord(1, '"payloadHash"', '"signedVote":"it","payloadHash"'),
      ['records', 'signatures'],
    ],
    ['a malformed signature', (file) => (file.signedVotes = [{} as never]), ['signatures']],
    ['a seal of another time', (file) => (file.seals[0]!.sealedAt = '2026-08-04T12:00:00.000Z'), ['seals', 'sealed']],
    ['a changed seal with a matching hash', resealFirst, ['chain']],
    ['a missing seal', (file) => file.seals.pop(), ['sealed']],
    ['another amount in the books', (file) => (file.ledgerEntries[1]!.amount = '1'), ['ledger']],
    ['no payment in the books', (file) => file.ledgerEntries.splice(1, 1), ['ledger']],
  ])('%s is noticed', async (_what, tamper, expected) => {
    const file = genuine()
    tamper(file)
    expect(await namesOf(file, 'fails')).toEqual(expected)
  })

  it('leaves open what the file cannot prove yet', async () => {
    const file = genuine()
    file.transfer.status = 'awaiting_approval'
    withRecord(0, '"status":"pending"', '"status":"awaiting_approval"')(file)
    file.auditRecords[0]!.hash = hashOf(file.auditRecords[0]!.content)
    file.auditRecords = file.auditRecords.slice(0, 1).map((record) => ({ ...record, sealSequence: null }))
    file.seals = []
    file.ledgerEntries = file.ledgerEntries.slice(0, 1)
    expect(await namesOf(file, 'fails')).toEqual([])
    expect(await namesOf(file, 'open')).toEqual(['decision', 'quorum', 'seals', 'sealed', 'chain', 'entries'])
  })
})

function refit(file: Evidence, index: number): void {
  withRecord(index, '"transfer",', '"other",')(file)
  file.auditRecords[index]!.hash = hashOf(file.auditRecords[index]!.content)
}

function resealFirst(file: Evidence): void {
  const { hash: _, ...seal } = { ...file.seals[0]!, sealedAt: '2026-08-04T12:00:00.000Z' }
  file.seals[0] = { ...seal, hash: hashOf(sorted({ ...seal, chain: 'vault' })) }
}

/** A file of version 1, which had no seals of the ledger. */
function written(): object {
  const { ledgerSeals: _, ...file } = genuine()
  return file
}

it.each([
  ['a text that is not JSON', 'what'],
  ['null', 'null'],
  ['a list', '[]'],
  ['a file of another version', JSON.stringify({ ...written(), schemaVersion: '2' })],
  ['a file without records', JSON.stringify({ ...written(), schemaVersion: '1', auditRecords: {} })],
])('%s is not read as evidence', (_what, text) => expect(readEvidence(text)).toBeNull())

it('reads a file of the service', () => {
  expect(readEvidence(JSON.stringify(written()))).not.toBeNull()
})
