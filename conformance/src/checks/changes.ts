import { setTimeout as sleep } from 'node:timers/promises'
import Type, { type Static } from 'typebox'
import { expectAnswer, expectStatus, expectThat, TransferState, textOf } from '../answers.ts'
import type { Category } from '../check.ts'
import type { Answer } from '../http-exchange.ts'
import { answerMillisecondsMax, impossibleWatchSeconds, ordersAtOnce, pollMilliseconds } from '../limits.ts'
import { Blocked } from '../outcomes.ts'
import type { Client, WalletUnderTest } from '../wallet-under-test.ts'

const section = 'get-transferschangesafterlimitwait' as const

const Page = Type.Object({
  changes: Type.Array(TransferState, { maxItems: 1_000 }),
  cursor: Type.String({ pattern: '^[A-Za-z0-9_-]{1,200}$' }),
})
type Page = Static<typeof Page> & { answer: Answer }
type Change = Static<typeof TransferState>

/** Orders of one check: enough for several pages. */
const ordersCount = 12
/** Pages beyond those that the changes of a check fill, of one change each. */
const pagesMax = 10 * ordersCount

/** The part of the protocol by which Strongroom follows all transfers with one question. Optional for a wallet service. */
export const changes: Category = {
  name: 'changes',
  title: 'Changes of transfers (optional)',
  checks: [
    {
      id: 'changes.begin',
      title: 'Without a cursor the answer is empty and names this moment',
      section,
      rule: '**Without `after`** the answer is empty at once, and its cursor names this moment.',
      advice: 'Answer the cursor of the last change that is committed, and no change.',
      async run(wallet) {
        await place(wallet, 1)
        const { changes, answer } = await ask(wallet, {})
        expectThat(changes.length === 0, 'the first answer lists changes', answer)
      },
    },
    {
      id: 'changes.complete',
      title: 'Whoever reads on while orders come at the same time misses none of them',
      section,
      rule: '**Nothing is skipped**: a change that was committed after an answer comes after its cursor',
      advice:
        'Number a change when it is committed, not when its transaction begins, or let nobody read beyond one that is open.',
      async run(wallet) {
        const begun = await ask(wallet, {})
        const placing = place(wallet, ordersCount)
        const during = await readOn(wallet, begun.cursor, 3)
        const ids = await placing
        const rest = await readOn(wallet, during.cursor, 3)
        expectListed(ids, { ...rest, changes: [...during.changes, ...rest.changes] })
        const longest = [...during.pages, ...rest.pages].find(({ changes }) => changes.length > 3)
        expectThat(longest === undefined, 'an answer has more changes than its limit', rest.answer)
      },
    },
    {
      id: 'changes.once',
      title: 'A change is listed once, however it is read',
      section,
      rule: 'each transfer is listed at most once for each change, and a reader reaches the end',
      advice: 'Begin after the change that the cursor names, not with it.',
      async run(wallet) {
        const { changes, answer } = await placeAndRead(wallet, 2)
        const seen = new Set<string>()
        for (const { id, status, txHash } of changes) {
          const state = [id, status, txHash].join(' ')
          expectThat(!seen.has(state), `${id} is listed twice as ${status}`, answer)
          seen.add(state)
        }
      },
    },
    {
      id: 'changes.ends',
      title: 'Reading on comes to an end',
      section,
      rule: 'a reader reaches the end',
      advice: 'Answer no changes when nothing changed after the cursor.',
      async run(wallet) {
        const { isOver, answer } = await placeAndRead(wallet, 1)
        expectThat(isOver, `after ${pagesMax} answers there are still changes`, answer)
      },
    },
    {
      id: 'changes.forward',
      title: 'The cursor goes on with every change, and back with none',
      section,
      rule: 'its cursor names the same place',
      advice: 'Answer the cursor of the last change of the answer.',
      async run(wallet) {
        const { pages } = await placeAndRead(wallet, 2)
        const passed = new Set<string>()
        for (const { changes, cursor, answer } of pages) {
          if (changes.length === 0) continue
          expectThat(!passed.has(cursor), 'a cursor comes again, although changes were listed since', answer)
          passed.add(cursor)
        }
      },
    },
    {
      id: 'changes.repeat',
      title: 'The same cursor can be read again, with all that came after it',
      section,
      rule: 'a change that was committed after an answer comes after its cursor',
      advice: 'Keep nothing about who has read what: the cursor says it.',
      async run(wallet) {
        const { begun, changes } = await placeAndRead(wallet, 1_000)
        const again = await readOn(wallet, begun, 1_000)
        const listed = new Set(again.changes.map(({ id }) => id))
        const missing = changes.filter(({ id }) => !listed.has(id))
        expectThat(missing.length === 0, `${missing.length} changes are not listed again`, again.answer)
      },
    },
    {
      id: 'changes.state',
      title: 'A listed state is not behind the one that GET /transfers/{id} has answered before',
      section,
      rule: 'An entry is the present state of a transfer, as GET /transfers/{id} answers it',
      advice: 'Read the state when you answer, in the same transaction as the order of changes.',
      async run(wallet) {
        const { cursor } = await ask(wallet, {})
        const ids = await place(wallet, 3)
        const known = new Map<string, Answer>()
        for (const id of ids) known.set(id, await stateOf(wallet, id))
        const { changes, answer } = await readOn(wallet, cursor, 1_000)
        for (const [id, state] of known) {
          const listed = changes.filter((change) => change.id === id).at(-1)
          const [before, after] = [rankOf(textOf(state, 'status')), rankOf(listed?.status)]
          expectThat(
            after >= before,
            `${id} is ${textOf(state, 'status')} and listed as ${listed?.status}`,
            state,
            answer,
          )
        }
      },
    },
    {
      id: 'changes.waits',
      title: 'A question that waits is answered with the first change',
      section,
      rule: '`wait` is the time in seconds for which the answer may wait',
      advice: 'Wake the questions that are held when a change is committed.',
      async run(wallet) {
        const { cursor } = await readOn(wallet, (await ask(wallet, {})).cursor, 1_000)
        const waiting = ask(wallet, { after: cursor, wait: '8' })
        const [id] = await place(wallet, 1)
        const { changes, answer } = await waiting
        const isListed = changes.some((change) => change.id === id)
        expectThat(isListed || answer.milliseconds < 8_000, 'it waited to the end, although an order came', answer)
      },
    },
    {
      id: 'changes.clients',
      title: 'The changes and the cursor of another client say nothing to this one',
      section,
      rule: 'A cursor of another client, and a text that is not a cursor, are a 400.',
      advice: 'Filter the changes by the client of the secret, and bind the cursor to it.',
      needs: ['otherClient'],
      async run(wallet) {
        const other = await ask(wallet, {}, 'other')
        const { begun, changes } = await placeAndRead(wallet, 1_000)
        const listed = await readOn(wallet, other.cursor, 1_000, 'other')
        const ids = new Set(changes.map(({ id }) => id))
        expectThat(!listed.changes.some(({ id }) => ids.has(id)), 'it lists transfers of another client', listed.answer)
        const foreign = await wallet.call('GET', pathOf({ after: begun }), { client: 'other' })
        expectStatus(foreign, [400, 410], 'the cursor of another client')
      },
    },
    {
      id: 'changes.restart',
      title: 'A restart of the service loses no change, and no cursor',
      section,
      rule: 'A cursor outlives a restart of the service',
      advice: 'Keep the numbers of changes in the database, and nothing about cursors in memory.',
      needs: ['restart'],
      async run(wallet) {
        const { begun, cursor } = await placeAndRead(wallet, 1_000)
        const before = await place(wallet, 3)
        await wallet.take(wallet.options.restart!)
        const after = await place(wallet, 3)
        for (const from of [cursor, begun]) {
          const listed = await readOn(wallet, from, 1_000)
          expectListed([...before, ...after], listed)
        }
      },
    },
    {
      id: 'changes.restore',
      title: 'A cursor of changes that a restored database does not have is a 410, also after other changes',
      section,
      rule: '410 when the service no longer has the changes that the cursor is of, because its database was restored',
      advice: 'Let a cursor name what a restored database cannot have: the time since it runs, not only a number.',
      needs: ['restore'],
      async run(wallet) {
        const { keep, restore } = wallet.options.backup!
        await placeAndRead(wallet, 1_000)
        await wallet.take(keep)
        const { cursor: lost } = await placeAndRead(wallet, 1_000)
        await wallet.take(restore)
        expectStatus(await wallet.call('GET', pathOf({ after: lost })), 410, 'the cursor of lost changes')
        // As many changes as were lost, and more: numbers that were used before are used again.
        const { begun } = await placeAndRead(wallet, 1_000)
        const ids = await place(wallet, ordersCount)
        expectStatus(await wallet.call('GET', pathOf({ after: lost })), 410, 'the same cursor after other changes')
        expectListed(ids, await readOn(wallet, begun, 1_000))
      },
    },
    {
      id: 'changes.many',
      title: 'Of many open transfers each is listed, in answers that come in time',
      section,
      rule: 'Nothing is skipped',
      advice: 'Find changes by an index in their order, and end an answer where the next one begins.',
      needs: ['many'],
      async run(wallet) {
        const { cursor } = await ask(wallet, {})
        const ids = await placeMany(wallet, wallet.options.manyOrders!)
        const listed = await readOn(wallet, cursor, 1_000)
        expectListed(ids, listed)
        const late = listed.pages.find(({ answer }) => answer.milliseconds > answerMillisecondsMax)
        expectThat(late === undefined, `an answer took ${late?.answer.milliseconds} ms`, listed.answer)
      },
    },
    {
      id: 'changes.query',
      title: 'A text that is not a cursor and limits out of range are a 400',
      section,
      rule: '`limit` is the maximum number of changes in the answer (1 to 1000',
      advice: 'Check the form of all three parameters.',
      async run(wallet) {
        await ask(wallet, {})
        for (const query of [
          { after: '' },
          { after: '!' },
          { limit: '0' },
          { limit: '1001' },
          { wait: '26' },
          { wait: '-1' },
        ]) {
          const answer = await wallet.call('GET', pathOf(query))
          expectStatus(answer, 400, Object.entries(query).join())
        }
      },
    },
  ],
}

