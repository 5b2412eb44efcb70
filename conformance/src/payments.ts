import { setTimeout as sleep } from 'node:timers/promises'
import { expectStatus, expectThat, textOf } from './answers.ts'
import type { Answer } from './http-exchange.ts'
import { feeReserveFactor, pollMilliseconds, spentAmount, spentTransfersMax } from './limits.ts'
import { CouldNotRun, Violation } from './outcomes.ts'
import type { TransferOrder, WalletUnderTest } from './wallet-under-test.ts'

/**
 * Waits until the purse holds what the transfers of the run cost, and tells the person where to send it.
 * @throws CouldNotRun when that does not happen in time
 */
export async function awaitFunds(wallet: WalletUnderTest, note: (text: string) => void): Promise<void> {
  const { options, call, purse } = wallet
  const { address, derivationPath } = await purse()
  const { network, token } = options
  const { address: toAddress } = await wallet.addressOf('recipient')
  const body = { network, fromAddress: address, toAddress, contractAddress: null, amount: `${spentAmount}` }
  const estimate = await call('POST', '/fees', { body })
  const fee = textOf(estimate, 'fee')
  if (estimate.status !== 200 || fee === undefined || !/^\d+$/.test(fee)) {
    throw new CouldNotRun('POST /fees does not say what a transfer costs, so --spend cannot say what it needs')
  }
  const coin = BigInt(spentTransfersMax) * (BigInt(fee) * feeReserveFactor + spentAmount)
  const wanted: [string, string | null, bigint][] = [['the coin', null, coin]]
  if (token !== null) wanted.push([`the token ${token.contract}`, token.contract, 10n * spentAmount])
  for (const [what, contract, amount] of wanted) {
    const balance = () => readBalance(wallet, address, contract)
    if ((await balance()) >= amount) continue
    note(`Send at least ${amount} of the smallest unit of ${what} on ${network} to ${address} (${derivationPath}).`)
    const arrived = await within(options.waitSeconds, async () => (await balance()) >= amount)
    if (!arrived) throw new CouldNotRun(`${address} did not get ${what} within ${options.waitSeconds} seconds`)
  }
}

/** Orders a small transfer from the purse. The order is for `amount` of the coin unless it says otherwise. */
export async function pay(wallet: WalletUnderTest, changes: Partial<TransferOrder>): Promise<TransferOrder> {
  const order = await orderFromPurse(wallet, changes)
  expectStatus(await wallet.call('POST', '/transfers', { body: order }), 202)
  return order
}

export async function orderFromPurse(wallet: WalletUnderTest, changes: Partial<TransferOrder>): Promise<TransferOrder> {
  const { address, derivationPath } = await wallet.purse()
  return wallet.order({ derivationPath, fromAddress: address, amount: spentAmount.toString(), ...changes })
}

/** Asks for the state until it is final. @returns every answer, the last one is confirmed */
export async function followToConfirmed(wallet: WalletUnderTest, { id }: TransferOrder): Promise<Answer[]> {
  const answers: Answer[] = []
  const isFinal = await within(wallet.options.waitSeconds, async () => {
    const answer = await wallet.call('GET', `/transfers/${id}`)
    answers.push(answer)
    return ['confirmed', 'failed'].includes(textOf(answer, 'status') ?? '')
  })
  const last = answers.at(-1)!
  expectThat(isFinal, `the transfer is not final after ${wallet.options.waitSeconds} seconds`, last)
  expectThat(textOf(last, 'status') === 'confirmed', 'the transfer failed', last)
  return answers
}

/** @throws Violation when the answer is not an amount */
export async function readBalance(
  { call, options }: WalletUnderTest,
  address: string,
  contract: string | null,
): Promise<bigint> {
  const query = new URLSearchParams({ network: options.network, address, ...(contract === null ? {} : { contract }) })
  const answer = await call('GET', `/balances?${query}`)
  const balance = textOf(answer, 'balance') ?? ''
  if (answer.status !== 200 || !/^\d+$/.test(balance)) {
    throw new Violation('GET /balances does not answer a balance', [answer.exchange])
  }
  return BigInt(balance)
}

/** Asks again and again; @returns whether it became so in time */
export async function within(seconds: number, isSo: () => Promise<boolean> | boolean): Promise<boolean> {
  const deadline = Date.now() + seconds * 1000
  while (!(await isSo())) {
    if (Date.now() > deadline) return false
    await sleep(pollMilliseconds)
  }
  return true
}
