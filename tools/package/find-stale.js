import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Compares the installed packages with package-lock.json, from which the list of parts is made.
 * @returns {string[]} a line for each package that is missing, or of another version
 */
export function findStale(root, closure) {
  return [...closure].flatMap(([path, { entry }]) => {
    const installed = versionIn(join(root, path, 'package.json'))
    return installed === entry.version
      ? []
      : [`${path} is ${installed ?? 'missing'}, and package-lock.json has ${entry.version}`]
  })
}

function versionIn(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).version
  } catch {
    return null
  }
}
