import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Address, BalanceTimeline } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, deposit } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { pointsOf } from './points.ts'

let bench: TransferBench
let ownAddress: Address
let foreign: Address
let other: Person
let start: Date
const hour = 3_600_000

/** Creates funds, a waiting order and a paid one, with an hour or more between them. */
beforeAll(async () => {
  bench = await createTransferBench()
  other = await addMember(bench.test, bench.vault, 'other.owner@example.org', ['treasury'])
  bench.test.clock.advance(hour - (bench.test.clock.now().getTime() % hour))
  start = bench.test.clock.now()
  ownAddress = await bench.fundedAddress({ usdt: '1000' })
  bench.test.clock.advance(2 * hour)
  foreign = await bench.fundedAddress({ usdt: '70' }, other)
  const paid = await bench.order(ownAddress.id, '40')
  expect(paid.status).toBe(201)
  expect((await bench.order(ownAddress.id, '200')).status).toBe(201)
  await bench.deliver()
  bench.vault.wallet.confirm(paid.body.id)
  await bench.deliver()
  bench.test.clock.advance(3 * hour)
  await deposit(bench.test, { address: ownAddress.address, amount: '2' })
  bench.test.clock.advance(hour)
})
afterAll(() => bench.close())

const read = async (by: Person, query = '') => {
  const from = start.toISOString()
  const { status, body } = await by.get(`/vaults/main-vault/balances/timeline?groupBy=hour&from=${from}${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const seriesOf = ({ tokens }: BalanceTimeline, code: string) => tokens.find(({ token }) => token.code === code)!.points

describe('the timeline of balances', () => {
  it('agrees at every point with the balance of each account at that time', async () => {
    const body = await read(bench.owner)
    let compared = 0
    for (const { token, points } of body.tokens) {
      for (const { at, total } of points) {
        const before = new Date(Date.parse(at) - 1).toISOString()
        const held = async (purpose: string) => {
          const query = `addressId=${ownAddress.id}&tokenId=${token.id}&purpose=${purpose}&at=${before}`
          const { status, body } = await bench.owner.get(`/vaults/main-vault/ledger/balance?${query}`)
          return status === 404 ? 0n : BigInt(body.balance)
        }
        expect([at, BigInt(total)]).toEqual([at, (await held('available')) + (await held('reserved'))])
        compared += 1
      }
    }
    expect(compared).toBeGreaterThan(10)
    const usdt = seriesOf(body, 'USDT').map(({ totalDecimal }) => totalDecimal)
    expect([usdt[0], usdt.at(-1)]).toEqual(['1000', '960'])
  })

  it('ends with the present balances, for the member, for the administrator, and for one address', async () => {
    const lastOf = async (by: Person, query = '') => seriesOf(await read(by, query), 'USDT').at(-1)!.totalDecimal
    expect(await lastOf(bench.owner)).toBe('960')
    expect(await lastOf(other)).toBe('70')
    expect(await lastOf(bench.vault.admin)).toBe('1030')
    expect(await lastOf(bench.vault.admin, `&addressId=${foreign.id}`)).toBe('70')
    expect((await read(bench.owner, `&addressId=${foreign.id}`)).tokens).toEqual([])
  })

  it('has the values by the rates of the time, and unknown values where a rate is missing', async () => {
    const { usd } = await read(bench.owner, `&tokenId=${bench.vault.tokens.usdt.id}`)
    expect(usd.map(({ usdValue }) => usdValue)).toEqual(usd.map(() => null))
    const now = bench.test.clock.now()
    await bench.sql(
      `insert into token_rates (token_id, as_of, source, usd_rate, created_at) values ($1, $2, 'test', 0.5, $2)`,
      [bench.vault.tokens.usdt.id, new Date(now.getTime() - 60_000)],
    )
    const rated = await read(bench.owner, `&tokenId=${bench.vault.tokens.usdt.id}`)
    expect(rated.usd.at(-1)!.usdValue).toBe('480.00')
    expect(rated.usd.at(-2)!.usdValue).toBeNull()
    expect((await read(bench.owner)).usd.at(-1)!.usdValue).toBeNull()
    const { body } = await bench.owner.get('/vaults/main-vault/balances?summary=true')
    const byCode = Object.fromEntries(body.totals.map((total) => [total.token.code, total.usdValue]))
    expect([byCode.USDT, byCode.ETH, body.usdValue, body.usdComplete]).toEqual(['480.00', null, '480.00', false])
    const alone = (await bench.owner.get('/vaults/main-vault/balances?summary=true&token=USDT')).body
    expect([alone.usdValue, alone.usdComplete]).toEqual(['480.00', true])
  })

  it('refuses too many points, a bad zone, and an invalid interval', async () => {
    const faultOf = async (query: string) => {
      const { status, body } = await bench.owner.get(`/vaults/main-vault/balances/timeline?${query}`)
      return [status, body.details?.[0]?.field]
    }
    expect(await faultOf('from=2020-01-01')).toEqual([400, 'groupBy'])
    expect(await faultOf('from=0001-01-01&groupBy=hour')).toEqual([400, 'groupBy'])
    expect(await faultOf('timezone=%2B02:00')).toEqual([400, 'timezone'])
    expect(await faultOf('from=2999-01-01')).toEqual([400, 'from'])
  })
})

describe('the points of an interval', () => {
  it('are the ends of its buckets and its own end', () => {
    const interval = { from: new Date('2026-03-28T12:30:00Z'), to: new Date('2026-03-30T10:00:00Z') }
    const iso = (zone: string, step: 'hour' | 'day' | 'month') =>
      pointsOf(interval, zone, step).map((at) => at.toISOString().slice(5, 16))
    expect(iso('Europe/Berlin', 'day')).toEqual(['03-28T23:00', '03-29T22:00', '03-30T10:00'])
    expect(iso('UTC', 'month')).toEqual(['03-30T10:00'])
    expect(iso('UTC', 'hour')).toHaveLength(46)
  })
})
