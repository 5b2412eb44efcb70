// tidy: long because it is the list of the checks of one category
import { createHmac, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { compare, fromRaw } from '@strongroom/sdk/signing'
import { DepositEvent, faultsOf } from '../answers.ts'
import type { Category, Check, Section } from '../check.ts'
import { shorten } from '../http-exchange.ts'
import { deliveryGapMillisecondsMin, quietSeconds, spentAmount, webhookToleranceSeconds } from '../limits.ts'
import { type Exchange, Violation } from '../outcomes.ts'
import { followToConfirmed, pay, within } from '../payments.ts'
import type { TransferOrder, WalletUnderTest } from '../wallet-under-test.ts'
import type { Delivery, Reaction, Script } from '../webhook-listener.ts'

const needs: Check['needs'] = ['spend', 'webhooks']
const section: Section = 'the-webhook-deposits'
const until2xx = 'at least once, until the answer is 2xx'
const sendAgain = 'Keep a deposit until it was answered with 2xx, and send it again after every other outcome.'

/** Deposits that the kit makes by transfers between its own addresses. */
export const webhooks: Category = {
  name: 'webhooks',
  title: 'Webhooks (moves funds)',
  isConcurrent: true,
  checks: [
    {
      id: 'webhooks.reported',
      title: 'A transfer to an own address is reported as a deposit',
      section,
      rule: 'Report transfers between two own addresses too: the webhook credits the recipient.',
      advice: 'Watch the chain for deposits to all addresses, whoever sent them.',
      needs,
      run: async (wallet) => void (await plain(wallet)),
    },
    {
      id: 'webhooks.form',
      title: 'The event has the form of the protocol',
      section,
      rule: '"kind": "TOPUP",',
      advice: 'Send amounts as text, index as a number, times in UTC, and asset null for the coin.',
      needs,
      async run(wallet) {
        const { delivery } = await plain(wallet)
        const faults = faultsOf(DepositEvent, delivery.json)
        if (faults !== null) throw new Violation(faults, [toExchange(delivery)])
        const type = delivery.headers['content-type'] ?? ''
        demand(/^application\/json\b/.test(type), `the content type is ${type}`, delivery)
      },
    },
    {
      id: 'webhooks.identity',
      title: 'Network, transaction, recipient, sender, asset and index are those of the transfer',
      section,
      rule: "Strongroom's key of a deposit is (network, txHash, toAddress, asset, index).",
      advice: 'Take them from the transaction itself; the index of a coin is 0.',
      needs,
      async run(wallet) {
        const { delivery, order } = await plain(wallet)
        const hash = ((await followToConfirmed(wallet, order)).at(-1)!.json as { txHash: string }).txHash
        const { tx } = eventOf(delivery)
        demand(tx.network === order.network, `network is ${tx.network}`, delivery)
        demand(isSame(tx.txHash, hash), `txHash is not ${hash}`, delivery)
        demand(isSame(tx.toAddress, order.toAddress), `toAddress is not ${order.toAddress}`, delivery)
        // Elsewhere the coin has other numbers, which outputs.deposit compares.
        const isNumbered = wallet.options.type !== 'evm' || tx.index === 0
        demand(tx.asset === null && isNumbered, 'asset is not null, or index is not 0', delivery)
        const knowsSender = tx.fromAddress == null || isSame(tx.fromAddress, order.fromAddress)
        demand(knowsSender, `fromAddress is not ${order.fromAddress}`, delivery)
      },
    },
    {
      id: 'webhooks.amount',
      title: 'The amount is in units of the coin, with 18 decimals',
      section,
      rule: 'amount is in token units with the decimals of the token (decimals() of the contract, 18 for the coin of an EVM network).',
      advice: 'Divide the raw amount by 10^18 as text or big integer, never as a floating-point number.',
      needs: ['spend', 'webhooks', 'evm'],
      async run(wallet) {
        demandAmount((await plain(wallet)).delivery, 18)
      },
    },
    {
      id: 'webhooks.final',
      title: 'A reported deposit is final',
      section,
      rule: 'If present, they must say that the transaction is final',
      advice: 'Report blocks that are deep enough only; leave status and success out, or say that it succeeded.',
      needs,
      async run(wallet) {
        const { delivery } = await plain(wallet)
        const { confirmations, success, status } = eventOf(delivery).tx as Record<string, unknown>
        const isDeep = confirmations == null || Number(confirmations) >= 1
        demand(isDeep, `confirmations is ${confirmations}`, delivery)
        demand(success == null || success === true || success === 'true', `success is ${success}`, delivery)
        const final = /^(success(ful)?|succeeded|ok|true|1|0x1|mined|confirmed|completed?|final|finali[sz]ed)$/i
        demand(status == null || final.test(String(status)), `status is ${status}`, delivery)
      },
    },
    {
      id: 'webhooks.occurrence',
      title: 'A deposit that was never orphaned has the occurrence 0, or none',
      section: 'deposits-that-the-chain-loses',
      rule: 'occurrence puts the events of a deposit in order',
      advice: 'Count how often the deposit was reported as DEPOSIT_ORPHANED before; nothing else raises it.',
      needs,
      async run(wallet) {
        const { delivery } = await plain(wallet)
        const { occurrence } = eventOf(delivery).tx as Record<string, unknown>
        demand(occurrence === undefined || occurrence === 0, `occurrence is ${occurrence}`, delivery)
      },
    },
    {
      id: 'webhooks.not-orphaned',
      title: 'A deposit that the chain has is not reported as orphaned',
      section: 'deposits-that-the-chain-loses',
      rule: 'Report it when the block of the deposit is no longer in the chain',
      advice: 'Compare the hash of the block, and look the transaction up before you report that it is gone.',
      needs,
      async run(wallet) {
        const { order } = await plain(wallet)
        await sleep(quietSeconds * 1000)
        const orphaned = wallet.listener!.deliveriesTo(order.toAddress).filter(isOrphaning)
        demand(orphaned.length === 0, 'it was reported as orphaned', ...orphaned)
      },
    },
    {
      id: 'webhooks.signature',
      title: 'The signature is that of the secret, over id, time and the raw body',
      section: 'signature',
      rule: 'v1, and base64 of HMAC-SHA256(secret, <id>.<timestamp>.<body>)',
      advice: 'Sign the bytes that are sent. A secret that starts with whsec_ is base64 after the prefix.',
      needs,
      async run(wallet) {
        demandSignature(wallet, (await plain(wallet)).delivery)
      },
    },
    {
      id: 'webhooks.timestamp',
      title: 'The timestamp is in seconds and near the present',
      section: 'signature',
      rule: 'seconds since 1970, of this delivery; more than 5 minutes off is refused',
      advice: 'Use seconds, not milliseconds, and synchronise the clock.',
      needs,
      async run(wallet) {
        const { delivery } = await plain(wallet)
        const text = String(delivery.headers['webhook-timestamp'])
        const offSeconds = Math.abs(Number(text) - delivery.receivedAt / 1000)
        demand(
          /^\d{1,12}$/.test(text) && offSeconds <= webhookToleranceSeconds,
          `webhook-timestamp is ${text}`,
          delivery,
        )
      },
    },
    {
      id: 'webhooks.event-id',
      title: 'The header webhook-id is the id of the event',
      section: 'signature',
      rule: "the event's id, the same for every delivery",
      advice: 'Send the id of the body as webhook-id.',
      needs,
      async run(wallet) {
        const { delivery } = await plain(wallet)
        const header = String(delivery.headers['webhook-id'])
        demand(header === eventOf(delivery).id, `webhook-id is ${header}`, delivery)
      },
    },
    {
      id: 'webhooks.distinct-ids',
      title: 'Two deposits have two ids',
      section: 'signature',
      rule: "the event's id, the same for every delivery",
      advice: 'Derive the id from the key of the deposit.',
      needs,
      async run(wallet) {
        const first = (await plain(wallet)).delivery
        const second = (await refusedWithServerErrors(wallet))[0]!
        demand(eventOf(first).id !== eventOf(second).id, 'both have the same id', first, second)
      },
    },
    {
      id: 'webhooks.acknowledged-once',
      title: 'A deposit that was answered with 200 is not sent again',
      section,
      rule: until2xx,
      advice: 'Note that a deposit was delivered when the answer is 2xx.',
      needs,
      async run(wallet) {
        const { order } = await plain(wallet)
        await sleep(quietSeconds * 1000)
        const deliveries = wallet.listener!.deliveriesTo(order.toAddress)
        demand(deliveries.length === 1, `it was sent ${deliveries.length} times`, ...deliveries)
      },
    },
    {
      id: 'webhooks.after-server-error',
      title: 'A deposit that was answered with 500 and 503 is sent again',
      section,
      rule: until2xx,
      advice: sendAgain,
      needs,
      run: async (wallet) => void (await refusedWithServerErrors(wallet)),
    },
    {
      id: 'webhooks.after-client-error',
      title: 'A deposit that was answered with 401 and 404 is sent again',
      section,
      rule: until2xx,
      advice: `${sendAgain} A 401 is answered while a secret is changed.`,
      needs,
      run: async (wallet) => void (await untilAcknowledged(wallet, 'after client error', inTurn(401, 404))),
    },
    {
      id: 'webhooks.after-silence',
      title: 'A deposit that was not answered at all is sent again',
      section,
      rule: until2xx,
      advice: `${sendAgain} Give up waiting for an answer after ten seconds or so.`,
      needs,
      run: async (wallet) => void (await untilAcknowledged(wallet, 'after silence', inTurn('silence'))),
    },
    {
      id: 'webhooks.after-reset',
      title: 'A deposit whose connection was cut is sent again',
      section,
      rule: until2xx,
      advice: sendAgain,
      needs,
      run: async (wallet) => void (await untilAcknowledged(wallet, 'after reset', inTurn('reset'))),
    },
    {
      id: 'webhooks.no-redirect',
      title: 'A redirect is not followed, and the deposit is sent again',
      section,
      rule: 'follow no redirect',
      advice: 'Send signed deposits to the configured URL only.',
      needs,
      async run(wallet) {
        const deliveries = await untilAcknowledged(wallet, 'redirected', inTurn('redirect'))
        demand(wallet.listener!.redirected() === 0, 'the redirect was followed', ...deliveries)
      },
    },
    {
      id: 'webhooks.same-event',
      title: 'Every delivery of a deposit has the same id and the same key',
      section: 'signature',
      rule: "the event's id, the same for every delivery",
      advice: 'Store the event, and send what was stored.',
      needs,
      async run(wallet) {
        const deliveries = await refusedWithServerErrors(wallet)
        const keys = deliveries.map((delivery) => {
          const { id, tx } = eventOf(delivery)
          const { network, txHash, toAddress, asset, index, amount } = tx
          return JSON.stringify([delivery.headers['webhook-id'], id, network, txHash, toAddress, asset, index, amount])
        })
        demand(new Set(keys).size === 1, 'they differ', ...deliveries)
      },
    },
    {
      id: 'webhooks.signed-anew',
      title: 'Every delivery has a timestamp and a signature of its own',
      section: 'signature',
      rule: 'seconds since 1970, of this delivery',
      advice: 'Sign at every attempt: after five minutes the first signature is refused.',
      needs,
      async run(wallet) {
        const deliveries = await refusedWithServerErrors(wallet)
        for (const delivery of deliveries) demandSignature(wallet, delivery)
        const [first, last] = [deliveries[0]!, deliveries.at(-1)!]
        const stamped = Number(last.headers['webhook-timestamp']) - Number(first.headers['webhook-timestamp'])
        const passed = (last.receivedAt - first.receivedAt) / 1000
        // A busy machine may receive late what was signed in time.
        demand(stamped >= passed / 3, `${passed} s passed, the timestamps are ${stamped} s apart`, first, last)
      },
    },
    {
      id: 'webhooks.spacing',
      title: 'Attempts are at least half a second apart',
      section,
      rule: 'Space the attempts',
      advice: 'Double the pause after each attempt, from one second on.',
      needs,
      async run(wallet) {
        const deliveries = await refusedWithServerErrors(wallet)
        deliveries.slice(1).forEach((delivery, index) => {
          const gap = delivery.receivedAt - deliveries[index]!.receivedAt
          demand(gap >= deliveryGapMillisecondsMin, `two attempts are ${gap} ms apart`, deliveries[index]!, delivery)
        })
      },
    },
    {
      id: 'webhooks.independent',
      title: 'A deposit that is refused does not hold back the others',
      section,
      rule: 'A deposit that is refused does not hold back the others',
      advice: 'Send the deposits that are due, not the oldest one first.',
      needs,
      run: independence,
    },
    {
      id: 'webhooks.token',
      title: 'A deposit of the token names its contract, and the amount in units of the token',
      section,
      rule: 'asset is the contract, or null for the coin.',
      advice: 'Read decimals() of the contract once, and the index from the Transfer logs of the transaction.',
      needs: ['spend', 'webhooks', 'token'],
      async run(wallet) {
        const { contract, decimals } = wallet.options.token!
        const { delivery } = await deposit(wallet, 'token deposit', () => 200, { contractAddress: contract })
        const { asset, index } = eventOf(delivery).tx
        demand(asset !== null && isSame(asset, contract), `asset is ${asset}`, delivery)
        demand(index === 0, 'index is not 0, although the transaction has one Transfer log', delivery)
        demandAmount(delivery, decimals)
      },
    },
  ],
}

type Deposit = { order: TransferOrder; delivery: Delivery }

/** A deposit that is acknowledged at once; most checks look at it. */
function plain(wallet: WalletUnderTest): Promise<Deposit> {
  return wallet.share('plain deposit', 'webhooks.reported', () => deposit(wallet, 'plain deposit', () => 200))
}

/** The deliveries of a deposit that is refused twice at least, and for three seconds at least. */
function refusedWithServerErrors(wallet: WalletUnderTest): Promise<readonly Delivery[]> {
  const script: Script = (attempt, elapsed) => (attempt <= 2 || elapsed < 3_000 ? (attempt % 2 === 1 ? 500 : 503) : 200)
  return wallet.share('refused deposit', 'webhooks.after-server-error', () =>
    untilAcknowledged(wallet, 'refused deposit', script),
  )
}

const inTurn =
  (...reactions: Reaction[]): Script =>
  (attempt) =>
    reactions[attempt - 1] ?? 200

/** Makes a deposit to an own address with a name, and waits until it is reported for the first time. */
async function deposit(
  wallet: WalletUnderTest,
  name: string,
  script: Script,
  changes: Partial<TransferOrder> = {},
): Promise<Deposit> {
  const { address } = await wallet.addressOf(name)
  wallet.listener!.answer(address, script)
  const order = await pay(wallet, { toAddress: address, ...changes })
  const deliveries = () => wallet.listener!.deliveriesTo(address)
  const { waitSeconds } = wallet.options
  if (await within(waitSeconds, () => deliveries().length > 0)) return { order, delivery: deliveries()[0]! }
  throw new Violation(`the deposit of ${order.amount} to ${address} was not reported within ${waitSeconds} seconds`)
}

/** @returns the deliveries of a deposit; the last one was answered with 200 */
async function untilAcknowledged(wallet: WalletUnderTest, name: string, script: Script): Promise<readonly Delivery[]> {
  const { order } = await deposit(wallet, name, script)
  const deliveries = () => wallet.listener!.deliveriesTo(order.toAddress)
  const { waitSeconds } = wallet.options
  const isAcknowledged = await within(waitSeconds, () => deliveries().at(-1)!.reaction === 200)
  demand(isAcknowledged, `it was not sent again within ${waitSeconds} seconds`, ...deliveries())
  return [...deliveries()]
}

/** One deposit is refused until another one, which was made after the refusal, has arrived. */
async function independence(wallet: WalletUnderTest): Promise<void> {
  let hasArrived = false
  const refused = await deposit(wallet, 'held deposit', () => (hasArrived ? 200 : 500))
  try {
    await deposit(wallet, 'later deposit', () => 200)
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    throw new Violation(`${error.message}, while another one was refused`, [toExchange(refused.delivery)])
  } finally {
    hasArrived = true
  }
}

function demandSignature({ options }: WalletUnderTest, delivery: Delivery): void {
  const { headers, body } = delivery
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = createHmac('sha256', keyOf(options.webhooks!.secret)).update(signed).digest()
  const isRight = String(headers['webhook-signature'])
    .split(' ')
    .some((part) => {
      const [version, signature] = part.split(',')
      const received = Buffer.from(signature ?? '', 'base64')
      return version === 'v1' && received.length === expected.length && timingSafeEqual(received, expected)
    })
  demand(isRight, 'webhook-signature is not that of the secret', delivery)
}

/** A secret with the prefix `whsec_` is base64, any other is used as its bytes. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8')
}

/** No sign, exponent or needless zero before the point. */
const decimalForm = /^(0|[1-9][0-9]{0,77})(\.[0-9]{1,36})?$/

function demandAmount(delivery: Delivery, decimals: number): void {
  const { amount } = eventOf(delivery).tx
  const arrived = fromRaw(spentAmount, decimals)
  const isDecimal = typeof amount === 'string' && decimalForm.test(amount)
  demand(isDecimal && compare(amount, arrived) === 0, `amount is ${amount}, ${arrived} arrived`, delivery)
}

/** The event as it claims to be; only webhooks.form checks its form. */
function eventOf({ json }: Delivery): DepositEvent {
  return { tx: {}, ...(json as object) } as DepositEvent
}

const isOrphaning = ({ json }: Delivery) => (json as { kind?: unknown } | null)?.kind === 'DEPOSIT_ORPHANED'

const isSame = (a: unknown, b: string) => typeof a === 'string' && a.toLowerCase() === b.toLowerCase()

function demand(isSo: boolean, message: string, ...deliveries: Delivery[]): asserts isSo {
  if (!isSo) throw new Violation(message, deliveries.map(toExchange))
}

/** A delivery in the form in which failures are shown: the wallet service sent, the kit answered. */
function toExchange({ headers, body, reaction }: Delivery): Exchange {
  const shown = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const answer = typeof reaction === 'number' ? { status: reaction, headers: {}, body: '' } : { fault: reaction }
  return {
    request: { method: 'POST', path: '(your webhook)', headers: shown, body: shorten(body) },
    response: answer,
    milliseconds: 0,
  }
}
