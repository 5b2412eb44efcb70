import { describe, expect, it } from 'vitest'
import { type AddressScope, addressScopeOf } from '../../../access/address-scope.ts'
import { chooseFeedPath, type ResolvedFilters } from './feed-path.ts'

const unfiltered: ResolvedFilters = {
  awaitsVote: false,
  type: null,
  statuses: null,
  hasDepositsOfStatus: null,
  initiatorId: null,
  minimumAmount: null,
  maximumAmount: null,
  search: null,
  flowType: null,
  tokenIds: null,
  addressIds: null,
  visibleAddressIds: [],
  counterpartyIds: null,
  counterpartyAddressId: null,
  categoryIds: null,
  paymentPurpose: null,
  decisionPolicyId: null,
  txHash: null,
  from: null,
  to: null,
}
const viewer = (readsAll: boolean) => ({ userId: 'me', readsAll, groupIds: [], vault: { id: 'v' } })
const vault = addressScopeOf(viewer(true))
const person = addressScopeOf(viewer(true), { userId: 'owner' })
const ownedOnly = addressScopeOf(viewer(false))
const withShared = addressScopeOf(viewer(false), { includeShared: true })
const sharedOnly = addressScopeOf(viewer(false), { access: 'shared' })
const many = Array.from({ length: 1_001 }, (_, i) => `k${i}`)

/** The path in one line: its ranges with their keys, then the checks of each row. */
function pathOf(scope: AddressScope, resolved: Partial<ResolvedFilters>): string {
  const path = chooseFeedPath(scope, { ...unfiltered, ...resolved })
  if (path === null) return 'nothing'
  const ranges = path.ranges.map(({ feed, keys }) =>
    keys.length > 5 ? `${feed} ${keys.length}` : `${feed} ${keys}`.trim(),
  )
  return [ranges.join(' + '), ...path.conditions].join(' | ')
}

describe('the path through the whole vault', () => {
  it.each<[string, Partial<ResolvedFilters>]>([
    ['vault', {}],
    ['vault | type', { type: 'deposit' }],
    ['transfers', { type: 'transfer' }],
    ['transfers | status', { statuses: ['confirmed'] }],
    ['status failed', { statuses: ['failed'] }],
    ['status failed', { statuses: ['failed'], type: 'transfer' }],
    ['status failed + orphaned', { statuses: ['failed'], hasDepositsOfStatus: true }],
    ['status failed,pending + orphaned', { statuses: ['failed', 'pending'], hasDepositsOfStatus: true }],
    ['orphaned', { statuses: ['failed', 'pending'], hasDepositsOfStatus: true, type: 'deposit' }],
    ['status failed', { statuses: ['failed'], hasDepositsOfStatus: true, type: 'transfer' }],
    ['status pending', { statuses: ['pending'], hasDepositsOfStatus: true }],
    ['vault | status', { statuses: ['confirmed', 'failed'], hasDepositsOfStatus: true }],
    [
      'token t | type | status',
      { statuses: ['confirmed'], hasDepositsOfStatus: true, tokenIds: ['t'], type: 'deposit' },
    ],
    ['policy y | status', { statuses: ['failed'], hasDepositsOfStatus: true, decisionPolicyId: 'y' }],
    ['vault | flowType', { flowType: 'external' }],
    ['internal', { flowType: 'internal' }],
    ['token t1,t2', { tokenIds: ['t1', 't2'] }],
    ['token t1 | type', { tokenIds: ['t1'], type: 'transfer' }],
    ['vault | token', { tokenIds: many.slice(0, 33) }],
    ['internal | token', { tokenIds: ['t1'], flowType: 'internal' }],
    ['address a', { addressIds: ['a'] }],
    ['address a,b', { addressIds: ['a', 'b'] }],
    ['address 1000', { addressIds: many.slice(1) }],
    ['vault | address', { addressIds: many }],
    ['counterparty c', { counterpartyIds: ['c'] }],
    ['counterparty 1000', { counterpartyIds: many.slice(1) }],
    ['transfers | counterparty', { counterpartyIds: many, type: 'transfer' }],
    ['address a | counterparty', { addressIds: ['a'], counterpartyIds: ['c'] }],
    ['counterparty c | address', { addressIds: ['a', 'b'], counterpartyIds: ['c'] }],
    ['address a,b | counterparty', { addressIds: ['a', 'b'], counterpartyIds: ['c', 'd'] }],
    ['counterpartyAddress ca | address', { addressIds: ['a'], counterpartyAddressId: 'ca' }],
    ['token t | address', { addressIds: many.slice(1), tokenIds: ['t'] }],
    ['counterparty c,d | address', { addressIds: many.slice(1), counterpartyIds: ['c', 'd'] }],
    ['address 1000 | type', { addressIds: many.slice(1), type: 'transfer' }],
    ['purpose p | purpose', { paymentPurpose: 'p' }],
    ['category k', { categoryIds: ['k'] }],
    ['purpose p | category | purpose', { categoryIds: ['k'], paymentPurpose: 'p' }],
    ['policy y', { decisionPolicyId: 'y' }],
    ['policy y | status', { decisionPolicyId: 'y', statuses: ['pending'] }],
    ['hash h', { txHash: 'h' }],
    ['hash h | type | address', { txHash: 'h', addressIds: ['a'], type: 'deposit' }],
    ['waiting | awaiting', { awaitsVote: true }],
    ['waiting | awaiting', { awaitsVote: true, statuses: ['awaiting_approval'], type: 'transfer' }],
    ['waiting | awaiting | hash', { awaitsVote: true, txHash: 'h' }],
    ['waiting | awaiting | period', { awaitsVote: true, to: new Date(0) }],
    ['token t | type', { tokenIds: ['t'], type: 'deposit', from: new Date(0) }],
  ])('is %s', (path, resolved) => {
    expect(pathOf(vault, resolved)).toBe(path)
  })
})

