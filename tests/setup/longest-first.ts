import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take half a minute or more. Begun last, each would run alone while the other workers wait for it. Not the start of
 * the demo: it waits for bundles of what is compiled, and several of these compile first.
 */
const long = [
  'console/test/console.test.ts',
  'tests/access-matrix.test.ts',
  'tests/crash.test.ts',
  'tests/wallet-conformance.test.ts',
  'tests/signing-page.browser.test.ts',
  'tests/guides.test.ts',
  'server/src/cli/cli.test.ts',
  'tests/signed-screens.browser.test.ts',
  'tests/alone.test.ts',
  'tests/restored-books.test.ts',
  'tests/honest-work.browser.test.ts',
  'server/src/modules/money/delivery/deliver.test.ts',
  'wallet/src/cli.test.ts',
  'tests/protected.browser.test.ts',
  'tools/package/package.test.js',
  'server/src/modules/reports/exports/routes.test.ts',
  'tests/signed-elsewhere.browser.test.ts',
  'server/src/embedded-postgres/start.test.ts',
  'tests/demo-sign.test.ts',
  'sdk/src/package.test.ts',
  'tests/take-over.test.ts',
  'server/src/db/replica.test.ts',
  'tests/isolation.test.ts',
]

/**
 * Begins with the files that need a process of their own: in the middle, each would end a process that the others share, and its
 * successor would load all modules anew. Then come the long files; the others keep vitest's order. In a fresh clone that is by size,
 * which says little of time.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      if (project.config.isolate) return -1
      const position = long.findIndex((file) => moduleId.endsWith(`/${file}`))
      return position === -1 ? long.length : position
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
