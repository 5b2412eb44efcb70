import { describe, expect, it } from 'vitest'
import type { RouteInput } from './schema.ts'
import { planStructure } from './structure.ts'

const network = { order: 5, name: 'Network', variants: [{ id: 60, code: 'ETH', name: 'Ethereum' }] }
const purpose = { order: 9, name: 'Purpose', variants: [{ id: 1, code: 'ops', name: 'Operations' }] }
const index = { order: 7, name: 'Index', dynamic: true }
const variant = (id: number, code: string) => ({ id, code, name: code })

describe('planStructure', () => {
  it('sets networks apart and numbers the other routes from 0 by their order', () => {
    const outcome = planStructure({ purpose, network, index })
    expect(outcome).toMatchObject({
      plan: {
        networks: [{ coinType: 60, code: 'ETH', slug: 'eth', name: 'Ethereum' }],
        routes: [
          { position: 0, code: 'index', dynamic: true, variants: [] },
          {
            position: 1,
            code: 'purpose',
            dynamic: false,
            variants: [{ pathId: 1, code: 'ops', enabled: true, token: null }],
          },
        ],
      },
    })
  })

  it('accepts a structure of the network alone, and a route with the order of the network', () => {
    expect(planStructure({ network })).toMatchObject({ plan: { routes: [] } })
    expect(planStructure({ network, index: { ...index, order: network.order } })).toHaveProperty('plan')
  })

  const cases: [string, Record<string, RouteInput>, string[]][] = [
    ['no network', { purpose }, ['routes.network']],
    ['a dynamic network', { network: { ...network, dynamic: true } }, ['routes.network.dynamic']],
    ['a network without variants', { network: { order: 0, name: 'Network' } }, ['routes.network.variants']],
    [
      'a static route without variants',
      { network, purpose: { ...purpose, variants: [] } },
      ['routes.purpose.variants'],
    ],
    [
      'a dynamic route with variants',
      { network, index: { ...index, variants: [variant(1, 'a')] } },
      ['routes.index.variants'],
    ],
    ['two dynamic routes', { network, index, other: { ...index, order: 8 } }, ['routes.other.dynamic']],
    ['the same order twice', { network, purpose, index: { ...index, order: 9 } }, ['routes.index.order']],
    [
      'the same variant id twice',
      { network, purpose: { ...purpose, variants: [variant(1, 'a'), variant(1, 'b')] } },
      ['routes.purpose.variants.1.id'],
    ],
    [
      'the same variant code twice',
      { network, purpose: { ...purpose, variants: [variant(1, 'a'), variant(2, 'a')] } },
      ['routes.purpose.variants.1.code'],
    ],
    [
      'two networks with one slug',
      { network: { ...network, variants: [variant(60, 'eth'), variant(61, 'ETH')] } },
      ['routes.network.variants.1.code'],
    ],
    [
      'a network without a slug',
      { network: { ...network, variants: [variant(60, '---')] } },
      ['routes.network.variants.0.code'],
    ],
    [
      'a disabled network',
      { network: { ...network, variants: [{ ...variant(60, 'eth'), enabled: false }] } },
      ['routes.network.variants.0.enabled'],
    ],
    [
      'a network with a token',
      { network: { ...network, variants: [{ ...variant(60, 'eth'), token: 'USDT' }] } },
      ['routes.network.variants.0.token'],
    ],
    ['a code that is a word of JavaScript', { network, constructor: purpose }, ['routes.constructor']],
    ['a code in upper case', { network, Purpose: purpose }, ['routes.Purpose']],
    ['an empty code', { network, '': purpose }, ['routes.']],
    ['several faults', { purpose: { ...purpose, variants: [] } }, ['routes.network', 'routes.purpose.variants']],
    [
      'too many routes',
      { network, ...Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`r${i}`, { ...purpose, order: i }])) },
      ['routes'],
    ],
  ]
  it.each(cases)('names the fault of %s', (_, input, fields) => {
    const outcome = planStructure(input)
    expect(outcome).toHaveProperty('faults')
    expect((outcome as { faults: { field: string }[] }).faults.map(({ field }) => field)).toEqual(fields)
  })

  it('refuses __proto__ as a code', () => {
    const input = JSON.parse('{"__proto__":{"order":1,"name":"x","dynamic":true}}') as Record<string, RouteInput>
    expect(planStructure(input)).toMatchObject({ faults: [{ field: 'routes.network' }, { field: 'routes.__proto__' }] })
  })
})
