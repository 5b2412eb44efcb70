import { afterAll, beforeAll, expect, it } from 'vitest'
import { runDueScreenings } from '../../../jobs/run-screenings.ts'
import type { Person } from '../../../testing/app.ts'
import { campaignOf } from '../../../testing/campaign.ts'
import {
  type Behaviour,
  type FakeScreener,
  honest,
  silences,
  startFakeScreener,
} from '../../../testing/fake-screener.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, deposit, usdtContract } from '../../../testing/fixtures.ts'
import { createRandom } from '../../../testing/random.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { deliverDueTransfers } from '../delivery/deliver.ts'
import type { Question } from './screener.ts'

/**
 * The screening service hangs, lies and flaps in random schedules of deposits, reorganisations of the chain, orders, concurrent
 * nodes, holds of people, releases and time. In every schedule, only units and payments that the screening or two people have
 * allowed become available and are sent.
 */
const { runs: schedules, seed: firstSeed } = campaignOf('SCREENING', { runs: 15, seed: 73 })
const stepsMax = 10

let screener: FakeScreener
let bench: TransferBench
let second: Person
let base: `/vaults/${string}`

beforeAll(async () => {
  screener = await startFakeScreener()
  bench = await createTransferBench(screener.env)
  second = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
  base = `/vaults/${bench.vault.code}`
})
afterAll(async () => {
  await bench.close()
  await screener.close()
})

type Random = { below(below: number): number; pick<Item>(items: readonly Item[]): Item }

/** `amount` is in whole units; `occurrence` is the number of times that the chain has lost the deposit before. */
type Deposited = { amount: number; txHash: string; occurrence: number; isGone: boolean }

/** The events of one schedule, seen from outside: the answers that allowed a subject, and the actions of people. */
class Schedule {
  readonly random: Random
  readonly addressId: string
  readonly address: string
  readonly deposits = new Map<string, Deposited>()
  readonly transfers: string[] = []
  /** Subjects that a correctly signed answer allowed, or that two people released from a hold of the screening. */
  readonly allowed = new Set<string>()
  readonly log: string[] = []
  isFlapping = true

  constructor(random: Random, { id, address }: { id: string; address: string }) {
    this.random = random
    this.addressId = id
    this.address = address
  }

  /** Answers honestly, lies in the answer, or does not answer; successive answers about a subject differ. */
  readonly behave = ({ subject }: Question): Behaviour => {
    const { below, pick } = this.random
    if (this.isFlapping && below(5) < 2) return pick(silences)
    const verdict = pick(['allow', 'allow', 'allow', 'hold', 'block'] as const)
    if (verdict === 'allow' && subject.id !== null) this.allowed.add(subject.id)
    return honest(verdict, below(101))
  }

  async receive(): Promise<void> {
    const amount = 1 + this.random.below(500)
    const txHash = fakeTxHash(`${this.log[0]}, ${this.deposits.size}`)
    const to = { address: this.address, asset: usdtContract, amount: String(amount), txHash }
    const { body } = await deposit(bench.test, to)
    this.deposits.set(body.depositId, { amount, txHash, occurrence: 0, isGone: false })
  }

  /** The chain loses a deposit, or brings it back. */
  async reorganise(known = this.random.pick([...this.deposits.values()])): Promise<void> {
    if (known.isGone) known.occurrence += 1
    known.isGone = !known.isGone
    const { amount, txHash, occurrence, isGone } = known
    const kind = isGone ? 'DEPOSIT_ORPHANED' : 'TOPUP'
    const tx = {
      network: 'ethereum',
      asset: usdtContract,
      amount: String(amount),
      toAddress: this.address,
      txHash,
      occurrence,
    }
    const { body } = await bench.test.anonymous.post('//webhooks/wallet', { kind, tx })
    this.log.push(`${kind} of ${amount}: ${body.outcome}`)
  }

  async order(): Promise<void> {
    const { status, body } = await bench.order(this.addressId, String(1 + this.random.below(100)))
    this.log.push(`order: ${status}`)
    if (status === 201) this.transfers.push(body.id)
  }

  /** One or two nodes ask and deliver at the same time. */
  async work(): Promise<void> {
    bench.test.clock.advance(this.random.pick([500, 61_000, 61_000, 3_700_000]))
    const client = screener.impatient(bench.test.clock.now, this.isFlapping ? 40 : 5_000)
    const nodes = Array.from({ length: 1 + this.random.below(2) }, () => [
      runDueScreenings(bench.test.deps, client),
      deliverDueTransfers(bench.test.deps),
    ])
    await Promise.all(nodes.flat())
  }

  async hold(): Promise<void> {
    const ids = [...this.deposits.keys(), ...this.transfers]
    if (ids.length === 0) return
    const subjectId = this.random.pick(ids)
    const subjectType = this.deposits.has(subjectId) ? 'deposit' : 'transfer'
    const placing = { subjectType, subjectId, reason: 'Somebody looks' }
    this.log.push(`hold: ${(await bench.vault.admin.post(`${base}/holds`, placing)).status}`)
  }

