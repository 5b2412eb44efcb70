import { createHash, generateKeyPairSync, sign } from 'node:crypto'
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

const keys = generateKeyPairSync('ed25519')
const publicKey = keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
const keyId = createHash('sha256').update(publicKey).digest('hex').slice(0, 32)

/** The root of at most two records, as docs/audit.md describes it. */
function rootOf(records: ChainSeal['records']): Buffer {
  const [left, right] = records.map(({ id, hash }) =>
    createHash('sha256').update(`\0{"hash":"${hash}","id":"${id}"}`).digest(),
  )
  return right === undefined ? left! : createHash('sha256').update('\x01').update(left!).update(right).digest()
}

/** Returns the same log with the second and the third seal signed. */
function signed(): Log {
  const log = genuine()
  const [third, second] = log.seals
  signSeal(second!)
  third!.previousHash = second!.hash
  signSeal(third!)
  return log
}

function signSeal(seal: ChainSeal): void {
  const root = rootOf(seal.records).toString('hex')
  const { chain, previousHash, sealedAt, sequence } = seal
  const size = seal.records.length
  seal.hash = hashOf(JSON.stringify({ chain, keyId, log: 'audit', previousHash, root, sealedAt, sequence, size }))
  const signature = sign(null, Buffer.from(`strongroom-seal-1:${seal.hash}`), keys.privateKey).toString('hex')
  Object.assign(seal, { root, keyId, publicKey: publicKey.toString('hex'), signature })
}

async function* streamOf<Item>(items: Item[]) {
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
    const found = await verifyLog(streamOf(seals), streamOf(records), () => {})
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
    const { faults } = await verifyLog(streamOf(log.seals), streamOf(log.records), () => {})
    expect(faults.map((fault) => `${fault.kind} ${'id' in fault ? fault.id : fault.sequence}`)).toEqual(expected)
  })

  it('T77 holds when its seals are signed roots', async () => {
    const { seals, records } = signed()
    const found = await verifyLog(streamOf(seals), streamOf(records), () => {})
    expect(found).toMatchObject({ seals: 3, records: 5, faults: [], newestSeal: { sequence: 3, keyId } })
  })

  it.each<[string, (log: Log) => void, string[]]>([
    [
      'another root',
      ({ seals }) => (seals[1]!.records[0]!.id = 'x'),
      ['seal_hash 2', 'record_not_sealed c', 'record_missing x'],
    ],
    ['another signature', ({ seals }) => (seals[0]!.signature = '0'.repeat(128)), ['seal_signature 3']],
    ['another key', ({ seals }) => (seals[0]!.publicKey = 'f'.repeat(64)), ['seal_signature 3']],
    [
      'a removed signature',
      ({ seals }) => {
        Object.assign(seals[0]!, { root: null, keyId: null, publicKey: null, signature: null })
        reseal(seals[0]!)
      },
      ['seal_signature 3'],
    ],
  ])('T77 %s of a signed seal is noticed', async (_what, tamper, expected) => {
    const log = signed()
    tamper(log)
    const { faults } = await verifyLog(streamOf(log.seals), streamOf(log.records), () => {})
    expect(faults.map((fault) => `${fault.kind} ${'id' in fault ? fault.id : fault.sequence}`)).toEqual(expected)
  })

  it('does not blame records that were sealed after the seals were read', async () => {
    const { seals, records } = genuine()
    const found = await verifyLog(streamOf(seals.slice(1)), streamOf(records), () => {})
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
