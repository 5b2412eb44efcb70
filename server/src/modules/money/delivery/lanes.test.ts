import { describe, expect, it } from 'vitest'
import { createLanes } from './lanes.ts'

const now = new Date(0)
const a = { vaultId: 'a', perSecond: 10 }
const b = { vaultId: 'b', perSecond: 10 }

describe('a piece of work that leaves a lane reports that there may be more work', () => {
  it('when all of its places were taken', () => {
    const lanes = createLanes(2)
    const [leaveHalf] = lanes.enter([a], lanes.places(now), false)
    expect(leaveHalf!()).toBe(false)
    const [leaveFull] = lanes.enter([a, a], lanes.places(now), false)
    expect(leaveFull!()).toBe(true)
  })

  it('when the claim was limited, also in a lane without new work', () => {
    const lanes = createLanes(2)
    const [leaveA, leaveB] = lanes.enter([a, b], lanes.places(now), true)
    expect([leaveA!(), leaveB!()]).toEqual([true, true])
    const [leaveWaiting] = lanes.enter([a], lanes.places(now), false)
    lanes.enter([b], lanes.places(now), true)
    expect(leaveWaiting!()).toBe(true)
  })

  it('but not when it was full before and no further work was known to be due', () => {
    const lanes = createLanes(1)
    const [leave] = lanes.enter([a], { a: 2 }, false)
    lanes.enter([b], lanes.places(now), true)
    expect(leave!()).toBe(false)
  })
})
