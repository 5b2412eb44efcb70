import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type ChainSeal, type LogRecord, verifyLog, verifyPage } from './chain.ts'

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** A log of four records in three seals, and one record that waits for the next seal; newest first, as it is read. */
function genuine(): { seals: ChainSeal[]; records: LogRecord[] } {
  const records = ['a', 'b', 'c', 'd', 'e'].map((id, index): LogRecord => {
    const shown = { action: 'policy.updated', actorId: 'admin', createdAt: `2026-08-03T12:00:0${index}.000Z` }
    const target = { targetId: 'p', targetType: 'policy' }
    const { action, actorId, createdAt } = shown
    const content = JSON.stringify({ action, actorId, chain: 'vault', createdAt, details: {}, id, ...target })
    return { id, ...shown, ...target, content, hash: hashOf(content), sealSequence: [1, 1, 2, 3, null][index]! }
  })
  let previousHash = '0'.repeat(64)
  const seals = [1, 2, 3].map((sequence): ChainSeal => {
    const held = records.filter(({ sealSequence }) => sealSequence === sequence).map(({ id, hash }) => ({ hash, id }))
    const sealedAt = `2026-08-03T12:00:1${sequence}.000Z`
    const hash = hashOf(JSON.stringify({ chain: 'vault', previousHash, records: held, sealedAt, sequence }))
    const seal = { chain: 'vault', sequence, previousHash, records: held, sealedAt, hash }
    previousHash = hash
    return seal
  })
  return { seals: seals.reverse(), records: records.reverse() }
}

async function* each<Item>(items: Item[]) {
  yield* items
}

type Log = ReturnType<typeof genuine>
const reseal = (seal: ChainSeal) => {
  const { chain, previousHash, records, sealedAt, sequence } = seal
  seal.hash = hashOf(JSON.stringify({ chain, previousHash, records, sealedAt, sequence }))
}

describe('a log', () => {
  it('holds when it is genuine', async () => {
    const { seals, records } = genuine()
    const found = await verifyLog(each(seals), each(records), () => {})
    expect(found).toMatchObject({ seals: 3, records: 5, waiting: 1, faults: [], newestSeal: { sequence: 3 } })
  })

  it.each<[string, (log: Log) => void, string[]]>([
    [
      'another actor in the content',
      ({ records }) => (records[1]!.content = records[1]!.content.replace('admin', 'eve')),
      ['record_hash d'],
    ],
    ['another actor shown', ({ records }) => (records[1]!.actorId = 'eve'), ['record_fields d']],
    ['a removed record', ({ records }) => records.splice(2, 1), ['record_missing c']],
    [
      'an inserted record',
      ({ records }) => {
        const content = records[1]!.content.replace('"d"', '"x"')
        records.push({ ...records[1]!, id: 'x', content, hash: hashOf(content) })
      },
      ['record_not_sealed x'],
    ],
    ['a removed seal', ({ seals }) => seals.splice(1, 1), ['seal_number 2', 'record_not_sealed c']],
    ['no first seal', ({ seals }) => seals.pop(), ['seal_number 1', 'record_not_sealed b', 'record_not_sealed a']],
    ['another time of a seal', ({ seals }) => (seals[1]!.sealedAt = '2027'), ['seal_hash 2']],
    [
      'a seal that was made to fit',
      ({ seals }) => {
        seals[1]!.sealedAt = '2027'
        reseal(seals[1]!)
      },
      ['seal_link 3'],
    ],
    [
      'a first seal that follows another',
      ({ seals }) => {
        seals[2]!.previousHash = 'f'.repeat(64)
        reseal(seals[2]!)
      },
      ['seal_link 2', 'seal_link 1'],
    ],
  ])('%s is noticed', async (_what, tamper, expected) => {
    const log = genuine()
    tamper(log)
    const { faults } = await verifyLog(each(log.seals), each(log.records), () => {})
    expect(faults.map((fault) => `${fault.kind} ${'id' in fault ? fault.id : fault.sequence}`)).toEqual(expected)
  })

  it('does not blame records that were sealed after the seals were read', async () => {
    const { seals, records } = genuine()
    const found = await verifyLog(each(seals.slice(1)), each(records), () => {})
    expect(found).toMatchObject({ waiting: 2, faults: [] })
  })
})

describe('a page of a log', () => {
  const sealsOf = (log: Log) => async (sequence: number) => log.seals.find((seal) => seal.sequence === sequence) ?? null

  it('holds when it is genuine', async () => {
    const log = genuine()
    expect(await verifyPage(log.records.slice(0, 3), sealsOf(log))).toMatchObject({ seals: 2, waiting: 1, faults: [] })
  })

  it.each<[string, (log: Log) => void, string[]]>([
    ['a missing seal', ({ seals }) => seals.splice(0, 1), ['seal_number', 'record_not_sealed']],
    ['another record in the seal', ({ seals }) => (seals[0]!.records[0]!.id = 'x'), ['seal_hash', 'record_not_sealed']],
    ['another hash', ({ records }) => (records[1]!.hash = 'f'.repeat(64)), ['record_hash', 'record_not_sealed']],
  ])('%s is noticed', async (_what, tamper, expected) => {
    const log = genuine()
    tamper(log)
    const { faults } = await verifyPage(log.records.slice(0, 3), sealsOf(log))
    expect(faults.map(({ kind }) => kind)).toEqual(expected)
  })
})
