import { expectStatus, expectThat, textOf } from '../answers.ts'
import type { Category } from '../check.ts'
import { impossibleWatchSeconds } from '../limits.ts'
import { orderFromPurse, within } from '../payments.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'
import { paid } from './payments.ts'

const section = 'replacing-a-transaction' as const
const actions = ['speed-up', 'cancel-on-chain'] as const
const fee = { feeLevel: 'low', maxFee: '1' }

/** Limits of fees, and the replacement of transactions. A stuck one cannot be made from outside. */
export const replacement: Category = {
  name: 'replacement',
  title: 'Limits of fees, and replacement',
  checks: [
    {
      id: 'replacement.order',
      title: 'feeLevel and maxFee are part of an order: with another maxFee it is a 409',
      section: 'post-transfers',
      rule: 'may be left out, and are part of the order when they are given.',
      advice: 'Store both with the order, and compare them when it is repeated.',
      async run({ call, order }) {
        const body = { ...(await order()), ...fee }
        expectStatus(await call('POST', '/transfers', { body }), 202, 'the first time')
        expectStatus(await call('POST', '/transfers', { body }), 202, 'the second time')
        for (const change of [{ maxFee: '2' }, { maxFee: undefined }, { feeLevel: 'high' }]) {
          const answer = await call('POST', '/transfers', { body: { ...body, ...change } })
          expectStatus(answer, 409, `another ${Object.keys(change)[0]}`)
        }
      },
    },
    {
      id: 'replacement.fields',
      title: 'A feeLevel that does not exist, or a maxFee that is not an amount above zero, is a 400',
      section: 'post-transfers',
      rule: "in the smallest unit of the network's coin, above zero.",
      advice: 'Validate both with the schema of the order.',
      async run({ call, order }) {
        const changes = [{ feeLevel: 'urgent' }, { maxFee: '0' }, { maxFee: '-1' }, { maxFee: '0.1' }, { maxFee: 1 }]
        for (const change of changes) {
          const answer = await call('POST', '/transfers', { body: { ...(await order()), ...change } })
          expectStatus(answer, 400, JSON.stringify(change))
        }
      },
    },
    {
      id: 'replacement.unknown',
      title: 'Nothing can be replaced for a transfer that was never ordered: 404',
      section: 'errors',
      rule: 'the transfer was never accepted',
      advice: 'Look the transfer up by client and id first.',
      async run({ call, nextId }) {
        const id = nextId()
        for (const action of actions) {
          const answer = await call('POST', `/transfers/${id}/${action}`, { body: { txHash: null } })
          expectStatus(answer, 404, action)
        }
        expectStatus(await call('GET', `/transfers/${id}/replacement`), 404, 'replacement')
      },
    },
    {
      id: 'replacement.max-fee',
      title: 'No transaction is signed that could cost more than maxFee',
      section: 'post-transfers',
      rule: 'never sign a transaction whose fee could be above maxFee.',
      advice: 'Compare the gas limit times the highest price of gas with maxFee before signing, and wait.',
      needs: ['spend'],
      async run(wallet) {
        const order = await unaffordableFee(wallet)
        await within(impossibleWatchSeconds, async () => {
          const answer = await wallet.call('GET', `/transfers/${order.id}`)
          expectThat(textOf(answer, 'txHash') === undefined, 'it was signed', answer)
          return false
        })
      },
    },
    {
      id: 'replacement.unsigned',
      title: 'A transfer that is not signed is cancelled without a transaction',
      section,
      rule: 'fails it at once, without a transaction.',
      advice: 'Fail the order unless it was signed in the meantime. Without replacement, answer 404.',
      needs: ['spend'],
      async run(wallet) {
        const { id } = await unaffordableFee(wallet)
        const answer = await wallet.call('POST', `/transfers/${id}/cancel-on-chain`, { body: { txHash: null } })
        expectStatus(answer, [202, 404])
        if (answer.status === 404) return
        expectThat(textOf(answer, 'status') === 'failed', 'the status is not failed', answer)
        expectThat(textOf(answer, 'fee') === undefined, 'it has a fee', answer)
      },
    },
    {
      id: 'replacement.final',
      title: 'A confirmed transfer cannot be replaced',
      section,
      rule: '409 when it is impossible now;',
      advice: 'Replace only what is neither mined nor final. Without replacement, answer 404.',
      needs: ['spend'],
      async run(wallet) {
        const { order, answers } = await paid(wallet)
        const txHash = textOf(answers.at(-1)!, 'txHash')
        for (const action of actions) {
          const answer = await wallet.call('POST', `/transfers/${order.id}/${action}`, { body: { txHash } })
          expectStatus(answer, [404, 409], action)
        }
      },
    },
  ],
}

/** An order that waits, because nothing costs as little as it permits. */
async function unaffordableFee(wallet: WalletUnderTest) {
  const order = { ...(await orderFromPurse(wallet, {})), ...fee }
  expectStatus(await wallet.call('POST', '/transfers', { body: order }), 202)
  return order
}
