import { describe, expect, it } from 'vitest'
import { bodyOfStructure, faultOfStructure, isSameOrigin, pathFormOf, type RouteDraft } from './structure.ts'

const variant = (id: string, code: string) => ({ id, code, name: code, enabled: true, token: '', description: null })
const network: RouteDraft = { code: 'network', name: 'Network', dynamic: false, variants: [variant('60', 'ethereum')] }
const desk: RouteDraft = {
  code: 'desk',
  name: 'Desk',
  dynamic: false,
  variants: [variant('1', 'a'), variant('2', 'b')],
}
const index: RouteDraft = { code: 'index', name: 'Index', dynamic: true, variants: [] }

describe('the structure of a vault', () => {
  it('is sent with the order of the list', () => {
    const { routes } = bodyOfStructure([network, desk, index])
    expect(Object.entries(routes).map(([code, { order }]) => [code, order])).toEqual([
      ['network', 0],
      ['desk', 1],
      ['index', 2],
    ])
    expect(routes.index).not.toHaveProperty('variants')
    expect(routes.desk!.variants![1]).toMatchObject({ id: 2, code: 'b', token: null })
    expect(pathFormOf([network, desk, index])).toBe('m/44/<network>/<desk>/<index>')
  })

  it.each<[string, RouteDraft[], string | null]>([
    ['is right', [network, desk, index], null],
    ['has no network', [{ ...network, variants: [] }, index], 'needs_network'],
    ['has two indexes', [network, index, { ...index, code: 'other' }], 'two_dynamic'],
    ['names a segment twice', [network, desk, desk], 'same_code'],
    ['has a value twice', [network, { ...desk, variants: [variant('1', 'a'), variant('01', 'b')] }], 'same_value'],
    ['has a code twice', [network, { ...desk, variants: [variant('1', 'a'), variant('2', 'a')] }], 'same_value'],
    ['lacks a name', [network, { ...desk, name: ' ' }], 'incomplete'],
    ['has a value that is no number', [network, { ...desk, variants: [variant('x', 'a')] }], 'incomplete'],
  ])('%s', (_title, routes, fault) => {
    expect(faultOfStructure(routes)).toBe(fault)
  })
})

describe('the secret of the wallet service', () => {
  it.each([
    ['https://wallet.example/a', 'https://wallet.example/b', true],
    ['https://wallet.example', 'https://wallet.example:8443', false],
    ['https://wallet.example', 'http://wallet.example', false],
    ['https://wallet.example', 'not a url', false],
  ])('from %s to %s stays: %s', (before, after, stays) => {
    expect(isSameOrigin(before, after)).toBe(stays)
  })
})
