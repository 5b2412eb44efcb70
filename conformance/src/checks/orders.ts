import { expectAnswer, expectStatus, expectThat, TransferState, TransferStates, textOf } from '../answers.ts'
import type { Category } from '../check.ts'
import type { Answer } from '../http-exchange.ts'
import { impossibleWatchSeconds, pollMilliseconds, unaffordable } from '../limits.ts'
import { Blocked } from '../outcomes.ts'
import type { TransferOrder, WalletUnderTest } from '../wallet-under-test.ts'

const section = 'post-transfers' as const
const idempotent =
  'Idempotent by (client, id): repeating an order returns its present state and starts nothing; a different order'

/** Accepting and repeating orders. Their amount exceeds every balance, so that no funds can move. */
export const orders: Category = {
  name: 'orders',
  title: 'Orders of transfers (nothing is moved)',
  checks: [
    {
      id: 'orders.accepted',
      title: 'POST /transfers answers 202 with the state of the transfer',
      section,
      rule: '→ 202 with the transfer’s state (below).',
      advice: 'Store the order and answer 202; a balance that is too low is not a reason to refuse it.',
      async run({ call, order }) {
        const body = await order()
        expectAnswer(await call('POST', '/transfers', { body }), 202, TransferState)
      },
    },
    {
      id: 'orders.echo',
      title: 'The state repeats id, network, addresses, contract and amount as they were ordered',
      section: 'get-transfersid',
      rule: 'the order as the wallet understood it. Strongroom compares them with what it ordered',
      advice: 'Answer the stored order, not the body of the request.',
      async run({ call, order }) {
        const body = await order()
        expectEcho(await call('POST', '/transfers', { body }), body)
      },
    },
    {
      id: 'orders.state',
      title: 'GET /transfers/{id} answers 200 with the same form and order',
      section: 'get-transfersid',
      rule: '{ "id": "cmf0000000000000000000000", "status": "confirmed", "txHash": "0x…"',
      advice: 'Present a transfer in one place for both operations.',
      async run({ call, order }) {
        const body = await order()
        await call('POST', '/transfers', { body })
        const answer = await call('GET', `/transfers/${body.id}`)
        expectAnswer(answer, 200, TransferState)
        expectEcho(answer, body)
      },
    },
    {
      id: 'orders.never-accepted',
      title: 'A transfer that was never ordered is a 404',
      section: 'get-transfersid',
      rule: '404 means that the transfer was never accepted.',
      advice: 'Answer 404 for unknown ids only: Strongroom sends the order again after a 404.',
      async run({ call, nextId }) {
        expectStatus(await call('GET', `/transfers/${nextId()}`), 404)
      },
    },
    {
      id: 'orders.several',
      title: 'GET /transfers?ids answers the states of this client’s transfers only (optional)',
      section: 'get-transfersids',
      rule: 'the state of each of the transfers, as GET /transfers/{id} answers it',
      advice: 'Present a transfer in one place for all operations, and leave out ids that the client does not have.',
      async run({ call, order, nextId }) {
        const bodies = [await order(), await order()]
        for (const body of bodies) expectStatus(await call('POST', '/transfers', { body }), 202)
        const ids = bodies.map(({ id }) => id)
        const path = `/transfers?${new URLSearchParams({ ids: [...ids, nextId()].join() })}`
        const answer = await call('GET', path)
        if ([404, 405, 501].includes(answer.status))
          throw new Blocked('The wallet service does not offer GET /transfers?ids')
        const { transfers } = expectAnswer(answer, 200, TransferStates)
        const listed = transfers.map(({ id }) => id).sort()
        expectThat(listed.join() === [...ids].sort().join(), `it lists ${listed.join(', ') || 'nothing'}`, answer)
        for (const body of bodies) expectSameOrder(transfers.find(({ id }) => id === body.id)!, body, answer)
        const foreign = await call('GET', path, { client: 'other' })
        const { transfers: shown } = expectAnswer(foreign, 200, TransferStates)
        expectThat(shown.length === 0, 'it shows another client the transfers', foreign)
      },
    },
    {
      id: 'orders.repeat',
      title: 'The same order again is answered with its state',
      section,
      rule: idempotent,
      advice: 'Insert the order unless (client, id) exists, then read and compare the stored one.',
      async run({ call, order }) {
        const body = await order()
        expectStatus(await call('POST', '/transfers', { body }), 202, 'the first time')
        const again = await call('POST', '/transfers', { body })
        expectStatus(again, 202, 'the second time')
        expectEcho(again, body)
      },
    },
    {
      id: 'orders.concurrent',
      title: 'Ten simultaneous copies of one order are all accepted',
      section,
      rule: idempotent,
      advice: 'Let a unique key of the database decide which copy is stored.',
      async run({ call, order }) {
        const body = await order()
        const answers = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/transfers', { body })))
        for (const answer of answers) expectStatus(answer, 202)
      },
    },
    {
      id: 'orders.conflict',
      title: 'Another order under the same id is a 409',
      section,
      rule: idempotent,
      advice: 'Compare every field of a repeated order with the stored one.',
      async run({ call, order, addressOf, options }) {
        const body = await order()
        expectStatus(await call('POST', '/transfers', { body }), 202, 'the first order')
        const other = await addressOf('checksum')
        const sender = { derivationPath: other.derivationPath, fromAddress: other.address }
        const changes: object[] = [{ amount: (unaffordable + 1n).toString() }, { toAddress: other.address }, sender]
        if (options.type === 'evm') changes.push({ contractAddress: other.address })
        for (const change of changes) {
          const answer = await call('POST', '/transfers', { body: { ...body, ...change } })
          expectStatus(answer, 409, `another ${Object.keys(change).at(-1)}`)
        }
      },
    },
    {
      id: 'orders.conflict-changes-nothing',
      title: 'A conflicting order leaves the first one as it was',
      section: 'errors',
      rule: 'the id belongs to another order',
      advice: 'Never update a stored order.',
      async run({ call, order }) {
        const body = await order()
        await call('POST', '/transfers', { body })
        await call('POST', '/transfers', { body: { ...body, amount: (unaffordable + 2n).toString() } })
        expectEcho(await call('GET', `/transfers/${body.id}`), body)
      },
    },
    {
      id: 'orders.conflict-race',
      title: 'Exactly one of eight different simultaneous orders under one id is accepted',
      section,
      rule: idempotent,
      advice: 'Let a unique key of the database decide which order is stored, and compare after that.',
      async run({ call, order }) {
        const body = await order()
        const amounts = Array.from({ length: 8 }, (_, index) => (unaffordable + BigInt(index)).toString())
        const answers = await Promise.all(
          amounts.map((amount) => call('POST', '/transfers', { body: { ...body, amount } })),
        )
        for (const answer of answers) expectStatus(answer, [202, 409])
        const accepted = answers.filter(({ status }) => status === 202)
        expectThat(accepted.length === 1, `${accepted.length} of them were accepted`, ...accepted)
      },
    },
    {
      id: 'orders.sender',
      title: 'An order whose fromAddress is not the address of its path is a 400',
      section,
      rule: 'refuse (400) when fromAddress is not the address of the path;',
      advice: 'Derive the address of the path before the order is stored, and compare.',
      async run({ call, order, addressOf }) {
        const { derivationPath } = await addressOf('checksum')
        expectStatus(await call('POST', '/transfers', { body: await order({ derivationPath }) }), 400)
      },
    },
    {
      id: 'orders.refused-is-unknown',
      title: 'An order that was refused with 400 is a 404 afterwards',
      section: 'errors',
      rule: 'no transfer was accepted: the operation fails',
      advice: 'Validate before anything is stored.',
      async run({ call, order, addressOf }) {
        const { derivationPath } = await addressOf('checksum')
        const body = await order({ derivationPath })
        await call('POST', '/transfers', { body })
        expectStatus(await call('GET', `/transfers/${body.id}`), 404)
      },
    },
    {
      id: 'orders.impossible',
      title: 'An order that the address cannot pay stays queued, or fails with a reason and without a fee',
      section: 'get-transfersid',
      rule: 'failed is a guarantee: the amount has not moved, and this order will never move it.',
      advice: 'Fail an impossible order before it is signed, with a code, a colon and a sentence as failureReason.',
      async run(wallet) {
        const body = await wallet.order()
        expectStatus(await wallet.call('POST', '/transfers', { body }), 202)
        await watchImpossible(wallet, body)
      },
    },
  ],
}

