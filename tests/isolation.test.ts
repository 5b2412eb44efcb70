import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mediaTypes } from '../server/src/modules/reports/files/formats.ts'
import { createTestApp, type Person, type TestApp } from '../server/src/testing/app.ts'
import { campaignOf } from '../server/src/testing/campaign.ts'
import { readArchive } from '../server/src/testing/read-files.ts'
import { withoutRequestId } from '../server/src/testing/without-request-id.ts'
import {
  type Command,
  createOrganisation,
  type Organisation,
  type Size,
  type Verb,
  verbs,
} from './isolation/organisation.ts'
import { parametersOfReports, type ReadOperation, readOperationsOf, readsOf } from './isolation/reads.ts'

/**
 * Whatever happens to resources that a member may not see, every byte of every answer to the member stays the same: items,
 * sums, counts, cursors, errors. The organisations and the events in them are random.
 */

const { runs, seed } = campaignOf('ISOLATION', { runs: 1, seed: 40 })
/** The number of requests to each operation that each run sends, of all possible requests. */
const filteredReads = 4
const pagesMax = 100
const atOnce = 8

type Run = { size: Size; past: Command[]; changes: Command[]; witness: Command[]; seed: number }

let test: TestApp
let operations: ReadOperation[]

beforeAll(async () => {
  test = await createTestApp()
  operations = readOperationsOf(test.app)
})
afterAll(() => test.close())

const picks = fc.tuple(fc.nat({ max: 1_000 }), fc.nat({ max: 1_000 }), fc.nat({ max: 1_000 }))
const commandOf = (...from: readonly Verb[]): fc.Arbitrary<Command> =>
  fc.record({ verb: fc.constantFrom(...from), picks })
const commands = (minLength: number, maxLength: number, arbitrary: fc.Arbitrary<Command>) =>
  fc.array(arbitrary, { minLength, maxLength, size: 'max' })

/** Created first, so that there are resources to see and to hide. */
const pastOf = fc
  .tuple(
    commands(1, 3, commandOf('counterparty')),
    commands(5, 8, commandOf('address')),
    commands(5, 9, commandOf('deposit')),
    commands(3, 6, commandOf('grant', 'folder')),
    commands(10, 20, commandOf(...verbs)),
  )
  .map((parts) => parts.flat())

/** In any order, on any resource. */
const everyVerbOnce = fc
  .tuple(
    fc.shuffledSubarray([...verbs], { minLength: verbs.length }),
    fc.array(picks, { minLength: verbs.length, maxLength: verbs.length, size: 'max' }),
  )
  .map(([inOrder, on]) => inOrder.map((verb, index) => ({ verb, picks: on[index]! })))

const runOf: fc.Arbitrary<Run> = fc.record({
  size: fc.record({ people: fc.integer({ min: 3, max: 5 }), memberVotes: fc.boolean() }),
  past: pastOf,
  changes: everyVerbOnce,
  witness: commands(8, 8, commandOf('address', 'deposit', 'label', 'grant', 'folder', 'renameFolder', 'adjust')),
  seed: fc.integer(),
})

it('T40 changes of hidden objects change no answer to a member', async () => {
  const happened = new Set<Verb>()
  const property = fc.asyncProperty(runOf, async (run) => {
    for (const verb of await judge(run)) happened.add(verb)
  })
  await fc.assert(property, { seed, numRuns: runs, endOnFailure: true })
  // Nearly all of them can happen without being visible to the member, and do so sooner or later.
  expect(happened.size).toBeGreaterThan(verbs.length / 2)
}, 3_600_000)

