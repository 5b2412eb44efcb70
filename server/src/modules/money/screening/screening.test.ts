import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runDueScreenings } from '../../../jobs/run-screenings.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { type FakeScreener, honest, silences, startFakeScreener } from '../../../testing/fake-screener.ts'
import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, deposit, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let screener: FakeScreener
let bench: TransferBench
let second: Person
let base: `/vaults/${string}`
let address: Address

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
beforeEach(async () => {
  screener.behave = () => honest('allow')
  screener.questions.length = 0
  address = await bench.fundedAddress({ usdt: '0' })
})
afterEach(async () => {
  // A question that one test leaves unanswered is not asked in the next one.
  await bench.sql('update screenings set next_attempt_at = null')
  await bench.expectSoundLedger()
})

/** Advances the clock until every question is due, and asks each once. */
async function screen(): Promise<void> {
  bench.test.clock.advance(61_000)
  await runDueScreenings(bench.test.deps, screener.impatient(bench.test.clock.now))
}

const arrives = async (amount: string, txHash?: string): Promise<string> => {
  const to = { address: address.address, asset: usdtContract, amount }
  return (await deposit(bench.test, txHash === undefined ? to : { ...to, txHash })).body.depositId
}
const readDeposit = async (id: string) => (await bench.vault.admin.get(`${base}/deposits/${id}`)).body
const balances = () => bench.balances(address.id)
const holdsOn = async (subjectId: string, query = '') =>
  (await bench.vault.admin.get(`${base}/holds?subjectId=${subjectId}${query}`)).body.items
const activeOn = (subjectId: string) => holdsOn(subjectId, '&active=true')
const askRelease = (id: string) => bench.vault.admin.post(`${base}/holds/${id}/release`, { reason: 'A false alarm' })
const vote = (requestId: string) => second.post(`${base}/approval-requests/${requestId}/approve`)

async function release(holdId: string): Promise<void> {
  const response = await askRelease(holdId)
  expect(response.status, JSON.stringify(response.body)).toBe(202)
  expect((await vote(response.body.request.id)).body.status).toBe('applied')
}

const place = (subjectType: string, subjectId: string) =>
  bench.vault.admin.post(`${base}/holds`, { subjectType, subjectId, reason: 'Something is wrong' })

const say = (kind: string, txHash: string, occurrence: number, amount = '100') =>
  bench.test.anonymous.post('//webhooks/wallet', {
    kind,
    tx: { network: 'ethereum', asset: usdtContract, amount, toAddress: address.address, txHash, occurrence },
  })
async function standing(): Promise<[available: string, reserved: string, exposure: string]> {
  const { body } = await bench.owner.get(`${base}/balances?addressId=${address.id}&token=USDT`)
  const total = body.totals[0]!
  return [total.availableDecimal, total.reservedDecimal, total.exposureDecimal]
}

const noAnswer = { verdict: null, score: null, reference: null, answeredAt: null, isWaived: false }
const all = { available: '100', reserved: '0' }
const none = { available: '0', reserved: '100' }

