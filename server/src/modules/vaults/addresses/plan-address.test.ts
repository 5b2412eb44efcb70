import { describe, expect, it } from 'vitest'
import { planAddress } from './plan-address.ts'

const variant = (pathId: number, code: string, tokenId: string | null = null, enabled = true) => ({
  pathId,
  code,
  tokenId,
  enabled,
})
const routes = [
  { code: 'region', dynamic: false, variants: [variant(5, 'eu', 'usdt'), variant(6, 'us')] },
  { code: 'index', dynamic: true, variants: [] },
  {
    code: 'purpose',
    dynamic: false,
    variants: [variant(1, 'ops'), variant(2, 'pay', 'usdc'), variant(3, 'old', null, false)],
  },
]
const eth = { id: 'eth', code: 'ETH', enabled: true, isNative: true }
const usdt = { id: 'usdt', code: 'USDT', enabled: true, isNative: false }
const usdc = { id: 'usdc', code: 'USDC', enabled: true, isNative: false }
const tokens = [eth, usdt, usdc]

function plan(segments: Record<string, string>, known = tokens, token?: string) {
  const outcome = planAddress(60, routes, known, { segments, ...(token === undefined ? {} : { token }) })
  if (!('plan' in outcome)) throw new Error(JSON.stringify(outcome))
  return outcome.plan
}

describe('planAddress', () => {
  it('puts the index where the dynamic route stands and leaves it out of the prefix', () => {
    const { segments, staticPrefix, hasIndex, pathAt } = plan({ purpose: 'ops', region: 'us' })
    expect(segments).toEqual({ region: 6, purpose: 1 })
    expect(staticPrefix).toBe('m/44/60/6/1')
    expect(hasIndex).toBe(true)
    expect(pathAt(41)).toBe('m/44/60/6/41/1')
  })

  it.each([
    ['the token that is named', { region: 'eu', purpose: 'ops' }, tokens, 'USDC', usdc],
    ['the one token of the variants', { region: 'eu', purpose: 'ops' }, tokens, undefined, usdt],
    ['the coin when variants name none', { region: 'us', purpose: 'ops' }, tokens, undefined, eth],
    ['the coin when variants name two', { region: 'eu', purpose: 'pay' }, tokens, undefined, eth],
    ['the one of this network', { region: 'eu', purpose: 'pay' }, [eth, usdc], undefined, usdc],
    [
      'the coin instead of a disabled token',
      { region: 'eu', purpose: 'ops' },
      [eth, { ...usdt, enabled: false }],
      undefined,
      eth,
    ],
    ['none when there is no coin', { region: 'us', purpose: 'ops' }, [usdt], undefined, null],
    ['none when the coin is disabled', { region: 'us', purpose: 'ops' }, [{ ...eth, enabled: false }], undefined, null],
  ])('takes %s', (_, segments, known, token, expected) => {
    expect(plan(segments, known, token).token).toEqual(expected)
  })

  it('refuses disabled networks and tokens as a conflict', () => {
    expect(planAddress(60, routes, tokens, { segments: { region: 'eu', purpose: 'old' } })).toHaveProperty('conflict')
    const disabled = [{ ...eth, enabled: false }]
    const wanted = { segments: { region: 'eu', purpose: 'ops' }, token: 'ETH' }
    expect(planAddress(60, routes, disabled, wanted)).toHaveProperty('conflict')
  })

  it('names every fault', () => {
    expect(planAddress(60, routes, tokens, { segments: { purpose: 'x', index: '1', foo: 'y' }, token: 'Z' })).toEqual({
      faults: [
        { field: 'segments.region', message: 'is required' },
        { field: 'segments.purpose', message: 'is not a variant of this route' },
        { field: 'segments.index', message: 'is numbered by the service' },
        { field: 'segments.foo', message: 'is not a route of this vault' },
        { field: 'token', message: 'is not a token of this network' },
      ],
    })
  })
})