/** Returns the commands that the member may not see. */
async function judge({ size, past, changes, witness, seed }: Run): Promise<Verb[]> {
  const organisation = await createOrganisation(test, size)
  // Resources of others and of the member, so that neither is missing.
  const certain: Command[] = [0, 1].map((who) => ({ verb: 'address', picks: [who, who, who] }))
  for (const command of [...certain, ...past]) await organisation.plan(command)?.run()

  const reads = readsOf(operations, organisation)
  const plain = reads.flatMap((read) => read.plain)
  const urls = [...plain, ...reads.flatMap(({ filtered }) => sample(filtered, filteredReads, seed))]
  // First, because the list of the member's own exports shows each file that is made.
  const filesBefore = await makeFiles(organisation)
  const before = await readAll(organisation, urls)
  const done: Verb[] = []
  const behindTheirBack: Command = { verb: 'address', picks: [1, 1, 1] }
  for (const command of [...changes, behindTheirBack]) {
    const action = organisation.plan(command)
    if (action?.to !== 'hidden') continue
    await action.run()
    done.push(command.verb)
  }
  expect(await readAll(organisation, urls), `after ${done.join()}`).toEqual(before)
  expect(await makeFiles(organisation), `after ${done.join()}`).toEqual(filesBefore)

  // A change that the member may see does change their answers. Otherwise the comparison above would prove nothing.
  const visible: Command = { verb: 'deposit', picks: [0, 1, 1] }
  const seen = [...witness, visible]
    .map((command) => organisation.plan(command))
    .find((action) => action?.to === 'seen')
  await seen!.run()
  const others = plain.filter((url) => !url.includes('/reports/exports'))
  expect(await readAll(organisation, others)).not.toEqual(pickOf(before, others))
  return done
}

async function readAll(organisation: Organisation, urls: string[]): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  const isOfFile = (url: string) => url.includes('format=csv')
  const work = async (waiting: Iterable<string>) => {
    for (const url of waiting) answers[url] = await readToTheEnd(organisation.member, url)
  }
  await organisation.atTheEnd(async () => {
    const waiting = urls.filter((url) => !isOfFile(url)).values()
    await Promise.all(Array.from({ length: atOnce }, () => work(waiting)))
    // The number of files that are made at a time for one caller is limited.
    await work(urls.filter(isOfFile))
  })
  return Object.fromEntries(urls.map((url) => [url, answers[url]!]))
}

/** The file of each report, requested by the member, made in the background and downloaded. */
async function makeFiles(organisation: Organisation): Promise<Record<string, string>> {
  const { vault, member } = organisation
  const files: Record<string, string> = {}
  await organisation.atTheEnd(async () => {
    for (const [type, parameters] of Object.entries(parametersOfReports(organisation))) {
      const id = await organisation.makeFile(type, { who: 0, parameters })
      const url = `/api/v1/vaults/${vault.code}/reports/exports/${id}/download` as const
      const headers = { authorization: `Bearer ${member.token}` }
      const response = await test.app.inject({ method: 'GET', url, headers })
      expect([type, response.statusCode], response.body).toEqual([type, 200])
      files[type] = withoutVolatile(textOf(response))
    }
  })
  return files
}

/** The answer; for a list, all its pages. */
async function readToTheEnd({ token }: Person, url: string): Promise<string> {
  const pages: string[] = []
  for (let next = url; pages.length < pagesMax; ) {
    const response = await test.app.inject({ method: 'GET', url: next, headers: { authorization: `Bearer ${token}` } })
    // On a busy machine a request waits for a connection longer than the service lets it; a client asks again.
    if (response.statusCode === 503) continue
    expect(response.statusCode, `${next}: ${response.body}`).toBeLessThan(500)
    expect(response.statusCode, `${next}: ${response.body}`).not.toBe(429)
    pages.push(`${response.statusCode} ${withoutVolatile(textOf(response))}`)
    const isPage = response.statusCode === 200 && response.body.startsWith('{')
    const cursor: string | null = isPage ? (response.json().nextCursor ?? null) : null
    if (cursor === null) return pages.join('\n')
    next = `${url}${url.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
  }
  return expect.fail(`${url} has no end`)
}

/** Returns the text of an answer. For an archive, the texts of its files. */
function textOf(response: Awaited<ReturnType<TestApp['app']['inject']>>): string {
  if (response.headers['content-type'] !== mediaTypes.zip) return withoutRequestId(response)
  return [...readArchive(response.rawPayload)].map(([name, text]) => `\uFEFF${name}\n${text}`).join('\n')
}

/** Two answers to the same request may differ only in the id of a report. */
function withoutVolatile(text: string): string {
  if (text.startsWith('\uFEFF')) return text.replace(/^Report,.*$/gm, 'Report')
  return text.replace(/"report":\{"id":"[^"]*"/, '"report":{"id":""')
}

function pickOf(answers: Record<string, string>, urls: string[]): Record<string, string> {
  return Object.fromEntries(urls.map((url) => [url, answers[url]!]))
}

/** Selects this many of the items by the seed alone (mulberry32, as fast-check passes no generator to the code under test). */
function sample<Item>(items: Item[], count: number, seed: number): Item[] {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return items
    .map((item) => ({ item, rank: next() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ item }) => item)
}