describe('a deposit', () => {
  it('T73 is credited and reserved at once, and spendable only after the answer allow', async () => {
    const id = await arrives('100')
    expect(await balances()).toEqual(none)
    expect((await bench.order(address.id, '1')).body.reason).toBe('insufficient_funds')
    expect((await readDeposit(id)).screening).toEqual({ ...noAnswer, askedAt: null, attempts: 0 })
    const [hold] = await activeOn(id)
    expect(hold).toMatchObject({ origin: 'screening', placedById: null, reserved: { amountDecimal: '100' } })

    screener.behave = () => honest('allow', 12)
    await screen()
    expect(await balances()).toEqual(all)
    expect((await readDeposit(id)).screening).toMatchObject({
      verdict: 'allow',
      score: 12,
      reference: 'case-allow',
      attempts: 1,
      isWaived: false,
    })
    expect(await bench.audited('screening.answered', id)).toBe(1)
    expect([await bench.audited('hold.placed', hold!.id), await bench.audited('hold.released', hold!.id)]).toEqual([
      1, 1,
    ])
    // Such a hold exists for each deposit, so the list of holds leaves it out.
    expect((await holdsOn(id)).map((hold) => hold.isActive)).toEqual([false])
    const { body } = await bench.vault.admin.get(`${base}/holds?origin=screening`)
    expect(body.items.map((item) => item.id)).not.toContain(hold!.id)
  })

  it('is screened with the identifying data of the payment, under the same id until there is an answer', async () => {
    screener.behave = () => 'fails'
    const txHash = fakeTxHash('a screened deposit')
    const id = await arrives('1.5', txHash)
    await screen()
    await screen()
    const [first, again] = screener.questions
    expect(again).toEqual(first)
    expect(first).toMatchObject({
      subject: { type: 'deposit', id },
      vaultId: bench.vault.id,
      network: 'ethereum',
      asset: 'USDT',
      contractAddress: usdtContract,
      amount: '1500000',
      amountDecimal: '1.5',
      fromAddress: fakeAddress('somebody outside'),
      toAddress: address.address,
      txHash,
    })
    await screen()
    expect((await readDeposit(id)).screening).toMatchObject({ verdict: null, attempts: 3 })
  })

  it('T17 T73 that the chain loses and brings back is spendable only after the answer allow, at any time', async () => {
    const [before, meanwhile] = [fakeTxHash('answered after its return'), fakeTxHash('answered while it was gone')]
    screener.behave = () => 'fails'
    await arrives('100', before)
    await say('DEPOSIT_ORPHANED', before, 0)
    expect(await standing()).toEqual(['0', '100', '100'])
    await say('TOPUP', before, 1)
    expect(await standing()).toEqual(['0', '100', '0'])
    screener.behave = () => honest('allow')
    await screen()
    expect(await standing()).toEqual(['100', '0', '0'])

    await arrives('100', meanwhile)
    await say('DEPOSIT_ORPHANED', meanwhile, 0)
    await screen()
    // The allowed deposit covers the amount that the chain took, which came from the funds available before.
    expect(await standing()).toEqual(['100', '0', '0'])
    await say('TOPUP', meanwhile, 1)
    expect(await standing()).toEqual(['200', '0', '0'])
  })

  it.each(['hold', 'block'] as const)(
    'T17 T73 that the chain loses before the answer %s is held when it comes back, whatever other funds there are',
    async (verdict) => {
      const txHash = fakeTxHash(`gone before ${verdict}`)
      await arrives('1')
      await screen()
      const id = await arrives('100', txHash)
      await say('DEPOSIT_ORPHANED', txHash, 0)
      expect(await standing()).toEqual(['0', '100', '99'])
      screener.behave = () => honest(verdict, 100)
      await screen()
      expect(await standing()).toEqual(['0', '100', '99'])
      await say('TOPUP', txHash, 1)
      expect(await standing()).toEqual(['1', '100', '0'])
      await release((await activeOn(id))[0]!.id)
      expect(await standing()).toEqual(['101', '0', '0'])
    },
  )

  it('T17 T73 that is blocked does not cover the exposure of its address', async () => {
    const txHash = fakeTxHash('allowed, spent and lost')
    await arrives('50', txHash)
    await screen()
    const { body: ordered } = await bench.order(address.id, '50')
    await arrives('100')
    await say('DEPOSIT_ORPHANED', txHash, 0, '50')
    expect(await standing()).toEqual(['0', '150', '50'])
    screener.behave = () => honest('block', 100)
    await screen()
    expect(await standing()).toEqual(['0', '150', '50'])
    await say('TOPUP', txHash, 1, '50')
    expect(await standing()).toEqual(['0', '150', '0'])
    expect((await bench.act(bench.owner, ordered.id, 'cancel')).status).toBe(200)
  })

  it.each(silences)('T73 stays held while the screening service %s', async (silence) => {
    const id = await arrives('100')
    screener.behave = () => silence
    await screen()
    expect(await balances()).toEqual(none)
    expect((await readDeposit(id)).screening).toMatchObject({ ...noAnswer, attempts: 1 })
    screener.behave = () => honest('allow')
    await screen()
    expect(await balances()).toEqual(all)
  })

  it('T73 ignores an answer to an earlier question', async () => {
    const id = await arrives('100')
    bench.test.clock.advance(61_000)
    let arrived = () => {}
    const slow = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const late = runDueScreenings(bench.test.deps, {
      ask: () => slow.then(() => ({ verdict: 'allow', score: 1, reference: 'late' })),
    })
    await expect.poll(async () => (await readDeposit(id)).screening!.attempts).toBe(1)
    screener.behave = () => honest('block', 99)
    await screen()
    arrived()
    await late
    expect((await readDeposit(id)).screening).toMatchObject({ verdict: 'block', attempts: 2 })
    expect(await balances()).toEqual(none)
  })

  it.each(['hold', 'block'] as const)(
    'stays held after the answer %s, until two people release it',
    async (verdict) => {
      const id = await arrives('100')
      const [before] = await activeOn(id)
      screener.behave = () => honest(verdict, 80)
      await screen()
      const [hold, ...others] = await activeOn(id)
      expect(others).toEqual([])
      expect(hold!.reason).toBe(`The screening answered ${verdict}, with the score 80: case-${verdict}`)
      expect(hold!.id).not.toBe(before!.id)
      const mailed = await bench.sql(
        `select n.user_id from notifications n join audit_records r on r.id = n.subject_id where r.target_id = $1`,
        [hold!.id],
      )
      expect(mailed.map(({ user_id }) => user_id)).toContain(second.userId)
      screener.questions.length = 0
      screener.behave = () => honest('allow')
      await screen()
      expect(screener.questions).toEqual([])
      expect(await balances()).toEqual(none)
      await release(hold!.id)
      expect(await balances()).toEqual(all)
      expect((await readDeposit(id)).screening).toMatchObject({ verdict, isWaived: true })
    },
  )

  it('can be decided by two people in place of a silent screening, which is then not asked again', async () => {
    const id = await arrives('100')
    await release((await activeOn(id))[0]!.id)
    expect(await balances()).toEqual(all)
    await screen()
    expect(screener.questions).toEqual([])
    expect((await readDeposit(id)).screening).toMatchObject({ ...noAnswer, isWaived: true })
  })

  it('T73 that is blocked is not released by a request from before the block', async () => {
    const id = await arrives('100')
    const response = await askRelease((await activeOn(id))[0]!.id)
    screener.behave = () => honest('block', 100)
    await screen()
    const voted = await vote(response.body.request.id)
    expect([voted.status === 200 && voted.body.status === 'applied', await balances()]).toEqual([false, none])
  })

  it('T73 stays reserved for a hold of people beside that of the screening, in either order', async () => {
    const first = await arrives('100')
    const placed = await place('deposit', first)
    expect([placed.status, placed.body.origin, placed.body.reserved!.amount]).toEqual([201, 'people', '0'])
    expect((await place('deposit', first)).body.reason).toBe('already_exists')
    await screen()
    expect(await balances()).toEqual(none)
    await release(placed.body.id)
    expect(await balances()).toEqual(all)

    const next = await arrives('50')
    const other = await place('deposit', next)
    await release(other.body.id)
    expect(await balances()).toEqual({ available: '100', reserved: '50' })
    await screen()
    expect(await balances()).toEqual({ available: '150', reserved: '0' })
  })

  it('T73 that arrived before its address is held like any other', async () => {
    const { wallet } = bench.vault
    const future = fakeAddress('an address of tomorrow')
    await deposit(bench.test, { address: future, asset: usdtContract, amount: '100' })
    wallet.answerWithAddress = () => future
    address = await bench.fundedAddress({ usdt: '0' })
    wallet.answerWithAddress = null
    expect(address.address).toBe(future)
    expect(await balances()).toEqual(none)
  })

  /** Sends an event of 150 for a deposit of 100, which the chain confirms. Returns a function with which two people accept it. */
  async function contradict(txHash: string) {
    await arrives('150', txHash)
    const { body } = await bench.vault.admin.get(`${base}/deposits?outcome=quarantined&addressId=${address.id}`)
    bench.vault.wallet.transactions = new Map()
    bench.vault.wallet.mine({
      hash: txHash,
      from: fakeAddress('somebody outside'),
      payments: [{ index: 0, toAddress: address.address, contractAddress: usdtContract, amount: '150000000' }],
    })
    return async () => {
      const response = await bench.vault.admin.post(`${base}/wallet-events/${body.items[0]!.id}/resolve`, {
        outcome: 'credit',
        reason: 'The chain has it',
      })
      expect(response.status, JSON.stringify(response.body)).toBe(202)
      return vote(response.body.request.id)
    }
  }

  it('T73 has its surplus held after an upward correction, and is not corrected while it is held', async () => {
    const txHash = fakeTxHash('a corrected deposit')
    const id = await arrives('100', txHash)
    const resolve = await contradict(txHash)
    expect((await resolve()).body.status).not.toBe('applied')
    expect(await balances()).toEqual(none)
    await screen()
    expect((await resolve()).body.status).toBe('applied')
    expect(await balances()).toEqual({ available: '100', reserved: '50' })
    expect((await readDeposit(id)).screening).toMatchObject({ verdict: null, attempts: 0 })
    await screen()
    expect(await balances()).toEqual({ available: '150', reserved: '0' })
    expect(screener.questions.at(-1)).toMatchObject({ amountDecimal: '150' })
  })

  it('T17 T73 covers no exposure by the surplus of an upward correction', async () => {
    const [txHash, lost] = [fakeTxHash('corrected at an exposed address'), fakeTxHash('lost before a correction')]
    await arrives('100', txHash)
    await arrives('30', lost)
    await screen()
    const orders = [await bench.order(address.id, '100'), await bench.order(address.id, '30')]
    await say('DEPOSIT_ORPHANED', lost, 0, '30')
    expect((await (await contradict(txHash))()).body.status).toBe('applied')
    expect(await standing()).toEqual(['0', '180', '30'])
    for (const { body } of orders) expect((await bench.act(bench.owner, body.id, 'cancel')).status).toBe(200)
    expect(await standing()).toEqual(['100', '50', '0'])
  })
})

