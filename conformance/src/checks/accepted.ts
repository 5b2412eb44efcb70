import Type, { type Static } from 'typebox'
import { expectAnswer, expectStatus, expectThat } from '../answers.ts'
import type { Category } from '../check.ts'
import type { Answer } from '../http-exchange.ts'
import { Blocked } from '../outcomes.ts'
import type { Client, WalletUnderTest } from '../wallet-under-test.ts'

const section = 'get-acceptedafterlimit' as const

const Text = Type.String({ minLength: 1, maxLength: 300 })
const Entry = Type.Union([
  Type.Object({ kind: Type.Literal('transfer'), id: Text }),
  Type.Object({ kind: Type.Literal('address'), network: Text, derivationPath: Text, address: Text }),
  Type.Object({
    kind: Type.Literal('event'),
    id: Text,
    network: Text,
    asset: Type.Union([Text, Type.Null()]),
    toAddress: Text,
    txHash: Text,
    index: Type.Integer({ minimum: 0 }),
    occurrence: Type.Integer({ minimum: 0 }),
    isOrphan: Type.Boolean(),
  }),
  Type.Object({
    kind: Type.Literal('transaction'),
    network: Text,
    txHash: Text,
    fromAddress: Text,
    fee: Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' }),
    payments: Type.Array(
      Type.Object({ toAddress: Text, contractAddress: Type.Union([Text, Type.Null()]), amount: Text }),
    ),
  }),
])
const Page = Type.Object({
  entries: Type.Array(Entry, { maxItems: 1_000 }),
  count: Type.Integer({ minimum: 0 }),
  cursor: Type.String({ pattern: '^[A-Za-z0-9_-]{1,200}$' }),
})
type Entry = Static<typeof Entry>
type Listed = { entries: Entry[]; count: number; cursor: string; answer: Answer }

const ordersCount = 8
/** Pages that are read at most; a service under test may have many entries of before. */
const pagesMax = 10_000

