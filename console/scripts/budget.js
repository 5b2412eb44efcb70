// Weighs the files that `npm run build -w console` has written, compressed with gzip as the service sends them, against
// the limits of the design. Ends with 1 when something is too heavy.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const kilobyte = 1_000
const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const folder = join(dist, 'console')
const names = readdirSync(folder).filter((name) => !/\.(gz|br)$/.test(name))
const scripts = names.filter((name) => name.endsWith('.js'))
const textOf = (name) => readFileSync(join(folder, name), 'utf8')
const weightOf = (name) => statSync(join(folder, `${name}.gz`)).size / kilobyte
const sum = (found) => [...found].reduce((total, name) => total + weightOf(name), 0)

/** Returns the scripts that a script imports before it runs, itself included. */
function loadedBy(name, found = new Set()) {
  if (found.has(name)) return found
  found.add(name)
  for (const [, imported] of textOf(name).matchAll(/(?:from|import)\s*["']\.\/([\w.$-]+\.js)["']/g)) {
    if (scripts.includes(imported)) loadedBy(imported, found)
  }
  return found
}

const entry = /src="\/console\/([^"]+\.js)"/.exec(readFileSync(join(dist, 'index.html'), 'utf8'))[1]
const atOnce = loadedBy(entry)
/** Returns the files of a page, with all that they load. The build names them after the file of the route. */
const pageOf = (route) =>
  scripts.filter((name) => name.replace(/-[\w-]{8}\.js$/, '') === route).flatMap((name) => [...loadedBy(name)])
const isCharts = (name) => /^(plot|flow-chart|value-chart)-/.test(name)
const isLanguage = (name) => /^(de|pseudo)-/.test(name)
const beside = scripts.filter((name) => !atOnce.has(name) && !isCharts(name))
const ofKind = (pattern) => names.filter((name) => pattern.test(name))
const largest = (found) => Math.max(0, ...found.map(weightOf))

const rows = [
  ['the entry, with all that it loads at once', 140, sum(atOnce)],
  ['the approval page, with the entry and its frame', 160, approvalPage()],
  ['the largest other script', 45, largest(beside)],
  ['the charts', 5, sum(scripts.filter(isCharts))],
  ['all scripts but the languages', 480, sum(scripts.filter((name) => !isLanguage(name)))],
  ['the styles', 15, sum(ofKind(/\.css$/))],
  ['the font of Latin letters', 50, statSync(join(folder, ofKind(/^inter-latin-wght/)[0])).size / kilobyte],
]

function approvalPage() {
  const needed = new Set([...atOnce, ...pageOf('v._code'), ...pageOf('v._code.approvals.transfer._id')])
  if ([...needed].some(isCharts)) throw new Error('The approval page loads the charts.')
  return sum([...needed])
}

let isOver = false
for (const [what, limit, weight] of rows) {
  const verdict = weight > limit ? 'TOO HEAVY' : 'ok'
  if (weight > limit) isOver = true
  console.log(`${weight.toFixed(1).padStart(7)} kB of ${String(limit).padStart(3)}  ${what}: ${verdict}`)
}
if (process.argv.includes('--parts'))
  for (const name of [...atOnce].sort((a, b) => weightOf(b) - weightOf(a))) console.log(weightOf(name), name)
process.exit(isOver ? 1 : 0)
