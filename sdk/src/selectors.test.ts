import { expectTypeOf, it } from 'vitest'
import type { SelectorType as KnownToService } from '../../server/src/modules/rules/selectors/selectors.ts'
import type { CreateAddressSelector, PolicySelector, TransferSelector } from './generated/api.ts'
import type { AnyOf, Comparison, SelectorType, TimeWindow, VelocityLimit } from './selectors.ts'

it('the selectors of the SDK are those of the service', () => {
  expectTypeOf<SelectorType>().toEqualTypeOf<KnownToService>()
  expectTypeOf<TransferSelector['selectorType']>().toEqualTypeOf<KnownToService>()
})

it('each selector takes the values of its form, and each action its selectors', () => {
  expectTypeOf<{ selectorType: 'amount'; value: Comparison }>().toExtend<PolicySelector>()
  expectTypeOf<{ selectorType: 'velocityUsd'; value: VelocityLimit }>().toExtend<PolicySelector>()
  expectTypeOf<{ selectorType: 'counterparty'; value: AnyOf<string> }>().toExtend<PolicySelector>()
  expectTypeOf<{ selectorType: 'initiatorKind'; value: 'service' }>().toExtend<PolicySelector>()
  expectTypeOf<{ selectorType: 'addressLookAlike'; value: boolean }>().toExtend<PolicySelector>()
  expectTypeOf<{ selectorType: 'time'; value: TimeWindow }>().toExtend<CreateAddressSelector>()
  expectTypeOf<{ selectorType: 'amount'; value: string }>().not.toExtend<PolicySelector>()
  expectTypeOf<{ selectorType: 'amount'; value: Comparison }>().not.toExtend<CreateAddressSelector>()
})
