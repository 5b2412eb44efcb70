// npm run tidy: checks the habits of the house. `--shrink` removes baseline entries that no longer apply.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { rooms } from '../rooms.cjs'
import { compareWithBaseline, shrink } from './baseline.js'
import { checkCitations } from './citations.js'
import { checkLengths } from './lengths.js'
import { readMigrations, readProject } from './project.js'
import { checkRooms } from './rooms.js'
import { checkSubjects } from './subjects.js'
import { checkThreatTests, renderThreatTests, threatTests } from './threat-tests.js'
import { checkWords } from './words.js'
import { checkWriters } from './writers.js'

const root = new URL('../../', import.meta.url)
const baselineFile = new URL('baseline.json', import.meta.url)
const commitsRead = 10

const { paths, files } = readProject(root)
const migrations = readMigrations(root, paths)
const sharedTables = readJson('shared-tables.json')
const threatPage = new URL(threatTests, root)
if (process.argv.includes('--threats')) writeFileSync(threatPage, renderThreatTests(files))

const findings = [
  ...checkCitations(files, paths),
  ...checkWriters(files, migrations, sharedTables),
  ...checkRooms(files, paths, migrations, sharedTables, rooms),
  ...checkLengths(files),
  ...checkWords(files),
  ...checkSubjects(readCommits()),
  ...checkThreatTests(files, readFileSync(threatPage, 'utf8')),
]
const baseline = readJson('baseline.json')
if (process.argv.includes('--shrink'))
  writeFileSync(baselineFile, `${JSON.stringify(shrink(findings, baseline), null, 2)}\n`)

const faults = compareWithBaseline(findings, readJson('baseline.json'))
for (const fault of faults) console.error(fault)
console.log(`${files.length} files, ${faults.length} faults, ${findings.length} violations in all`)
process.exitCode = faults.length === 0 ? 0 : 1

function readJson(name) {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'))
}

/** Merges have subjects of their own. */
function readCommits() {
  const log = execFileSync('git', ['log', '--no-merges', `-${commitsRead}`, '--format=%h %s'], { cwd: root })
  const lines = log.toString().split('\n').filter(Boolean)
  return lines.map((line) => ({ hash: line.slice(0, line.indexOf(' ')), subject: line.slice(line.indexOf(' ') + 1) }))
}
