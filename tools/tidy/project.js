// Reads the files that people write, for the rules.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** @typedef {{ path: string, text: string }} File */
/** @typedef {{ file: string, line: number, rule: string, message: string }} Finding */

/** Files that programs write. `.gitattributes` marks those that are committed. */
const generated = new Set([
  'openapi.json',
  'package-lock.json',
  'docs/security/threat-tests.md',
  'docs/wallet-protocol.openapi.json',
  'server/src/db/types.ts',
])
/** A landed migration is never edited, not even its comments. */
const landed = /\/migrations\/\d{4}-[\w-]+\.sql$/
const handWritten = /\.(tsx?|js|cjs|md|sql|sh|css)$|^\.ci\//

/**
 * @param {URL} root
 * @returns {{ paths: Set<string>, files: File[] }} every path of the project, and the files written by hand
 */
export function readProject(root) {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  const deleted = execFileSync('git', ['ls-files', '--deleted'], { cwd: root })
  const gone = new Set(linesOf(deleted))
  const tracked = linesOf(listed).filter((path) => !gone.has(path))
  const files = tracked
    .filter((path) => handWritten.test(path) && !generated.has(path) && !landed.test(path))
    .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }))
  return { paths: new Set([...tracked, ...generated]), files }
}

/** @returns {string} the text of every migration, which defines the tables */
export function readMigrations(root, paths) {
  const migrations = [...paths].filter((path) => path.startsWith('server/src/db/migrations/') && path.endsWith('.sql'))
  return migrations.map((path) => readFileSync(new URL(path, root), 'utf8')).join('\n')
}

function linesOf(output) {
  return output.toString().split('\n').filter(Boolean)
}
