import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember, createAddress, deposit } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { patiently } from '../../../testing/patiently.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { expireTransfers } from '../../money/transfers/transfer-votes.ts'
import { velocityLockOf } from './velocity-sums.ts'

let bench: TransferBench
let other: Person
let policies: string[] = []

beforeAll(async () => {
  bench = await createTransferBench()
  other = await addMember(bench.test, bench.vault, 'second.owner@example.org', ['treasury'])
})
afterAll(() => bench.close())
beforeEach(() => {
  // The transfers of earlier tests are outside every window now.
  bench.test.clock.advance(3_601_000)
})
afterEach(async () => {
  for (const id of policies) expect((await bench.vault.admin.delete(`/policies/${id}`)).status).toBe(204)
  policies = []
  await bench.expectSoundLedger()
})

let counter = 0
const rule = (selectorType: string, value: unknown) => ({
  conditionType: 'require',
  selectors: [{ selectorType, value }],
})
async function policy(body: Record<string, unknown>): Promise<string> {
  const { id } = await bench.policy({ code: `limit-${++counter}`, ...body })
  policies.push(id)
  return id
}
const blockAbove = (selectorType: string, value: string, per: string, more: object[] = []) =>
  policy({
    effect: 'block',
    blockReason: 'The limit is reached',
    rules: [rule(selectorType, { op: 'gt', value, windowSeconds: 3_600, per }), ...more],
  })
const toSomebodyElse = () => fakeAddress(`recipient ${++counter}`)
const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort()
const times = (n: number, status: number) => Array<number>(n).fill(status)
/** A rate that jumps needs a second platform administrator. */
async function setRate(usdRate: string) {
  const now = bench.test.clock.now().toISOString()
  const answer = await bench.vault.admin.post(`/tokens/${bench.vault.tokens.usdt.id}/rates`, {
    usdRate,
    asOf: now,
    source: 'manual',
  })
  if (answer.status === 201) return
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  const second = await bench.test.signIn('second.platform@example.org', { isPlatformAdmin: true })
  expect((await second.post(`/held-rates/${answer.body.id}/confirm`)).status).toBe(200)
}

describe('T36 fifty requests at once never slip past a limit', () => {
  type Way = { from: string; by: Person; toAddress: string }
  const scopes: [per: string, ways: (addresses: { own: string[]; others: string[] }) => Way[]][] = [
    ['initiator', ({ own: owned }) => owned.map((from) => ({ from, by: bench.owner, toAddress: toSomebodyElse() }))],
    ['sourceAddress', ({ own: owned }) => [{ from: owned[0]!, by: bench.owner, toAddress: toSomebodyElse() }]],
    [
      'destination',
      ({ own: owned, others }) => [
        { from: owned[0]!, by: bench.owner, toAddress: bench.recipient },
        { from: owned[1]!, by: bench.owner, toAddress: bench.recipient },
        { from: others[0]!, by: other, toAddress: bench.recipient },
      ],
    ],
    [
      'vault',
      ({ own: owned, others }) => [
        { from: owned[0]!, by: bench.owner, toAddress: toSomebodyElse() },
        { from: others[0]!, by: other, toAddress: toSomebodyElse() },
      ],
    ],
  ]
  it.each(scopes)('T36 per %s', async (per, waysOf) => {
    const owned = [(await bench.fundedAddress()).id, (await bench.fundedAddress()).id]
    const others = [(await bench.fundedAddress({}, other)).id]
    await blockAbove('velocityAmount', '200', per)
    const ways = waysOf({ own: owned, others })
    const answers = await Promise.all(
      [...Array(50).keys()].map((i) => {
        const { from, by, toAddress } = ways[i % ways.length]!
        return patiently(() => bench.order(from, '10', { toAddress }, by))
      }),
    )
    expect(statuses(answers)).toEqual([...times(20, 201), ...times(30, 403)])
    for (const { status, body } of answers) if (status === 403) expect(body.message).toBe('The limit is reached')
    const rows = await bench.sql(`select sum(amount)::text as total from operations where id = any($1)`, [
      answers.flatMap(({ status, body }) => (status === 201 ? [body.id] : [])),
    ])
    expect(rows[0]!.total).toBe('200000000')
  })

  it('T36 counted in transfers and in USD, by several limits at once', async () => {
    await setRate('0.5')
    const addresses = [(await bench.fundedAddress()).id, (await bench.fundedAddress()).id]
    await blockAbove('velocityUsd', '60.49', 'vault')
    await blockAbove('velocityCount', '15', 'initiator')
    await blockAbove('velocityCount', '14', 'destination')
    const answers = await Promise.all(
      [...Array(50).keys()].map((i) => patiently(() => bench.order(addresses[i % 2]!, '10'))),
    )
    // Twelve transfers are 60 USD, the thirteenth would be 65.
    expect(statuses(answers)).toEqual([...times(12, 201), ...times(38, 403)])
  })

  it('T36 per sourceAddress, whichever of its tokens is moved', async () => {
    const address = (await bench.fundedAddress({ eth: '1000' })).id
    await blockAbove('velocityCount', '20', 'sourceAddress')
    const answers = await Promise.all(
      [...Array(50).keys()].map((i) =>
        patiently(() => bench.order(address, '1', { token: i % 2 === 0 ? 'ETH' : 'USDT' })),
      ),
    )
    expect(statuses(answers)).toEqual([...times(20, 201), ...times(30, 403)])
  })

  it('T36 a share of the balance is that of the balance under lock', async () => {
    const address = (await bench.fundedAddress({ usdt: '100' })).id
    await policy({ effect: 'block', rules: [rule('percentOfBalance', { op: 'gt', value: '50' })] })
    const answers = await Promise.all([...Array(10).keys()].map(() => bench.order(address, '40')))
    expect(statuses(answers)).toEqual([...times(1, 201), ...times(9, 403)])
    expect((await bench.order(address, '30.000001')).status).toBe(403)
    expect((await bench.order(address, '30')).status).toBe(201)
  })
})