  /** Two people release one of the holds; the screening may answer meanwhile. */
  async release(): Promise<void> {
    const { body } = await bench.vault.admin.get(`${base}/holds?active=true&limit=100`)
    const ours = body.items.filter(
      ({ subjectId }) => this.deposits.has(subjectId) || this.transfers.includes(subjectId),
    )
    if (ours.length === 0) return
    const hold = this.random.pick(ours)
    const response = await bench.vault.admin.post(`${base}/holds/${hold.id}/release`, { reason: 'Go on' })
    if (response.status !== 202) return
    if (this.random.below(2) === 0) await this.work()
    const voted = await second.post(`${base}/approval-requests/${response.body.request.id}/approve`)
    const isReleased = voted.body.status === 'applied'
    this.log.push(`release of ${hold.origin}: ${isReleased}`)
    if (isReleased && hold.origin === 'screening') this.allowed.add(hold.subjectId)
  }

  async step(): Promise<void> {
    const steps = [
      'receive',
      'receive',
      'reorganise',
      'reorganise',
      'reorganise',
      'order',
      'order',
      'work',
      'work',
      'work',
      'hold',
      'release',
    ] as const
    const name = this.random.pick(steps)
    this.log.push(name)
    await this[name]()
  }

  /** At the end the screening answers every question, so that allowed subjects continue, and the chain has all deposits. */
  async end(): Promise<void> {
    this.isFlapping = false
    await this.order()
    for (let round = 0; round < 3; round += 1) await this.work()
    for (const known of this.deposits.values()) if (known.isGone) await this.reorganise(known)
    await this.check()
  }

  /** Allowed deposits cover all funds in use. Less the exposure, the deposits that the chain still has cover them. */
  async check(): Promise<void> {
    const allowed = [...this.deposits].filter(([id]) => this.allowed.has(id)).map(([, deposit]) => deposit)
    const sumOf = (deposits: Deposited[]) => BigInt(deposits.reduce((sum, { amount }) => sum + amount, 0)) * 1_000_000n
    const [{ available, spent, exposure }] = await bench.sql(
      `select coalesce(sum(balance), 0) as available, coalesce(sum(exposure), 0) as exposure,
        (select coalesce(sum(amount), 0) from operations where address_id = $1 and type = 'transfer'
          and status in ('pending', 'confirmed', 'awaiting_approval')) as spent
       from ledger_accounts where address_id = $1 and token_id = $2 and purpose = 'available'`,
      [this.addressId, bench.vault.tokens.usdt.id],
    )
    const story = this.log.join(', ')
    const used = BigInt(available) + BigInt(spent)
    expect(used <= sumOf(allowed), `${available} + ${spent} of ${sumOf(allowed)}: ${story}`).toBe(true)
    const left = sumOf(allowed.filter(({ isGone }) => !isGone))
    expect(used - BigInt(exposure) <= left, `${used} - ${exposure} of ${left}: ${story}`).toBe(true)
    for (const id of this.transfers) {
      if (!this.allowed.has(id)) expect(bench.vault.wallet.broadcastCount(id), story).toBe(0)
    }
  }
}

it(
  `T73 no unit that was not allowed becomes available or is sent: ${schedules} schedules`,
  async () => {
    let spendable = 0
    let sent = 0
    for (let run = 0; run < schedules; run += 1) {
      const { below } = createRandom(firstSeed + run)
      // A thousand schedules take longer than a session lasts.
      const later = new Date(bench.test.clock.now().getTime() + 7 * 86_400_000)
      await bench.sql('update sessions set last_seen_at = $2, expires_at = $1, ends_at = $1', [
        later,
        bench.test.clock.now(),
      ])
      const address = await bench.fundedAddress({ usdt: '0' })
      const schedule = new Schedule({ below, pick: (items) => items[below(items.length)]! }, address)
      screener.behave = schedule.behave
      schedule.log.push(`seed ${firstSeed + run}`)
      await schedule.receive()
      for (let step = 0; step < stepsMax; step += 1) {
        await schedule.step()
        await schedule.check()
      }
      await schedule.end()
      spendable += schedule.allowed.size
      sent += schedule.transfers.filter((id) => bench.vault.wallet.broadcastCount(id) > 0).length
      await bench.sql('update screenings set next_attempt_at = null')
      await bench.sql('update deliveries set next_attempt_at = null')
      // The database does this by itself elsewhere; without it a thousand schedules take hours.
      if (run % 25 === 24) await bench.sql('vacuum analyze')
    }
    await bench.expectSoundLedger()
    // The schedules reach the cases that they are made for.
    expect(spendable).toBeGreaterThan(schedules / 2)
    expect(sent).toBeGreaterThan(schedules / 10)
  },
  180_000 + schedules * 5_000,
)
