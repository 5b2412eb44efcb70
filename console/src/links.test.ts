import { describe, expect, it } from 'vitest'
import { isPage } from '../test/support/page-paths.ts'
import { firstRunSteps } from './features/home/first-run-steps.ts'
import { kindWords, placeOf } from './features/search/places.ts'

describe('links, whose paths no compiler checks, lead to a page', () => {
  it('in the first steps of a vault', () => {
    const counts = { administrators: 0, membersSeen: 0 }
    const none = { isLocked: false, hasToken: false, hasPolicy: false, hasAddress: false, hasDeposit: false }
    const steps = firstRunSteps({ ...counts, ...none, hasTransfer: false, hasRate: false, hasNotedHead: false })
    expect(steps.filter(({ to }) => to !== null && !isPage(`/v/treasury${to}`)).map(({ key }) => key)).toEqual([])
  })

  it('in what is found', () => {
    const kinds = Object.keys(kindWords()) as (keyof ReturnType<typeof kindWords>)[]
    expect(kinds.filter((kind) => !isPage(`/v/treasury${placeOf({ kind, id: 'c0' }).path}`))).toEqual([])
  })
})
