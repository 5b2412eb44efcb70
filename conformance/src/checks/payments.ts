import { setTimeout as sleep } from 'node:timers/promises'
import { expectStatus, expectThat, faultsOf, TransferState, textOf } from '../answers.ts'
import type { Category, Check } from '../check.ts'
import type { Answer } from '../http-exchange.ts'
import { impossibleWatchSeconds, pollMilliseconds, quietSeconds, spentAmount, unaffordable } from '../limits.ts'
import { Violation } from '../outcomes.ts'
import { followToConfirmed, orderFromPurse, pay, readBalance, within } from '../payments.ts'
import type { TransferOrder, WalletUnderTest } from '../wallet-under-test.ts'

const needs: Check['needs'] = ['spend']
const once = 'create at most one transaction per id, even after crashes'

/** Transfers of small amounts from the purse to other addresses of the kit. Only with --spend. */
export const payments: Category = {
  name: 'payments',
  title: 'Payments (moves funds)',
  checks: [
    {
      id: 'payments.confirmed',
      title: 'A transfer is confirmed, with hash, fee, payer, depth and time of its block',
      section: 'get-transfersid',
      rule: 'queued (accepted), broadcast (the network has it), confirmed or failed (final)',
      advice: 'Read the receipt, and fill every field when the block is deep enough.',
      needs,
      async run(wallet) {
        const last = (await paid(wallet)).answers.at(-1)!
        const faults = faultsOf(TransferState, last.json)
        if (faults !== null) throw new Violation(faults, [last.exchange])
        const { txHash, fee, feePaidBy, confirmations, blockTime, failureReason } = last.json as TransferState
        const complete = txHash !== null && fee !== null && feePaidBy !== null && blockTime !== null
        expectThat(complete, 'txHash, fee, feePaidBy or blockTime is null, although it is confirmed', last)
        expectThat(confirmations >= 1, 'confirmations is 0, although it is confirmed', last)
        expectThat(failureReason === null, 'failureReason is not null, although it is confirmed', last)
      },
    },
    {
      id: 'payments.progress',
      title: 'The status never goes back, and a known hash never disappears',
      section: 'get-transfersid',
      rule: 'null until signed; it may be known before the status is broadcast',
      advice: 'Move the status forward only, and keep the hash once it is stored.',
      needs,
      async run(wallet) {
        const { answers } = await paid(wallet)
        const ranks = ['queued', 'broadcast', 'confirmed']
        answers.slice(1).forEach((answer, index) => {
          const before = answers[index]!
          const forward = ranks.indexOf(textOf(answer, 'status')!) >= ranks.indexOf(textOf(before, 'status')!)
          expectThat(forward, 'the status went back', before, answer)
          const kept = textOf(before, 'txHash') === undefined || textOf(answer, 'txHash') !== undefined
          expectThat(kept, 'txHash disappeared', before, answer)
        })
      },
    },
    {
      id: 'payments.hash',
      title: 'The hash is 0x and 64 hexadecimal digits',
      section: 'get-transfersid',
      rule: '"txHash": "0x…"',
      advice: 'Answer the hash of the transaction as the network writes it.',
      needs: ['spend', 'evm'],
      async run(wallet) {
        const last = (await paid(wallet)).answers.at(-1)!
        expectThat(
          /^0x[0-9a-fA-F]{64}$/.test(textOf(last, 'txHash') ?? ''),
          'txHash is not 0x and 64 hexadecimal digits',
          last,
        )
      },
    },
    {
      id: 'payments.once',
      title: 'An order that was repeated before, during and after its transfer was carried out once',
      section: 'post-transfers',
      rule: once,
      advice: 'Store the signed bytes before they are broadcast, and send the same bytes again after a crash.',
      needs,
      async run(wallet) {
        const { order } = await paid(wallet)
        await wallet.call('POST', '/transfers', { body: order })
        await sleep(quietSeconds * 1000)
        const balance = await readBalance(wallet, order.toAddress, null)
        expectThat(balance === spentAmount, `the recipient has ${balance}, one transfer has ${spentAmount}`)
      },
    },
    {
      id: 'payments.fee',
      title: 'The purse paid the amount, and the fee if feePaidBy says so',
      section: 'get-transfersid',
      rule: 'the fee charged, in the smallest unit of the network’s coin, and the address that paid it',
      advice: 'Compute the fee from the receipt, with every part that the network charges.',
      needs,
      async run(wallet) {
        const { order, answers, before, after } = await paid(wallet)
        const { fee, feePaidBy } = answers.at(-1)!.json as TransferState
        const isPayer = feePaidBy?.toLowerCase() === order.fromAddress.toLowerCase()
        const expected = spentAmount + (isPayer ? BigInt(fee ?? '0') : 0n)
        const went = `${before - after} left the sender, amount and fee are ${expected}`
        expectThat(before - after === expected, went, answers.at(-1)!)
      },
    },
    {
      id: 'payments.final',
      title: 'A final state does not change',
      section: 'get-transfersid',
      rule: 'It stops growing when the status is final',
      advice: 'Stop following a transfer when it is final.',
      needs,
      async run(wallet) {
        const { order, answers } = await paid(wallet)
        await sleep(quietSeconds * 1000)
        const later = await wallet.call('GET', `/transfers/${order.id}`)
        expectThat(later.text === answers.at(-1)!.text, 'the state changed', answers.at(-1)!, later)
      },
    },
    {
      id: 'payments.repeat-after-end',
      title: 'A confirmed order is answered with its state when it is repeated',
      section: 'post-transfers',
      rule: 'repeating an order returns its present state and starts nothing',
      advice: 'Keep ids for ever.',
      needs,
      async run(wallet) {
        const { order } = await paid(wallet)
        const again = await wallet.call('POST', '/transfers', { body: order })
        expectStatus(again, 202)
        expectThat(textOf(again, 'status') === 'confirmed', 'the status is not confirmed any more', again)
      },
    },
    {
      id: 'payments.conflict-after-end',
      title: 'Another order under the id of a confirmed transfer is a 409',
      section: 'post-transfers',
      rule: 'a different order under the same id is a 409',
      advice: 'Compare with the stored order, whatever its status.',
      needs,
      async run(wallet) {
        const { order } = await paid(wallet)
        const body = { ...order, amount: unaffordable.toString() }
        expectStatus(await wallet.call('POST', '/transfers', { body }), 409)
      },
    },
    {
      id: 'payments.parallel',
      title: 'Five transfers of one address at the same time are all confirmed, each once',
      section: 'post-transfers',
      rule: once,
      advice: 'Assign nonces one after the other, in a transaction that locks the address.',
      needs,
      async run(wallet) {
        const orders = await Promise.all(
          Array.from({ length: 5 }, async (_, index) =>
            orderFromPurse(wallet, { toAddress: (await wallet.addressOf(`parallel ${index}`)).address }),
          ),
        )
        await Promise.all(orders.map((body) => wallet.call('POST', '/transfers', { body })))
        const ends = await Promise.all(orders.map(async (order) => (await followToConfirmed(wallet, order)).at(-1)!))
        const hashes = new Set(ends.map((answer) => textOf(answer, 'txHash')))
        expectThat(hashes.size === orders.length, `they have ${hashes.size} different hashes`, ...ends)
        for (const { toAddress } of orders) {
          // Without an index of all addresses, a wallet service knows what it received when it has read the block.
          await within(wallet.options.waitSeconds, async () => (await readBalance(wallet, toAddress, null)) > 0n)
          const balance = await readBalance(wallet, toAddress, null)
          expectThat(balance === spentAmount, `a recipient has ${balance} instead of ${spentAmount}`)
        }
      },
    },
    {
      id: 'payments.token',
      title: 'A transfer of the token is confirmed, and the recipient has the amount',
      section: 'post-transfers',
      rule: '"contractAddress": null,',
      advice: 'Call transfer of the contract with the raw amount, and compare the Transfer log.',
      needs: ['spend', 'token'],
      async run(wallet) {
        const { contract } = wallet.options.token!
        const { address } = await wallet.addressOf('token recipient')
        const order = await pay(wallet, { contractAddress: contract, toAddress: address })
        const answers = await followToConfirmed(wallet, order)
        const balance = await readBalance(wallet, address, contract)
        expectThat(balance === spentAmount, `the recipient has ${balance} of ${spentAmount}`, answers.at(-1)!)
      },
    },
    {
      id: 'payments.token-overdraw',
      title: 'A transfer of more tokens than exist is never confirmed',
      section: 'get-transfersid',
      rule: 'A transaction that was mined and reverted is failed with its fee, because the fee was paid.',
      advice: 'Simulate the call before it is signed, and read the status of the receipt.',
      needs: ['spend', 'token'],
      async run(wallet) {
        const { address } = await wallet.addressOf('overdraw recipient')
        const changes = { contractAddress: wallet.options.token!.contract, amount: unaffordable.toString() }
        const { id } = await pay(wallet, { ...changes, toAddress: address })
        await within(impossibleWatchSeconds, async () => {
          const answer = await wallet.call('GET', `/transfers/${id}`)
          expectThat(textOf(answer, 'status') !== 'confirmed', 'it is confirmed', answer)
          const hasReason = textOf(answer, 'failureReason') !== undefined
          const isFailed = textOf(answer, 'status') === 'failed'
          expectThat(!isFailed || hasReason, 'it failed without failureReason', answer)
          return isFailed
        })
      },
    },
  ],
}

export type Paid = { order: TransferOrder; answers: Answer[]; before: bigint; after: bigint }

/** The transfer that most checks share. Its order is sent six times while it is carried out. */
export function paid(wallet: WalletUnderTest): Promise<Paid> {
  return wallet.share('payment', 'payments.confirmed', async () => {
    const { address } = await wallet.purse()
    const before = await readBalance(wallet, address, null)
    const order = await orderFromPurse(wallet, { toAddress: (await wallet.addressOf('paid')).address })
    await Promise.all([1, 2, 3].map(() => wallet.call('POST', '/transfers', { body: order })))
    const repeating = (async () => {
      for (let round = 0; round < 3; round += 1) {
        await sleep(pollMilliseconds / 2)
        await wallet.call('POST', '/transfers', { body: order })
      }
    })()
    const [answers] = await Promise.all([followToConfirmed(wallet, order), repeating])
    return { order, answers, before, after: await readBalance(wallet, address, null) }
  })
}