describe('the transfers that a velocity counts', () => {
  it('are waiting, pending and confirmed transfers, not failed or rejected transfers', async () => {
    const address = (await bench.fundedAddress()).id
    await blockAbove('velocityAmount', '400', 'sourceAddress')
    const waiting = async () => (await bench.order(address, '150')).body.id
    const rejected = await waiting()
    expect((await bench.order(address, '251')).status).toBe(403)
    expect((await bench.act(bench.firstApprover, rejected, 'reject')).status).toBe(200)
    const cancelled = await waiting()
    await bench.act(bench.owner, cancelled, 'cancel')
    const failed = (await bench.order(address, '90')).body.id
    await bench.sql(`update transfers set phase = 'queued' where id = $1`, [failed])
    expect((await bench.act(bench.owner, failed, 'cancel')).status).toBe(200)
    const expired = await waiting()
    await bench.endVoting([expired])
    await expireTransfers(bench.test.deps)
    expect((await bench.read(expired)).status).toBe('rejected')

    // None of these transfers counts: the whole limit is left for a transfer that waits and a transfer that is pending.
    expect((await bench.order(address, '350')).body.status).toBe('awaiting_approval')
    expect((await bench.order(address, '50')).body.status).toBe('pending')
    expect((await bench.order(address, '0.000001')).status).toBe(403)
    await bench.sql(`update operations set status = 'confirmed', confirmed_at = now() where id = $1`, [failed])
    expect((await bench.order(address, '0.000001')).status).toBe(403)
    await bench.sql(`update operations set status = 'failed', confirmed_at = null where id = $1`, [failed])
  })

  it('are transfers of the present window, and for an amount only transfers of the same token', async () => {
    const address = (await bench.fundedAddress({ eth: '1000' })).id
    await blockAbove('velocityAmount', '100', 'sourceAddress')
    expect((await bench.order(address, '100')).status).toBe(201)
    expect((await bench.order(address, '100', { token: 'ETH' })).status).toBe(201)
    expect((await bench.order(address, '1', { token: 'ETH' })).status).toBe(403)
    bench.test.clock.advance(3_590_000)
    expect((await bench.order(address, '1')).status).toBe(403)
    bench.test.clock.advance(10_000)
    expect((await bench.order(address, '100')).status).toBe(201)
  })

  it('T36 an amount that is split into many payments pays no more than a single payment', async () => {
    const address = (await bench.fundedAddress()).id
    const whole = await bench.order(address, '400')
    expect(whole.body.status).toBe('awaiting_approval')
    await bench.act(bench.owner, whole.body.id, 'cancel')
    // The amount policy of the bench lets each piece through; a velocity asks for votes where it would for the whole.
    await policy({
      effect: 'requireApproval',
      approvalThreshold: 2,
      approvers: [{ kind: 'group', groupId: bench.approversId }],
      rules: [rule('velocityAmount', { op: 'gt', value: '100', windowSeconds: 3_600, per: 'initiator' })],
    })
    const pieces: string[] = []
    for (let i = 0; i < 4; i += 1) pieces.push((await bench.order(address, '50')).body.status)
    expect(pieces).toEqual(['pending', 'pending', 'awaiting_approval', 'awaiting_approval'])
  })

  it('T34 an operation of the window without a USD value fails closed', async () => {
    const address = (await bench.fundedAddress()).id
    await blockAbove('velocityUsd', '1000', 'sourceAddress')
    // No rate is fresh enough, so the value of this transfer is unknown.
    expect((await bench.order(address, '1')).status).toBe(403)
    await setRate('1')
    expect((await bench.order(address, '1')).status).toBe(201)
    // The state of a transfer that was ordered before the token had a rate.
    await bench.sql('alter table operations disable trigger operations_keep_rate')
    await bench.sql('update operations set usd_rate = null, usd_value = null where address_id = $1', [address])
    await bench.sql('alter table operations enable trigger operations_keep_rate')
    expect((await bench.order(address, '1')).status).toBe(403)
  })

  it('T34 a rate that is added to an operation of the window later does not permit more', async () => {
    const address = (await bench.fundedAddress()).id
    await blockAbove('velocityUsd', '1000', 'sourceAddress')
    await setRate('1')
    const { id } = (await bench.order(address, '1')).body
    await bench.sql('alter table operations disable trigger operations_keep_rate')
    await bench.sql(
      `update operations set usd_rate = null, usd_rate_as_of = null, usd_rate_source = null, usd_value = null
       where id = $1`,
      [id],
    )
    await bench.sql('alter table operations enable trigger operations_keep_rate')
    expect((await bench.order(address, '1')).status).toBe(403)
    const added = await bench.vault.admin.post(`/vaults/main-vault/operations/transfer/${id}/rate`)
    expect([added.status, added.body.usdValue]).toEqual([200, '1.00'])
    expect((await bench.order(address, '1')).status).toBe(403)
  })

  it('T36 amounts that are worth less than a cent add up all the same', async () => {
    await setRate('0.001')
    const address = (await bench.fundedAddress()).id
    await blockAbove('velocityUsd', '0.01', 'sourceAddress')
    const answers: number[] = []
    for (let i = 0; i < 4; i += 1) answers.push((await bench.order(address, '4')).status)
    expect(answers).toEqual([201, 201, 403, 403])
  })

  it('T29 the last vote counts the transfer once, and later transfers too', async () => {
    const address = (await bench.fundedAddress()).id
    const id = await blockAbove('velocityAmount', '300', 'sourceAddress')
    const waiting = (await bench.order(address, '300')).body.id
    await bench.act(bench.firstApprover, waiting, 'approve')
    expect((await bench.act(bench.secondApprover, waiting, 'approve')).body.status).toBe('pending')

    const second = await bench.fundedAddress()
    const later = (await bench.order(second.id, '200')).body.id
    await bench.act(bench.firstApprover, later, 'approve')
    await bench.order(second.id, '100')
    const stricter = {
      rules: [rule('velocityAmount', { op: 'gt', value: '299', windowSeconds: 3_600, per: 'sourceAddress' })],
    }
    expect((await bench.vault.admin.patch(`/policies/${id}`, stricter)).status).toBe(200)
    const refused = await bench.act(bench.secondApprover, later, 'approve')
    expect([refused.status, refused.body.message]).toEqual([409, 'A policy blocks this transfer now'])
  })
})