describe('a transfer', () => {
  beforeEach(async () => {
    await arrives('1000')
    await screen()
    screener.questions.length = 0
  })

  const order = async (amount = '40', more = {}): Promise<string> => {
    const { status, body } = await bench.order(address.id, amount, more)
    expect([status, body.status, body.screening]).toEqual([201, 'pending', null])
    return body.id
  }
  const sent = (id: string) => bench.vault.wallet.broadcastCount(id)
  const rest = { available: '960', reserved: '40' }

  it('T73 is screened before the hand-over, and handed over after the answer allow', async () => {
    const id = await order()
    await bench.deliver()
    expect(sent(id)).toBe(0)
    expect((await bench.read(id)).screening).toMatchObject({ ...noAnswer, attempts: 0 })
    await screen()
    expect(screener.questions).toMatchObject([
      { subject: { type: 'transfer', id }, fromAddress: address.address, toAddress: bench.recipient, txHash: null },
    ])
    await bench.deliver()
    expect(sent(id)).toBe(1)
    expect((await bench.read(id)).screening).toMatchObject({ verdict: 'allow', score: 5, isWaived: false })
    expect(await activeOn(id)).toEqual([])
  })

  it.each(['hangs', 'fails', 'unsigned'] as const)('T73 waits while the screening service %s', async (silence) => {
    const id = await order()
    await bench.deliver()
    screener.behave = () => silence
    await screen()
    await bench.deliver()
    await screen()
    expect([sent(id), await balances()]).toEqual([0, rest])
    expect(await activeOn(id)).toMatchObject([{ origin: 'screening', reason: 'The screening has not answered yet' }])
    screener.behave = () => honest('allow')
    await screen()
    await bench.deliver()
    expect([sent(id), await activeOn(id)]).toEqual([1, []])
  })

  it('without an answer is handed over after two people release it', async () => {
    const id = await order()
    await bench.deliver()
    screener.behave = () => 'fails'
    await screen()
    const [hold] = await activeOn(id)
    expect((await askRelease(hold!.id)).status).toBe(202)
    await bench.deliver()
    expect(sent(id)).toBe(0)
    await release(hold!.id)
    await bench.deliver()
    expect(sent(id)).toBe(1)
    expect((await bench.read(id)).screening).toMatchObject({ verdict: null, isWaived: true })
  })

  it('waits after the answer hold, with its reason, until two people release it', async () => {
    const id = await order()
    await bench.deliver()
    screener.behave = () => honest('hold', 61)
    await screen()
    const [hold] = await activeOn(id)
    expect(hold!.reason).toBe('The screening answered hold, with the score 61: case-hold')
    expect((await bench.act(bench.owner, id, 'cancel')).body.reason).toBe('held')
    await bench.deliver()
    expect([sent(id), await balances()]).toEqual([0, rest])
    await release(hold!.id)
    await bench.deliver()
    expect(sent(id)).toBe(1)
  })

  it('ends after the answer block, and its funds are released', async () => {
    const id = await order()
    await bench.deliver()
    screener.behave = () => 'fails'
    await screen()
    screener.behave = () => honest('block', 100)
    await screen()
    expect(await bench.read(id)).toMatchObject({
      status: 'failed',
      failureReason: 'SCREENING_BLOCKED: case-block',
      screening: { verdict: 'block', score: 100 },
    })
    await bench.deliver()
    expect([sent(id), await balances(), await activeOn(id)]).toEqual([0, { available: '1000', reserved: '0' }, []])
  })

  it('T73 that was allowed an hour ago is screened again', async () => {
    const id = await order()
    await bench.deliver()
    const held = await place('transfer', id)
    await screen()
    bench.test.clock.advance(3_600_000)
    await release(held.body.id)
    await bench.deliver()
    expect([sent(id), screener.questions.length]).toEqual([0, 1])
    screener.behave = () => honest('block', 100)
    await screen()
    expect((await bench.read(id)).status).toBe('failed')
    expect(new Set(screener.questions.map((question) => question.id)).size).toBe(2)
  })

  it.each([
    [
      'an answer that the audit records do not have',
      `verdict = 'allow', score = 0, reference = 'x', answered_at = now()`,
    ],
    ['a release that the audit records do not have', `waived_hold_id = 'nothing'`],
  ])('T73 is not handed over for %s', async (_, forgery) => {
    const id = await order()
    await bench.deliver()
    await bench.sql(`update screenings set next_attempt_at = null, ${forgery} where subject_id = $1`, [id])
    await bench.deliver()
    expect(sent(id)).toBe(0)
    screener.behave = () => honest('hold')
    await screen()
    await bench.deliver()
    expect([sent(id), screener.questions.length]).toEqual([0, 1])
  })

  it('T73 that may have been sent is not sent again without an answer, and no answer fails it', async () => {
    const id = await order()
    await bench.sql(`update transfers set phase = 'submitting', sent_at = now() where id = $1`, [id])
    await bench.deliver()
    screener.behave = () => honest('block', 100)
    await screen()
    await bench.deliver()
    expect([sent(id), (await bench.read(id)).status, await balances()]).toEqual([0, 'pending', rest])
    const [hold] = await activeOn(id)
    expect(hold).toMatchObject({ origin: 'screening', handedOverCount: 1 })
    await release(hold!.id)
    await bench.deliver()
    expect(sent(id)).toBe(1)
  })

  it('that was cancelled is not screened any more', async () => {
    const id = await order()
    await bench.deliver()
    expect((await bench.act(bench.owner, id, 'cancel')).body.status).toBe('cancelled')
    await screen()
    expect(screener.questions).toEqual([])
  })
})

