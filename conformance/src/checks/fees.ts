import { expectAnswer, expectStatus, FeeEstimate } from '../answers.ts'
import type { Category } from '../check.ts'
import { spentAmount, unaffordable } from '../limits.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'
import { wrongAmounts } from '../wrong-amounts.ts'

const section = 'post-fees' as const

export const fees: Category = {
  name: 'fees',
  title: 'Fees',
  checks: [
    {
      id: 'fees.form',
      title: 'POST /fees answers an estimate as digits, in the coin of the network',
      section,
      rule: '→ { "fee": "31500000000000", "asset": "native" }: an estimate of the present cost of the transfer.',
      advice: 'Answer 200 with the fee in the smallest unit of the coin, as a string of digits, and the asset native.',
      async run(wallet) {
        expectAnswer(await ask(wallet), 200, FeeEstimate)
      },
    },
    {
      id: 'fees.impossible',
      title: 'The fee of a transfer that the address cannot pay is estimated too',
      section,
      rule: 'It is also given when the transfer is impossible at the moment (balance too low), then from typical costs.',
      advice: 'When the node refuses the simulation, multiply the price by the usual amount of gas.',
      async run(wallet) {
        expectStatus(await ask(wallet, { amount: unaffordable.toString() }), 200)
      },
    },
    {
      id: 'fees.token',
      title: 'The fee of a token transfer is estimated',
      section,
      rule: 'an estimate of the present cost of the transfer',
      advice: 'Estimate the call of transfer on the contract.',
      needs: ['token'],
      async run(wallet) {
        const answer = await ask(wallet, { contractAddress: wallet.options.token!.contract })
        expectAnswer(answer, 200, FeeEstimate)
      },
    },
    {
      id: 'fees.foreign',
      title: 'The fee for an address that is not the client’s is a 404',
      section: 'errors',
      rule: "the address is not the client's",
      advice: 'Estimate for addresses that this client has derived.',
      needs: ['evm'],
      async run(wallet) {
        expectStatus(await ask(wallet, { fromAddress: '0x000000000000000000000000000000000000dEaD' }), 404)
      },
    },
    {
      id: 'fees.amounts',
      title: 'An amount that is not a string of digits up to 2^256-1 is a 400',
      section: 'rules-for-every-request',
      rule: 'the smallest unit of the token as a string of digits, 0 to 2^256-1. Never a JSON number.',
      advice: 'Accept digits without sign, point, exponent or leading zeros.',
      async run(wallet) {
        for (const [what, amount] of wrongAmounts) expectStatus(await ask(wallet, { amount }), 400, what)
      },
    },
    {
      id: 'fees.fields',
      title: 'An unknown network, an unknown or a missing field is a 400',
      section: 'errors',
      rule: 'the request is malformed, names an unknown network',
      advice: 'Validate the question as strictly as an order.',
      async run(wallet) {
        expectStatus(await ask(wallet, { network: 'no-such-network' }), 400, 'an unknown network')
        expectStatus(await ask(wallet, { speed: 'fast' }), 400, 'an unknown field')
        for (const field of ['network', 'fromAddress', 'toAddress', 'contractAddress', 'amount']) {
          expectStatus(await ask(wallet, { [field]: undefined }), 400, `without ${field}`)
        }
      },
    },
  ],
}

async function ask({ call, addressOf, options }: WalletUnderTest, changes: object = {}) {
  const [from, to] = [await addressOf('sender'), await addressOf('recipient')]
  const { network } = options
  const question = { network, fromAddress: from.address, toAddress: to.address, contractAddress: null }
  const amount = spentAmount.toString()
  return call('POST', '/fees', { body: { ...question, amount, ...changes } })
}