describe('locks and round trips', () => {
  it('a transfer locks only scopes that a matching policy limits, and a preview locks nothing', async () => {
    const address = (await bench.fundedAddress()).id
    await blockAbove('velocityCount', '1000', 'vault', [rule('token', 'ETH')])
    const holder = new pg.Client({ connectionString: bench.test.databaseUrl })
    await holder.connect()
    const lock = velocityLockOf('vault', bench.vault.id, bench.vault.id)
    await holder.query('select pg_advisory_lock($1)', [String(lock)])
    try {
      expect((await bench.order(address, '1')).status).toBe(201)
      await blockAbove('velocityCount', '1000', 'vault')
      const body = { fromAddressId: address, toAddress: bench.recipient, amount: '1' }
      expect((await bench.owner.post('/vaults/main-vault/transfers/preview', body)).body.decision.effect).toBe('allow')
      const simulation = { actionType: 'transfer', payload: body }
      expect((await bench.owner.post('/vaults/main-vault/policies/simulate', simulation)).body.effect).toBe('allow')
      let isAnswered = false
      const locked = bench.order(address, '1').then((answer) => {
        isAnswered = true
        return answer
      })
      await untilSessionsWait(bench.test.deps.db)
      expect(isAnswered).toBe(false)
      await holder.query('select pg_advisory_unlock($1)', [String(lock)])
      expect((await locked).status).toBe(201)
    } finally {
      await holder.end()
    }
  })

  it('T36 a balance that is read before its lock does not exclude a limit', async () => {
    const address = (await bench.fundedAddress({ usdt: '100' })).id
    await blockAbove('velocityCount', '1000', 'vault', [rule('percentOfBalance', { op: 'gt', value: '50' })])
    const holder = new pg.Client({ connectionString: bench.test.databaseUrl })
    await holder.connect()
    const lock = velocityLockOf('vault', bench.vault.id, bench.vault.id)
    await holder.query('select pg_advisory_lock($1)', [String(lock)])
    try {
      const ordered = bench.order(address, '1')
      await untilSessionsWait(bench.test.deps.db)
      await holder.query('select pg_advisory_unlock($1)', [String(lock)])
      expect((await ordered).status).toBe(201)
    } finally {
      await holder.end()
    }
  })

  it.each([
    ['allow', '10', {}],
    ['requireApproval', '150', { approvalThreshold: 1, approvers: 'approvers' }],
  ])(
    'a transfer that matches three policies (%s) takes at most three round trips more than with one',
    async (effect, amount, more) => {
      const address = (await bench.fundedAddress()).id
      const roundTrips = async () => {
        const query = vi.spyOn(pg.Client.prototype, 'query')
        try {
          const answer = await bench.order(address, amount)
          expect(answer.status).toBe(201)
          return { count: query.mock.calls.length, ...(await bench.read(answer.body.id)).decision }
        } finally {
          query.mockRestore()
        }
      }
      await roundTrips()
      const before = await roundTrips()
      const approvers = 'approvers' in more ? { approvers: [{ kind: 'group', groupId: bench.approversId }] } : {}
      for (const [selectorType, per] of [
        ['velocityAmount', 'initiator'],
        ['velocityCount', 'vault'],
      ]) {
        await policy({
          effect,
          ...more,
          ...approvers,
          rules: [rule(selectorType!, { op: 'lt', value: '1000', windowSeconds: 3_600, per })],
        })
      }
      const after = await roundTrips()
      const matching = (decision: { trace: { matched: boolean }[] }) => decision.trace.filter(({ matched }) => matched)
      expect([matching(before).length, matching(after).length]).toEqual([1, 3])
      expect(after.count).toBeLessThanOrEqual(before.count + 3)
    },
  )

  it('the sums are ranges of one index per scope, however large the vault is', async () => {
    const address = (await bench.fundedAddress()).id
    for (const per of ['initiator', 'sourceAddress', 'destination', 'vault']) {
      await blockAbove('velocityCount', '1000', per)
    }
    const query = vi.spyOn(pg.Client.prototype, 'query')
    const ordered = await bench.order(address, '1')
    expect(ordered.status, JSON.stringify(ordered.body)).toBe(201)
    const calls = query.mock.calls as unknown as [{ text: string; values: unknown[] } | string, unknown[]?][]
    const sums = calls
      .map(([first, values]) => (typeof first === 'string' ? { text: first, values } : first))
      .filter(({ text }) => text.includes('c.raw_usd'))
    expect(sums).toHaveLength(1)

    const client = new pg.Client({ connectionString: bench.test.databaseUrl })
    await client.connect()
    try {
      await client.query('begin')
      await client.query(
        `insert into operations (vault_id, id, type, status, address_id, owner_id, initiator_id, network_id, token_id,
           amount, flow_type, created_at, updated_at)
         select $1, 'bulk' || n, 'transfer', 'confirmed', 'a' || n % 400, 'o', 'i' || n % 400, $2, $3, 1, 'external', t, t
         from generate_series(1, 20000) n, lateral (select now() - n * interval '2 minutes' as t) x`,
        [bench.vault.id, bench.vault.networks.ethereum.id, bench.vault.tokens.usdt.id],
      )
      await client.query(
        `insert into transfers (vault_id, id, to_address, to_address_key, payload, payload_hash, decision, created_at)
         select vault_id, id, '', 'd' || right(id, 2), '{}', '', '{}', created_at from operations where id like 'bulk%'`,
      )
      await client.query('analyze operations, transfers')
      const { rows } = await client.query(`explain ${sums[0]!.text}`, sums[0]!.values)
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      for (const index of [
        'operations_ordered_feed',
        'operations_velocity_source',
        'operations_transfer_feed',
        'transfers_velocity_destination',
      ]) {
        expect(plan).toContain(`using ${index}`)
      }
      expect(plan).not.toContain('Seq Scan on operations')
      expect(plan).not.toContain('Seq Scan on transfers')
    } finally {
      await client.query('rollback')
      await client.end()
    }
  })
})

