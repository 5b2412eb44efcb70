import { describe, expect, it } from 'vitest'
import { type FirstRunFacts, firstRunSteps } from './first-run-steps.ts'

const nothing: FirstRunFacts = {
  isLocked: false,
  administrators: 1,
  membersSeen: 1,
  hasToken: false,
  hasPolicy: false,
  hasAddress: false,
  hasDeposit: false,
  hasTransfer: false,
  hasRate: false,
  hasNotedHead: false,
}

const doneIn = (facts: FirstRunFacts) =>
  firstRunSteps(facts)
    .filter(({ isDone }) => isDone)
    .map(({ key }) => key)

describe('the first steps of a new vault', () => {
  it('are all open at first', () => {
    expect(doneIn(nothing)).toEqual([])
  })

  it.each<[Partial<FirstRunFacts>, string]>([
    [{ membersSeen: 2 }, 'mail'],
    [{ administrators: 2 }, 'administrator'],
    [{ hasToken: true }, 'token'],
    [{ isLocked: true }, 'locked'],
    [{ hasPolicy: true }, 'policy'],
    [{ hasAddress: true }, 'address'],
    [{ hasDeposit: true }, 'deposit'],
    [{ hasTransfer: true }, 'transfer'],
    [{ hasRate: true }, 'rate'],
    [{ hasNotedHead: true }, 'head'],
  ])('%o is %s', (facts, key) => {
    expect(doneIn({ ...nothing, ...facts })).toEqual([key])
  })
})
