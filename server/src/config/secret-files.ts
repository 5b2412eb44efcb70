import { readFileSync } from 'node:fs'
import type { Environment } from './reader.ts'
import { settings } from './settings.ts'

const secrets = settings.filter(({ isSecret }) => isSecret === true).map(({ name }) => name)

/** Returns the file of a secret setting (`NAME_FILE`), or null. Child processes see the environment, and not the file. */
export function fileOf(env: Environment, name: string): string | null {
  return (secrets.includes(name) && env[`${name}_FILE`]?.trim()) || null
}

/** Returns the settings, with the secrets that are in files. */
export function readSecretFiles(env: Environment, faults: string[]): Environment {
  const complete = { ...env }
  for (const name of secrets) {
    const path = fileOf(env, name)
    if (path === null) continue
    if (env[name]?.trim()) {
      faults.push(`${name} and ${name}_FILE are set; use one of them`)
      continue
    }
    try {
      complete[name] = readFileSync(path, 'utf8').trim()
      if (complete[name] === '') faults.push(`${name}_FILE names a file that is empty`)
    } catch (error) {
      faults.push(`${name}_FILE names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
  }
  return complete
}
