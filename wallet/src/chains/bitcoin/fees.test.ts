import { describe, expect, it } from 'vitest'
import { readFeeRate } from './fees.ts'
import { bitcoin } from './parameters.ts'
import { NodeOutage } from './rpc.ts'

const settings = { feeRates: { low: 2_000n, medium: 5_000n, high: 9_000n }, feeRateMax: 100_000n }
const pool = { mempoolminfee: '0.00001000', minrelaytxfee: '0.00001000' }

function nodeWith(estimate: unknown, poolInfo: unknown = pool) {
  const calls: unknown[] = []
  const call = async (method: string, parameters: unknown[] = []) => {
    calls.push([method, ...parameters])
    return method === 'estimatesmartfee' ? estimate : poolInfo
  }
  return { calls, call }
}

describe('the rate of a payment', () => {
  it('is the estimate of the node, for more blocks at a lower level', async () => {
    const node = nodeWith({ feerate: '0.00012345', blocks: 6 })
    for (const level of ['low', 'medium', 'high'] as const) {
      expect(await readFeeRate(node, level, settings, bitcoin)).toEqual({ rate: 12_345n, least: 1_000n })
    }
    expect(node.calls.filter((call) => (call as string[])[0] === 'estimatesmartfee')).toEqual([
      ['estimatesmartfee', 72, 'ECONOMICAL'],
      ['estimatesmartfee', 6, 'ECONOMICAL'],
      ['estimatesmartfee', 2, 'CONSERVATIVE'],
    ])
  })

  it.each([
    ['has no estimate', { errors: ['Insufficient data or no feerate found'], blocks: 2 }],
    ['says a negative rate', { feerate: -1 }],
    ['says no rate', { feerate: 0 }],
    ['says a text', { feerate: 'much' }],
    ['says an amount of no whole units', { feerate: '0.000000001' }],
  ])('is that of the settings when the node %s', async (_reason, estimate) => {
    expect(await readFeeRate(nodeWith(estimate), 'high', settings, bitcoin)).toEqual({ rate: 9_000n, least: 1_000n })
  })

  it('is never above feeRateMax, and never below what the node takes', async () => {
    expect(await readFeeRate(nodeWith({ feerate: 21 }), 'high', settings, bitcoin)).toMatchObject({ rate: 100_000n })
    const busy = { mempoolminfee: '0.00030000', minrelaytxfee: '0.00001000' }
    const low = await readFeeRate(nodeWith({ feerate: '0.00001' }, busy), 'low', settings, bitcoin)
    expect(low).toEqual({ rate: 30_000n, least: 30_000n })
    const dear = { mempoolminfee: 1, minrelaytxfee: '0.00001000' }
    expect(await readFeeRate(nodeWith({}, dear), 'low', settings, bitcoin)).toEqual({
      refusal: 'FEE_RATE_MAX',
      least: 100_000_000n,
    })
  })

  it.each([
    [null, pool],
    [[], pool],
    [{}, null],
    [{}, { mempoolminfee: '0.00001' }],
    [{}, { mempoolminfee: -1, minrelaytxfee: 0 }],
  ])('is not known from an answer of another form: %j %j', async (estimate, poolInfo) => {
    await expect(readFeeRate(nodeWith(estimate, poolInfo), 'low', settings, bitcoin)).rejects.toBeInstanceOf(NodeOutage)
  })
})