/** The part of the protocol by which Strongroom notices that either database was restored. Optional for a wallet service. */
export const accepted: Category = {
  name: 'accepted',
  title: 'What was accepted (optional)',
  checks: [
    {
      id: 'accepted.complete',
      title: 'Orders and addresses that come while the list is read are listed behind the cursor',
      section,
      rule: '**Nothing is inserted before an entry that was listed.** The order is that of the commits, as for changes.',
      advice: 'Number an entry when it is committed, under a lock, not when its transaction begins.',
      async run(wallet) {
        const begun = await readOn(wallet, null)
        const placing = Promise.all([place(wallet), wallet.addressOf('listed')])
        const during = await readOn(wallet, begun.cursor)
        const [bodies, { derivationPath }] = await placing
        const rest = await readOn(wallet, during.cursor)
        const since = [...during.entries, ...rest.entries]
        for (const { id } of bodies)
          expectThat(
            since.some((entry) => entry.kind === 'transfer' && entry.id === id),
            `${id} is not listed`,
            rest.answer,
          )
        const isListed = since.some((entry) => entry.kind === 'address' && entry.derivationPath === derivationPath)
        expectThat(isListed, `the address of ${derivationPath} is not listed`, rest.answer)
        expectThat(rest.count === begun.count + since.length, 'count is not the number of all entries', rest.answer)
      },
    },
    {
      id: 'accepted.once',
      title: 'An order that is repeated is listed once',
      section,
      rule: 'each once, with the path and the id as they were sent',
      advice: 'List an order when it is stored for the first time.',
      async run(wallet) {
        const { cursor } = await readOn(wallet, null)
        const [body] = await place(wallet)
        expectStatus(await wallet.call('POST', '/transfers', { body: body! }), 202)
        const { entries, answer } = await readOn(wallet, cursor)
        const same = entries.filter((entry) => entry.kind === 'transfer' && entry.id === body!.id)
        expectThat(same.length === 1, `${body!.id} is listed ${same.length} times`, answer)
      },
    },
    {
      id: 'accepted.clients',
      title: 'The list of another client has nothing of this one',
      section,
      rule: 'Lists what the wallet service has accepted of the client',
      advice: 'Keep one list for each client.',
      needs: ['otherClient'],
      async run(wallet) {
        const { cursor } = await readOn(wallet, null, 'other')
        const ids = new Set((await place(wallet)).map(({ id }) => id))
        const { entries, answer } = await readOn(wallet, cursor, 'other')
        expectThat(!entries.some((entry) => entry.kind === 'transfer' && ids.has(entry.id)), 'it lists them', answer)
      },
    },
    {
      id: 'accepted.restart',
      title: 'A cursor outlives a restart of the service',
      section,
      rule: 'outlives a restart',
      advice: 'Keep the list in the database, and nothing about cursors in memory.',
      needs: ['restart'],
      async run(wallet) {
        const { cursor } = await readOn(wallet, null)
        const bodies = await place(wallet)
        await wallet.take(wallet.options.restart!)
        const { entries, answer } = await readOn(wallet, cursor)
        const ids = new Set(entries.flatMap((entry) => (entry.kind === 'transfer' ? [entry.id] : [])))
        expectThat(
          bodies.every(({ id }) => ids.has(id)),
          'orders of before the restart are not listed',
          answer,
        )
      },
    },
    {
      id: 'accepted.restore',
      title: 'A cursor of entries that a restored database does not have is a 410, also after others took their place',
      section,
      rule: 'when one of them is not there any more, also if others took its place',
      advice: 'Put a digest of all entries before it into each entry, and into the cursor.',
      needs: ['restore'],
      async run(wallet) {
        const { keep, restore } = wallet.options.backup!
        await wallet.take(keep)
        await place(wallet)
        const { cursor: lost } = await readOn(wallet, null)
        await wallet.take(restore)
        expectStatus(await wallet.call('GET', pathOf(lost)), 410, 'the cursor of lost entries')
        await place(wallet)
        await place(wallet)
        expectStatus(await wallet.call('GET', pathOf(lost)), 410, 'the same cursor after other orders')
      },
    },
    {
      id: 'accepted.query',
      title: 'A text that is not a cursor and limits out of range are a 400',
      section,
      rule: '`limit` is 1 to 1000',
      advice: 'Check the form of both parameters.',
      async run(wallet) {
        await ask(wallet, null)
        for (const query of ['after=', 'after=!', 'limit=0', 'limit=1001'])
          expectStatus(await wallet.call('GET', `/accepted?${query}`), 400, query)
      },
    },
  ],
}

const pathOf = (after: string | null) => `/accepted${after === null ? '' : `?${new URLSearchParams({ after })}`}`

/** @throws Blocked when the wallet service does not offer it */
async function ask(wallet: WalletUnderTest, after: string | null, client: Client = 'main'): Promise<Listed> {
  const answer = await wallet.call('GET', pathOf(after), { client })
  if (after === null && [404, 405, 501].includes(answer.status))
    throw new Blocked('The wallet service does not offer GET /accepted')
  return { ...expectAnswer(answer, 200, Page), answer }
}

/** Reads from a cursor to the end. */
async function readOn(wallet: WalletUnderTest, after: string | null, client?: Client): Promise<Listed> {
  const entries: Entry[] = []
  let cursor = after
  for (let pages = 1; ; pages += 1) {
    const page = await ask(wallet, cursor, client)
    entries.push(...page.entries)
    if (page.entries.length === 0) return { ...page, entries }
    expectThat(pages < pagesMax, `after ${pagesMax} answers there are still entries`, page.answer)
    cursor = page.cursor
  }
}

/** Orders that can move nothing, all at the same time. */
async function place({ call, order }: WalletUnderTest) {
  const bodies = await Promise.all(Array.from({ length: ordersCount }, () => order()))
  const answers = await Promise.all(bodies.map((body) => call('POST', '/transfers', { body })))
  for (const answer of answers) expectStatus(answer, 202)
  return bodies
}
