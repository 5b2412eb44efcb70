import { expectStatus, expectThat, type TransferState, textOf } from '../answers.ts'
import type { Check } from '../check.ts'
import type { Answer } from '../http-exchange.ts'
import { spentAmount } from '../limits.ts'
import { Blocked } from '../outcomes.ts'
import { followToConfirmed, pay, readBalance, within } from '../payments.ts'
import type { OwnAddress, TransferOrder, WalletUnderTest } from '../wallet-under-test.ts'

const section = 'replacing-a-transaction' as const

/** Refusals of replacement on Bitcoin and Litecoin. The transactions must wait in no block while they are asked about. */
export const waiting: Check[] = [
  {
    id: 'outputs.later-first',
    title: 'A transfer whose change a later one spends is not replaced: LATER_FIRST',
    section,
    rule: 'LATER_FIRST (a later payment spends an output of this one, and would be lost with it: speed that one up, which pays for both)',
    advice: 'Look for another transfer that spends an output of a transaction before you replace it.',
    needs: ['spend', 'outputs'],
    async run(wallet) {
      const { order, txHash, quote } = await builtOn(wallet)
      expectThat(/^LATER_FIRST\b/.test(refusalIn(quote, 'speedUp')), 'speedUp is not refused with LATER_FIRST', quote)
      const answer = await wallet.call('POST', `/transfers/${order.id}/speed-up`, { body: { txHash } })
      expectStatus(answer, 409, 'speed-up')
    },
  },
  {
    id: 'outputs.not-replaceable',
    title: 'A transaction is not cancelled where nodes replace nothing: NOT_REPLACEABLE',
    section,
    rule: 'NOT_REPLACEABLE (nodes of the network replace nothing, so that nothing is cancelled)',
    advice: 'Refuse it: a child can pay for a transaction, and cannot take it back.',
    needs: ['spend', 'litecoin'],
    async run(wallet) {
      const { quote } = await builtOn(wallet)
      const refusal = refusalIn(quote, 'cancelOnChain')
      expectThat(/^NOT_REPLACEABLE\b/.test(refusal), 'cancelOnChain is not refused with NOT_REPLACEABLE', quote)
    },
  },
  {
    id: 'outputs.no-change',
    title: 'A transfer that leaves nothing to pay more with is not sped up: NO_CHANGE',
    section,
    rule: 'NO_CHANGE (nothing returns to the sender that could pay more)',
    advice: 'Refuse it: neither a replacement nor a child has an output from which a higher fee could be paid.',
    needs: ['spend', 'outputs'],
    async run(wallet) {
      const { from, held } = await fund(wallet, 'outputs.no-change')
      const { address: toAddress } = await wallet.addressOf('gets all')
      // The fee is what a change would cost then: the rest is below dust.
      const fee = await estimate(wallet, from, toAddress)
      const order = await send(wallet, from, { toAddress, amount: `${held - fee}` })
      const quote = await askForQuote(wallet, await sent(wallet, order))
      expectThat(/^NO_CHANGE\b/.test(refusalIn(quote, 'speedUp')), 'speedUp is not refused with NO_CHANGE', quote)
    },
  },
]

type Sent = { order: TransferOrder; txHash: string }
type BuiltOn = Sent & { quote: Answer }

/** A transfer that waits, with a later one that spends its change, and the answer about its replacement. */
function builtOn(wallet: WalletUnderTest): Promise<BuiltOn> {
  return wallet.share('two that wait', 'outputs.later-first', async () => {
    // The address has one output, so that the second transfer spends what the first one returns.
    const { from } = await fund(wallet, 'outputs.later-first')
    const { address: toAddress } = await wallet.addressOf('gets two')
    const first = await sent(wallet, await send(wallet, from, { toAddress }))
    await sent(wallet, await send(wallet, from, { toAddress }))
    return { ...first, quote: await askForQuote(wallet, first) }
  })
}

/** An address with one output, of which a few transfers can be paid. */
async function fund(wallet: WalletUnderTest, name: string): Promise<{ from: OwnAddress; held: bigint }> {
  const from = await wallet.addressOf(name)
  const fee = await estimate(wallet, await wallet.purse(), from.address)
  const held = 10n * spentAmount + 10n * fee
  const order = await pay(wallet, { toAddress: from.address, amount: `${held}` })
  await followToConfirmed(wallet, order)
  const hasArrived = await within(wallet.options.waitSeconds, async () => {
    return (await readBalance(wallet, from.address, null)) === held
  })
  if (!hasArrived) throw new Blocked(`${from.address} did not get ${held}`)
  return { from, held }
}

async function estimate({ call, options }: WalletUnderTest, from: OwnAddress, toAddress: string): Promise<bigint> {
  const order = { network: options.network, fromAddress: from.address, toAddress, contractAddress: null }
  const answer = await call('POST', '/fees', { body: { ...order, amount: `${spentAmount}` } })
  expectStatus(answer, 200)
  return BigInt(textOf(answer, 'fee') ?? '0')
}

const send = (wallet: WalletUnderTest, { derivationPath, address }: OwnAddress, changes: Partial<TransferOrder>) =>
  pay(wallet, { derivationPath, fromAddress: address, ...changes })

/** Waits until the network has the transaction of an order. */
async function sent(wallet: WalletUnderTest, order: TransferOrder): Promise<Sent> {
  const answers: Answer[] = []
  const isSent = await within(wallet.options.waitSeconds, async () => {
    const answer = await wallet.call('GET', `/transfers/${order.id}`)
    answers.push(answer)
    return textOf(answer, 'status') !== 'queued'
  })
  const last = answers.at(-1)!
  expectThat(isSent, `it is not sent after ${wallet.options.waitSeconds} seconds`, last)
  const { status, txHash, confirmations, failureReason } = last.json as TransferState
  expectThat(status !== 'failed', `it failed: ${failureReason}`, last)
  if (status !== 'broadcast' || confirmations > 0 || txHash === null) throw new Blocked(tooFast)
  return { order, txHash }
}

const tooFast = 'A block came before the transaction could be asked about: run the check again, and mine later'

/** @throws Blocked when it is in a block by then, or when the wallet service replaces nothing */
async function askForQuote(wallet: WalletUnderTest, { order }: Sent): Promise<Answer> {
  const answer = await wallet.call('GET', `/transfers/${order.id}/replacement`)
  if ([404, 405, 501].includes(answer.status)) throw new Blocked('The wallet service replaces no transactions')
  expectStatus(answer, 200)
  if (/^(ALREADY_MINED|ENDED)\b/.test(refusalIn(answer, 'speedUp'))) throw new Blocked(tooFast)
  return answer
}

function refusalIn({ json }: Answer, action: 'speedUp' | 'cancelOnChain'): string {
  const quote = (json ?? {}) as Partial<Record<typeof action, { refusal?: unknown }>>
  return String(quote[action]?.refusal ?? '')
}
