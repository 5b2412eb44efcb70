import { expect, it } from 'vitest'
import { consolePaths } from '../../server/src/lib/console-paths.ts'
import { isPage } from './support/page-paths.ts'

it('links in mails, whose paths no compiler checks, lead to a page', () => {
  const { sessions, change: _drawnByTheService, ...ofVault } = consolePaths
  const paths = [sessions(), ...Object.values(ofVault).map((pathOf) => pathOf('treasury', 'c0'))]
  expect(paths.filter((path) => !isPage(path))).toEqual([])
})