type Query = { after?: string; limit?: string; wait?: string }

const pathOf = (query: Query) => `/transfers/changes?${new URLSearchParams(query)}`

/** @throws Blocked when the wallet service does not offer it */
async function ask(wallet: WalletUnderTest, query: Query, client: Client = 'main'): Promise<Page> {
  const answer = await wallet.call('GET', pathOf(query), { client })
  if (query.after === undefined && [404, 405, 501].includes(answer.status))
    throw new Blocked('The wallet service does not offer GET /transfers/changes')
  return { ...expectAnswer(answer, 200, Page), answer }
}

/** Orders that can move nothing, all at the same time. */
async function place({ call, order }: WalletUnderTest, count: number): Promise<string[]> {
  const bodies = await Promise.all(Array.from({ length: count }, () => order()))
  const answers = await Promise.all(bodies.map((body) => call('POST', '/transfers', { body })))
  for (const answer of answers) expectStatus(answer, 202)
  return bodies.map(({ id }) => id)
}

/** As `place`, some at a time. */
async function placeMany(wallet: WalletUnderTest, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) ids.push(...(await place(wallet, Math.min(ordersAtOnce, count - ids.length))))
  return ids
}

function expectListed(ids: string[], { changes, answer }: ReadOn): void {
  const listed = new Set(changes.map(({ id }) => id))
  const missing = ids.filter((id) => !listed.has(id))
  expectThat(missing.length === 0, `${missing.length} of ${ids.length} orders are never listed`, answer)
}

