import { describe, expect, it } from 'vitest'
import { consolePaths } from '../../server/src/lib/console-paths.ts'
import { firstRunSteps } from '../src/features/home/first-run-steps.ts'
import { kindWords, placeOf } from '../src/features/search/places.ts'
import { routeNames } from './support/routes.ts'

/** The path of each page, as an expression. */
const pages = routeNames().map((name) => {
  const path = name.replaceAll(/_?\./g, '/').replace(/(^|\/)index$/, '')
  return new RegExp(`^/${path.replaceAll(/\$\w*/g, '[^/]+')}$`)
})
const isPage = (path: string) => pages.some((page) => page.test(path))

describe('links, whose paths no compiler checks, lead to a page', () => {
  it('in mails', () => {
    const { sessions, change: _drawnByTheService, ...ofVault } = consolePaths
    const paths = [sessions(), ...Object.values(ofVault).map((pathOf) => pathOf('treasury', 'c0'))]
    expect(paths.filter((path) => !isPage(path))).toEqual([])
  })

  it('in the first steps of a vault', () => {
    const counts = { administrators: 0, membersSeen: 0 }
    const none = { isLocked: false, hasToken: false, hasPolicy: false, hasAddress: false, hasDeposit: false }
    const steps = firstRunSteps({ ...counts, ...none, hasTransfer: false, hasRate: false })
    expect(steps.filter(({ to }) => to !== null && !isPage(`/v/treasury${to}`)).map(({ key }) => key)).toEqual([])
  })

  it('in what is found', () => {
    const kinds = Object.keys(kindWords()) as (keyof ReturnType<typeof kindWords>)[]
    expect(kinds.filter((kind) => !isPage(`/v/treasury${placeOf({ kind, id: 'c0' }).path}`))).toEqual([])
  })
})
