import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Claim, SigningJournal } from './journal.ts'
import { RejectionFiles } from './rejections.ts'
import { StopJournal } from './stop-journal.ts'
import { ToldFiles } from './told.ts'
import { AuthorityUnavailableError } from './unavailable.ts'

let directory: string
const client = 'client'
const at = (hours: number) => new Date(Date.UTC(2026, 0, 1, hours))

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'journal-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const claim = (order: string, nonce: number, changes: Partial<Claim> = {}): Claim => ({
  ...{ order, nonce, network: 'ethereum', contractAddress: null, amount: '40', perDay: '100', maxFee: '50', fee: 50n },
  ...{ expiresAt: at(2).toISOString(), ...changes },
})

test('T58 an order has one nonce, also for another process, and a line that a crash cut off does no harm', async () => {
  const journal = new SigningJournal(directory)
  expect(await journal.claim(client, claim('a', 0), at(1))).toBeNull()
  expect(await journal.claim(client, claim('a', 0), at(1))).toBeNull()
  await appendFile(join(directory, `${client}.signed`), '\n{"order":"cut')
  expect(await journal.claim(client, claim('b', 1), at(1))).toBeNull()
  const other = new SigningJournal(directory)
  expect([await other.has(client, 'b'), await other.has(client, 'cut'), await other.has('nobody', 'b')]).toEqual([
    true,
    false,
    false,
  ])
  expect(await other.claim(client, claim('a', 2), at(1))).toMatch(/^ALREADY_SIGNED: .* nonce 0/)
  expect(await other.claim(client, claim('b', 2), at(1))).toMatch(/^ALREADY_SIGNED: .* nonce 1/)
})

test('T58 only orders of a token that were signed within 24 hours count', async () => {
  const journal = new SigningJournal(directory)
  expect(await journal.claim(client, claim('c', 2), at(2))).toMatch(/^PER_DAY_EXCEEDED: 80 of 100/)
  expect(await journal.claim(client, claim('d', 2, { amount: '20' }), at(2))).toBeNull()
  expect(await journal.claim(client, claim('e', 3, { network: 'polygon' }), at(2))).toBeNull()
  expect(await journal.claim(client, claim('f', 4, { perDay: null }), at(2))).toBeNull()
  expect(await journal.claim('another', claim('c', 0), at(2))).toBeNull()
  expect(await journal.claim(client, claim('c', 5), at(27))).toBeNull()
})

test('entries that can neither be repeated nor count any more are deleted in the end', async () => {
  const journal = new SigningJournal(directory)
  const spent = Array.from({ length: 1_001 }, (_, index) => {
    const { fee: _fee, ...entry } = claim(`old-${index}`, index)
    return { ...entry, at: at(1).toISOString() }
  })
  await appendFile(join(directory, 'long.signed'), spent.map((entry) => `\n${JSON.stringify(entry)}`).join(''))
  expect(await journal.claim('long', claim('new', 9, { expiresAt: at(900).toISOString() }), at(800))).toBeNull()
  expect((await readFile(join(directory, 'long.signed'), 'utf8')).trim().split('\n')).toHaveLength(1)
  expect(await journal.claim('long', claim('new', 10), at(801))).toMatch(/^ALREADY_SIGNED: /)
})

test('T58 the transactions of an order keep to the limit of the first one, and an entry of an earlier release gets one', async () => {
  const journal = new SigningJournal(directory)
  const { fee: _fee, maxFee: _maxFee, perDay: _perDay, ...old } = claim('before', 3)
  await appendFile(join(directory, 'fees.signed'), `\n${JSON.stringify({ ...old, at: at(1).toISOString() })}`)
  expect(await journal.find('fees', 'before')).toMatchObject({ nonce: 3 })
  expect(await journal.claim('fees', claim('before', 3, { maxFee: '50', fee: 51n }), at(2))).toMatch(/^ABOVE_MAX_FEE: /)
  expect(await journal.claim('fees', claim('before', 3, { maxFee: '50', fee: 40n }), at(2))).toBeNull()
  const other = new SigningJournal(directory)
  expect(await other.find('fees', 'before')).toMatchObject({ nonce: 3, maxFee: '50' })
  expect(await other.claim('fees', claim('before', 3, { maxFee: '90', fee: 51n }), at(2))).toMatch(
    /^ABOVE_MAX_FEE: .* 50 /,
  )
  // It was signed once, and counts once.
  expect(await other.claim('fees', claim('next', 4, { amount: '60' }), at(2))).toBeNull()
})

test('T58 a line that is no entry makes its file unusable, and the error names both', async () => {
  for (const line of ['null', '7', '[]', '"order"'])
    for (const suffix of ['signed', 'stopped', 'rejected', 'told'])
      await writeFile(join(directory, `${line}.${suffix}`), `\n{"order":"a"}\n${line}`)
  const unusable = async (reading: Promise<unknown>, file: string) => {
    const error = await reading.catch((thrown: Error) => thrown)
    expect(error).toBeInstanceOf(AuthorityUnavailableError)
    expect((error as Error).message).toBe(`line 3 of ${file} is not an entry`)
  }
  for (const line of ['null', '7', '[]', '"order"']) {
    const journal = new SigningJournal(directory)
    await unusable(journal.has(line, 'a'), `${line}.signed`)
    await unusable(journal.claim(line, claim('a', 0), at(1)), `${line}.signed`)
    await unusable(new StopJournal(directory).find(line, ['a']), `${line}.stopped`)
    await unusable(new RejectionFiles(directory).find(line, 'a'), `${line}.rejected`)
    await unusable(new ToldFiles(directory).has(line, 'a', 'b'), `${line}.told`)
  }
})
