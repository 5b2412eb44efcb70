import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVitest } from 'vitest/node'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Returns the source of a file without the guard.
 * @param {import('./guards.js').Guard} guard
 * @throws Error when the guard is not found exactly once: an edit that removes nothing proves nothing
 */
export function withoutGuard({ name, file, guarded, unguarded }, source = readFileSync(join(root, file), 'utf8')) {
  const parts = source.split(guarded)
  if (parts.length !== 2) throw new Error(`${name}: found ${parts.length - 1} times in ${file}, not once`)
  return parts.join(unguarded)
}

/**
 * Runs the tests of each guard without it, and reports the first test that failed; null when none did. The files of the project
 * stay as they are: vitest gets the edited source when it loads the file.
 *
 * @param {import('./guards.js').Guard[]} guards
 * @param {(guard: import('./guards.js').Guard, noticedBy: string | null) => void} report
 * @throws Error when tests fail with every guard in place, or cannot run without a guard
 */
export async function removeGuards(guards, report) {
  let removed = null
  const removal = {
    name: 'remove-guard',
    enforce: 'pre',
    transform: (code, id) => (removed !== null && id === join(root, removed.file) ? withoutGuard(removed, code) : null),
  }
  const tests = [...new Set(guards.flatMap((guard) => guard.tests))]
  const vitest = await createVitest('test', optionsFor(tests), { root, plugins: [removal] })
  try {
    await vitest.standalone()
    const specifications = await vitest.globTestSpecifications()
    const run = async (files) => {
      const chosen = specifications.filter(({ moduleId }) => files.some((file) => moduleId === join(root, file)))
      if (chosen.length !== files.length) throw new Error(`not all of these are test files: ${files.join(', ')}`)
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(chosen)
      // The modules of earlier runs are there, too, as they ended then.
      const ran = testModules.filter(({ moduleId }) =>
        chosen.some((specification) => specification.moduleId === moduleId),
      )
      return failuresOf(ran, unhandledErrors)
    }
    const failures = await run(tests)
    if (failures.length > 0) throw new Error(`fails with every guard in place: ${failures[0]}`)
    for (const guard of guards) {
      removed = guard
      vitest.invalidateFile(join(root, guard.file))
      report(guard, (await run(guard.tests))[0] ?? null)
      vitest.invalidateFile(join(root, guard.file))
    }
  } finally {
    await vitest.close()
    // Vitest sets it for tests that fail, as they are meant to.
    process.exitCode = 0
  }
}

/**
 * Returns the names of the tests that failed.
 * @throws Error for a file whose tests did not run: it noticed nothing
 */
function failuresOf(modules, unhandledErrors) {
  const errors = [...unhandledErrors, ...modules.flatMap((module) => module.errors())]
  if (errors.length > 0) throw new Error(`the tests cannot run: ${errors[0].message}`)
  if (modules.length === 0) throw new Error('the tests did not run')
  return modules.flatMap((module) => [...module.children.allTests('failed')].map(({ fullName }) => fullName))
}

function optionsFor(tests) {
  const needsDatabase = tests.some((file) => file.startsWith('server/'))
  return {
    config: false,
    watch: false,
    reporters: [{}],
    pool: 'forks',
    include: tests,
    setupFiles: ['tests/setup/properties.ts'],
    globalSetup: needsDatabase ? ['tests/setup/global-database.ts'] : [],
    restoreMocks: true,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  }
}
