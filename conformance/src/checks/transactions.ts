import { expectAnswer, expectStatus, expectThat, TransactionState, textOf } from '../answers.ts'
import type { Category } from '../check.ts'
import type { Answer } from '../http-exchange.ts'
import { spentAmount } from '../limits.ts'
import { Blocked } from '../outcomes.ts'
import { followToConfirmed, pay } from '../payments.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'

const section = 'get-transactionshashnetwork' as const

/** The part of the protocol by which people prove the outcome of a halted transfer. Optional for a wallet service. */
export const transactions: Category = {
  name: 'transactions',
  title: 'Transactions (optional)',
  checks: [
    {
      id: 'transactions.payment',
      title: 'GET /transactions/{hash} answers what a confirmed transfer has paid',
      section,
      rule: 'mined and failed (reverted) at the depth at which a transfer is final; pending before',
      advice: 'Read the transaction from the chain, and list what it moved.',
      needs: ['spend', 'evm'],
      async run(wallet) {
        const { address: toAddress } = await wallet.addressOf('transactions.payment')
        const order = await pay(wallet, { toAddress })
        const last = (await followToConfirmed(wallet, order)).at(-1)!
        const answer = await ask(wallet, textOf(last, 'txHash') ?? '')
        if (isNotOffered(answer)) throw new Blocked('The wallet service does not offer GET /transactions/{hash}')
        expectAnswer(answer, 200, TransactionState)
        const { status, from, payments } = answer.json as TransactionState
        expectThat(status === 'mined', 'it is not mined, although the transfer is confirmed', answer)
        expectThat(isSame(from, order.fromAddress), 'from is not the address that paid', answer)
        const isPaid = payments.some(
          (payment) =>
            isSame(payment.toAddress, toAddress) &&
            payment.contractAddress === null &&
            payment.amount === spentAmount.toString(),
        )
        expectThat(isPaid, 'its payments do not have what was ordered', answer)
      },
    },
    {
      id: 'transactions.unknown',
      title: 'A transaction that the chain does not have is a 404',
      section,
      rule: '404: the chain does not know the transaction',
      advice: 'Answer 404, or 501 when you do not offer to look.',
      needs: ['evm'],
      async run(wallet) {
        const answer = await ask(wallet, `0x${'0'.repeat(63)}1`)
        if (answer.status === 501) throw new Blocked('The wallet service does not offer GET /transactions/{hash}')
        expectStatus(answer, 404)
      },
    },
  ],
}

const ask = ({ call, options }: WalletUnderTest, hash: string) =>
  call('GET', `/transactions/${hash}?${new URLSearchParams({ network: options.network })}`)

const isNotOffered = ({ status }: Answer) => status === 404 || status === 405 || status === 501

const isSame = (a: string | null, b: string) => a !== null && a.toLowerCase() === b.toLowerCase()