describe('the selector riskScore', () => {
  let policyId: string
  beforeEach(async () => {
    await arrives('1000')
    await screen()
    screener.questions.length = 0
    const rules = [
      { conditionType: 'require', selectors: [{ selectorType: 'riskScore', value: { op: 'gte', value: '70' } }] },
    ]
    const body = {
      code: `risky-${fakeTxHash(address.id).slice(2, 12)}`,
      effect: 'block',
      blockReason: 'Too risky',
      rules,
    }
    policyId = (await bench.policy(body)).id
  })
  afterEach(async () => {
    await bench.vault.admin.delete(`/policies/${policyId}`)
  })

  const row = (amount: string) => ({
    externalId: `row-${amount}-of-${address.id}`,
    fromAddressId: address.id,
    toAddress: bench.recipient,
    amount,
  })

  it('decides on orders and previews by the present score', async () => {
    screener.behave = ({ amountDecimal }) => honest('allow', amountDecimal === '40' ? 70 : 69)
    const refused = await bench.order(address.id, '40')
    expect([refused.status, refused.body.reason]).toEqual([403, 'blocked_by_policy'])
    expect((await bench.order(address.id, '41')).status).toBe(201)
    expect(screener.questions.map(({ subject }) => subject)).toEqual([
      { type: 'order', id: null },
      { type: 'order', id: null },
    ])
    const { body } = await bench.owner.post(`${base}/transfers/preview`, {
      fromAddressId: address.id,
      toAddress: bench.recipient,
      amount: '40',
    })
    expect(body.decision.effect).toBe('block')
  })

  it('is unknown without an answer, which counts against the order', async () => {
    screener.behave = () => 'fails'
    expect((await bench.order(address.id, '40')).body.reason).toBe('blocked_by_policy')
  })

  it('decides again with the new answer before the hand-over', async () => {
    screener.behave = ({ subject }) => honest('allow', subject.type === 'order' ? 10 : 90)
    const { body } = await bench.order(address.id, '40')
    await bench.deliver()
    await screen()
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(body.id)).toBe(0)
    expect(await bench.read(body.id)).toMatchObject({
      status: 'failed',
      failureReason: expect.stringMatching('Too risky'),
    })
  })

  it('decides on each row of a payout', async () => {
    screener.behave = ({ amountDecimal }) => honest('allow', amountDecimal === '2' ? 70 : 5)
    const refused = await bench.owner.post(`${base}/payouts`, { rows: [row('1'), row('2'), row('3')] })
    expect([refused.status, refused.body.reason]).toEqual([403, 'blocked_by_policy'])
    const preview = await bench.owner.post(`${base}/payouts/preview`, { rows: [row('1'), row('2')] })
    expect([preview.body.decision.effect, preview.body.row]).toEqual(['block', 2])
    expect((await bench.owner.post(`${base}/payouts`, { rows: [row('1'), row('3')] })).status).toBe(201)
  })

  it('asks about no order that the caller may not place, or that no policy of theirs scores', async () => {
    const stranger = await addMember(bench.test, bench.vault, `stranger.${address.id}@example.org`)
    expect((await bench.order(address.id, '40', {}, stranger)).status).toBe(404)
    expect((await bench.order(address.id, '-1')).status).toBe(400)
    await bench.vault.admin.delete(`/policies/${policyId}`)
    expect((await bench.order(address.id, '40')).status).toBe(201)
    expect(screener.questions).toEqual([])
  })
})