type ReadOn = { pages: Page[]; changes: Change[]; cursor: string; isOver: boolean; answer: Answer }

/** Reads from a cursor until nothing comes, or more than can be. */
async function readOn(wallet: WalletUnderTest, after: string, limit: number, client?: Client): Promise<ReadOn> {
  const pages: Page[] = []
  let cursor = after
  for (;;) {
    const page = await ask(wallet, { after: cursor, limit: String(limit) }, client)
    pages.push(page)
    cursor = page.cursor
    const isOver = page.changes.length === 0
    const changes = pages.flatMap((page) => page.changes)
    if (isOver || pages.length > pagesMax) return { pages, changes, cursor, isOver, answer: page.answer }
  }
}

/** Places orders, and reads what changed since before them. */
async function placeAndRead(wallet: WalletUnderTest, limit: number): Promise<ReadOn & { begun: string }> {
  const { cursor: begun } = await ask(wallet, {})
  await place(wallet, ordersCount)
  return { ...(await readOn(wallet, begun, limit)), begun }
}

/** The state when it is queued no longer, or after a while. */
async function stateOf({ call }: WalletUnderTest, id: string): Promise<Answer> {
  const until = Date.now() + impossibleWatchSeconds * 1_000
  for (;;) {
    const answer = await call('GET', `/transfers/${id}`)
    if (textOf(answer, 'status') !== 'queued' || Date.now() > until) return answer
    await sleep(pollMilliseconds)
  }
}

/** A final state is never left, and what was broadcast is not queued again. */
const rankOf = (status: string | undefined): number =>
  ['queued', 'broadcast', 'confirmed', 'failed'].indexOf(status ?? '')