/** Compares addresses without regard to case, because the order may have named them in lower case. */
function expectEcho(answer: Answer, order: TransferOrder): void {
  expectSameOrder(answer.json as Record<string, unknown> | undefined, order, answer)
}

function expectSameOrder(state: Record<string, unknown> | undefined, order: TransferOrder, answer: Answer): void {
  for (const field of ['id', 'network', 'fromAddress', 'toAddress', 'contractAddress', 'amount'] as const) {
    const got = state?.[field]
    const isSame = typeof got === 'string' ? got.toLowerCase() === order[field]?.toLowerCase() : got === order[field]
    expectThat(isSame, `${field} is ${JSON.stringify(got)}, but ${JSON.stringify(order[field])} was ordered`, answer)
  }
}

/** Polls the transfer for a few seconds, or until it has failed. */
async function watchImpossible({ call }: WalletUnderTest, { id }: TransferOrder): Promise<void> {
  const deadline = Date.now() + impossibleWatchSeconds * 1000
  while (Date.now() < deadline) {
    const answer = await call('GET', `/transfers/${id}`)
    const state = (answer.json ?? {}) as Record<string, unknown>
    expectThat(state.status === 'queued' || state.status === 'failed', `the status is ${state.status}`, answer)
    expectThat(state.fee === null, 'a fee is stated, although nothing was mined', answer)
    if (state.status === 'failed') {
      const reason = textOf(answer, 'failureReason') ?? ''
      expectThat(/^[A-Z][A-Z0-9_]*: \S/.test(reason), 'failureReason is not a code, a colon and a sentence', answer)
      return
    }
    await new Promise((resolve) => setTimeout(resolve, pollMilliseconds))
  }
}
