import { expectTypeOf, it } from 'vitest'
import type { SelectorType as KnownToService } from '../../server/src/modules/rules/policies/selectors.ts'
import type { PolicySelector, SelectorType } from './selectors.ts'

it('the selectors of the SDK are those of the service', () => {
  expectTypeOf<SelectorType>().toEqualTypeOf<KnownToService>()
  expectTypeOf<PolicySelector['selectorType']>().toEqualTypeOf<KnownToService>()
})