describe('the other facts of a transfer', () => {
  it('routeVariant, amountUsd and percentOfBalance see the address, its rate and its balance', async () => {
    await setRate('0.25')
    const payroll = await createAddress(bench.owner, { segments: { purpose: 'payroll' }, token: 'USDT' })
    await deposit(bench.test, {
      address: payroll.address,
      asset: bench.vault.tokens.usdt.contractAddress,
      amount: '40',
    })
    await policy({
      effect: 'block',
      blockReason: 'Seen',
      rules: [
        rule('routeVariant', { route: 'purpose', variant: 'payroll' }),
        rule('amountUsd', { op: 'between', min: '5', max: '5' }),
        rule('percentOfBalance', { op: 'between', min: '50', max: '50' }),
      ],
    })
    expect((await bench.order(payroll.id, '20')).body.message).toBe('Seen')
    expect((await bench.order(payroll.id, '20.000001')).status).toBe(201)
    const ops = await bench.fundedAddress({ usdt: '40' })
    expect((await bench.order(ops.id, '20')).status).toBe(201)
  })
})

describe('the trace', () => {
  it('is shown with one transfer to its viewers, without figures that they may not see', async () => {
    const address = await bench.fundedAddress()
    await blockAbove('velocityAmount', '5000', 'vault')
    await blockAbove('velocityAmount', '5000', 'initiator')
    await policy({ effect: 'block', rules: [rule('percentOfBalance', { op: 'gt', value: '99' })] })
    const { id } = (await bench.order(address.id, '200')).body
    const observedBy = async (person: Person) => {
      const { decision } = await bench.read(id, person)
      expect(decision).toMatchObject({ effect: 'approval', decisionPolicy: { code: 'large' } })
      return Object.fromEntries(
        decision!.trace.flatMap(({ rules }) =>
          rules.flatMap(({ selectors }) =>
            selectors.map(({ selectorType, expected, observed }) => [
              `${selectorType} ${(expected as { per?: string }).per ?? ''}`.trim(),
              observed,
            ]),
          ),
        ),
      )
    }
    const all = {
      amount: '200',
      'velocityAmount vault': '200',
      'velocityAmount initiator': '200',
      percentOfBalance: '20',
    }
    expect(await observedBy(bench.vault.admin)).toEqual(all)
    expect(await observedBy(bench.owner)).toEqual({ ...all, 'velocityAmount vault': null })
    expect(await observedBy(bench.firstApprover)).toEqual({
      amount: '200',
      'velocityAmount vault': null,
      'velocityAmount initiator': null,
      percentOfBalance: null,
    })
    const { items } = (await bench.owner.get('/vaults/main-vault/transfers')).body
    expect(items.map((item: object) => 'decision' in item)).not.toContain(true)
    const preview = await bench.owner.post('/vaults/main-vault/transfers/preview', {
      fromAddressId: address.id,
      toAddress: bench.recipient,
      amount: '1',
    })
    const velocities = preview.body.trace.flatMap(({ rules }) => rules[0]!.selectors)
    expect(
      velocities
        .filter(({ selectorType }) => selectorType === 'velocityAmount')
        .map(({ expected, observed }) => [(expected as { per?: string }).per, observed]),
    ).toEqual([
      ['vault', null],
      ['initiator', '201'],
    ])
  })
})
