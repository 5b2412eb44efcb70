import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decisionEffects } from '../../rules/decisions/decision.ts'
import { holdSubjectTypes } from '../../rules/holds/active.ts'
import { type Gathered, objectionsTo, objectionsToAll, objectionToOrder, type Stage } from './objections.ts'

const initiatorId = 'initiator'
const sometimes = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 2, nil: null })
const failures = ['wallet_service_failed', 'wallet_service_forbidden', 'wallet_service_silent'] as const

const holds = fc.record({
  id: fc.constant('hold'),
  subjectType: fc.constantFrom(...holdSubjectTypes, 'exposure' as const),
  subjectId: fc.constantFrom(initiatorId, 'other'),
})

/** The facts of a new order, with every state of the fee that the wallet service can cause. */
const newOrders: fc.Arbitrary<Gathered> = fc.record({
  noun: fc.constant('this transfer'),
  signature: fc.constant('valid' as const),
  isVaultLocked: fc.constant(true),
  lost: fc.constant(null),
  archived: sometimes(fc.constant({ name: 'Gone' })),
  token: fc.record({ code: fc.constant('USDT'), isEnabled: fc.boolean() }),
  hold: sometimes(holds),
  initiatorId: fc.constant(initiatorId),
  decision: fc.record({ effect: fc.constantFrom(...decisionEffects), blockReason: sometimes(fc.constant('Closed')) }),
  uncovered: sometimes(fc.record({ missing: fc.bigInt({ min: 1n, max: 9n }), code: fc.constant('USDT') })),
  fee: fc.record({
    lacking: sometimes(fc.record({ missing: fc.constant(1n), coin: fc.constant({ code: 'ETH', decimals: 18 }) })),
    isChecked: fc.boolean(),
    isAboveMax: fc.boolean(),
    failure: sometimes(fc.constantFrom(...failures)),
  }),
  shortages: fc.array(fc.constantFrom('a needs 2', 'b needs 3'), { maxLength: 2 }),
})

/** The facts of an accepted payment. */
const acceptedPayments: fc.Arbitrary<Gathered> = fc
  .tuple(
    newOrders,
    fc.record({
      signature: fc.constantFrom('valid' as const, 'missing' as const, 'expired' as const),
      isVaultLocked: fc.boolean(),
      lost: sometimes(fc.constant('The initiator left')),
    }),
  )
  .map(([facts, more]) => ({ ...facts, ...more }))

it('a preview names no blocking problem exactly when the order is accepted, and otherwise its reason of refusal first', () => {
  fc.assert(
    fc.property(newOrders, (facts) => {
      const refusal = objectionToOrder(facts)
      const [problem] = objectionsTo('preview', facts).filter(({ blocks }) => blocks)
      // The guard refuses the preview of a held user, so the preview has no problem for it.
      const reason = refusal?.reason === 'caller_held' ? 'held' : refusal?.reason
      expect(problem?.reason).toBe(reason)
      if (reason !== 'held') expect(problem?.message).toBe(refusal?.message)
    }),
    { numRuns: 2_000 },
  )
})

/** The precedence according to the contract and the tests of the endpoints. */
const precedence = [
  'not_in_protected_vault',
  'approval_expired',
  'vault_is_draft',
  'archived',
  'disabled',
  'caller_held',
  'held',
  'address_exposed',
  'initiator_lost_permission',
  'blocked_by_policy',
  'no_policy_allows',
  'blocked_by_policy_now',
  'insufficient_funds',
  'insufficient_gas',
  'quorum_unreachable',
  'above_max_fee',
  'wallet_service_failed',
  'wallet_service_silent',
]

it('objections have the same order at every stage', () => {
  const stages: Stage[] = ['order', 'preview', 'simulation', 'recheck']
  const met = new Set<string>()
  fc.assert(
    fc.property(fc.constantFrom(...stages), acceptedPayments, newOrders, (stage, facts, other) => {
      const reasons = objectionsTo(stage, facts).map(({ reason }) => reason)
      for (const reason of reasons) met.add(reason)
      expect(reasons).toEqual(reasons.toSorted((a, b) => precedence.indexOf(a) - precedence.indexOf(b)))
      const ofBoth = objectionsToAll(stage, [facts, other])
      expect(ofBoth.filter(({ index }) => index === 0).map(({ reason }) => reason)).toEqual(reasons)
      const places = ofBoth.map(({ reason }) => precedence.indexOf(reason))
      expect(places).toEqual(places.toSorted((a, b) => a - b))
    }),
    { numRuns: 2_000 },
  )
  expect([...met].toSorted()).toEqual(precedence.toSorted())
})

it('an accepted payment waits only for objections that pass by themselves or that people lift', () => {
  const waited = new Set<string>()
  fc.assert(
    fc.property(acceptedPayments, (facts) => {
      for (const { reason, waits } of objectionsTo('recheck', facts)) if (waits) waited.add(reason)
    }),
    { numRuns: 500 },
  )
  expect([...waited].toSorted()).toEqual(['address_exposed', 'disabled', 'held'])
})

it('every objection of a room is on the list', () => {
  const modules = path.resolve(import.meta.dirname, '../..')
  const list = readFileSync(path.join(import.meta.dirname, 'objections.ts'), 'utf8')
  const stated = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [
      ...readFileSync(path.join(modules, file), 'utf8').matchAll(/export (?:const|function) (objections?Of\w+)/g),
    ])
    .map(([, name]) => name!)
  expect(stated.length).toBeGreaterThan(4)
  expect(stated.filter((name) => !list.includes(`${name}(`))).toEqual([])
})