describe('the path of a person', () => {
  it.each<[string, AddressScope, Partial<ResolvedFilters>]>([
    ['owner me + initiator me', ownedOnly, {}],
    ['owner owner + initiator owner', person, {}],
    ['owner me + initiator me + address s', withShared, { visibleAddressIds: ['s'] }],
    ['owner me + initiator me', withShared, { visibleAddressIds: [] }],
    ['address s', sharedOnly, { visibleAddressIds: ['s'] }],
    ['nothing', sharedOnly, { visibleAddressIds: [] }],
    ['initiator me + address a | address', ownedOnly, { addressIds: ['a', 'foreign'], visibleAddressIds: ['a'] }],
    ['initiator me | address', ownedOnly, { addressIds: ['foreign'], visibleAddressIds: [] }],
    ['address a', sharedOnly, { addressIds: ['a', 'foreign'], visibleAddressIds: ['a'] }],
  ])('is %s', (path, scope, resolved) => {
    expect(pathOf(scope, resolved)).toBe(path)
  })

  it.each<[string, Partial<ResolvedFilters>]>([
    ['type | status', { statuses: ['pending'] }],
    ['token', { tokenIds: ['t'] }],
    ['counterparty', { counterpartyIds: ['c'] }],
    ['counterpartyAddress', { counterpartyAddressId: 'c' }],
    ['category', { categoryIds: ['k'] }],
    ['purpose', { paymentPurpose: 'p' }],
    ['type | policy', { decisionPolicyId: 'y' }],
    ['flowType', { flowType: 'internal' }],
    ['type', { type: 'transfer' }],
  ])('T40 never leads through the rows of others: %s is checked row by row', (checked, resolved) => {
    expect(pathOf(ownedOnly, resolved)).toBe(`owner me + initiator me | ${checked}`)
  })

  it('leads to a hash, whose range is cut to the scope', () => {
    expect(pathOf(ownedOnly, { txHash: 'h', type: 'deposit' })).toBe('hash h | type')
  })

  it('awaits the vote of the caller on transfers of the person that an administrator names', () => {
    expect(pathOf(person, { awaitsVote: true })).toBe('waiting | person | awaiting')
    expect(pathOf(ownedOnly, { awaitsVote: true })).toBe('waiting | awaiting')
  })
})

describe('filters that no operation can match', () => {
  it.each<[string, Partial<ResolvedFilters>]>([
    ['deposits with a status', { type: 'deposit', statuses: ['confirmed'] }],
    ['deposits with a status of transfers', { type: 'deposit', statuses: ['pending'], hasDepositsOfStatus: true }],
    ['deposits decided by a policy', { type: 'deposit', decisionPolicyId: 'y' }],
    ['deposits that await a vote', { type: 'deposit', awaitsVote: true }],
    ['a vote on confirmed transfers', { awaitsVote: true, statuses: ['confirmed'] }],
    ['no such token', { tokenIds: [] }],
    ['no such address', { addressIds: [] }],
    ['an empty group', { counterpartyIds: [] }],
    ['no such category', { categoryIds: [] }],
  ])('have no path: %s', (_, resolved) => {
    for (const scope of [vault, person, ownedOnly, withShared]) expect(pathOf(scope, resolved)).toBe('nothing')
  })
})

describe('every combination of filters', () => {
  const some = (count: number) => many.slice(0, count)
  const choices: { [Name in keyof ResolvedFilters]?: ResolvedFilters[Name][] } = {
    awaitsVote: [false, true],
    type: [null, 'deposit', 'transfer'],
    statuses: [null, ['failed'], ['confirmed']],
    flowType: [null, 'internal', 'external'],
    tokenIds: [null, some(2), some(33)],
    addressIds: [null, some(1), some(10), some(1_000), many],
    counterpartyIds: [null, some(1), some(10), some(1_000), many],
    counterpartyAddressId: [null, 'ca'],
    categoryIds: [null, some(1)],
    paymentPurpose: [null, 'p'],
    decisionPolicyId: [null, 'y'],
    txHash: [null, 'h'],
  }
  const combinations = Object.entries(choices).reduce<ResolvedFilters[]>(
    (all, [name, values]) => all.flatMap((resolved) => values.map((value) => ({ ...resolved, [name]: value }))),
    [unfiltered],
  )

  it('is read along few enough ranges of the vault', () => {
    expect(combinations).toHaveLength(2 * 27 * 3 * 25 * 32)
    const long = combinations.filter((resolved) =>
      chooseFeedPath(vault, resolved)?.ranges.some(({ keys }) => keys.length > 1_000),
    )
    expect(long).toEqual([])
  })

  it('T40 leads a member through ranges of their own only', () => {
    const feeds = new Set<string>()
    for (const resolved of combinations) {
      for (const scope of [ownedOnly, withShared]) {
        const path = chooseFeedPath(scope, { ...resolved, visibleAddressIds: resolved.addressIds ?? ['s'] })
        for (const { feed } of path?.ranges ?? []) feeds.add(feed)
      }
    }
    expect([...feeds].sort()).toEqual(['address', 'hash', 'initiator', 'owner', 'waiting'])
  })
})
