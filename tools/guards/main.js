// Removes each guard of guards.js, runs the tests that must notice the removal, and names the guards whose removal no test
// noticed: npm run guards [-- WORDS of their names or files]
import { guards } from './guards.js'
import { removeGuards } from './remove-guards.js'

const words = process.argv.slice(2)
const chosen = guards.filter((guard) =>
  words.every((word) => `${guard.threat} ${guard.name} ${guard.file}`.includes(word)),
)
if (chosen.length === 0) throw new Error(`there is no guard of ${words.join(' ')}`)

const unnoticed = []
await removeGuards(chosen, (guard, noticedBy) => {
  if (noticedBy === null) unnoticed.push(guard)
  const verdict = noticedBy === null ? 'NOT NOTICED' : 'noticed by'
  process.stdout.write(
    `${guard.threat} ${guard.name} (${guard.file})\n  ${verdict} ${noticedBy ?? guard.tests.join(', ')}\n`,
  )
})
process.stdout.write(
  `${chosen.length} guards were removed one by one; ${unnoticed.length} removals were not noticed.\n`,
)
process.exitCode = unnoticed.length === 0 ? 0 : 1
