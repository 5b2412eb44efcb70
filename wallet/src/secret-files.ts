import { readFileSync } from 'node:fs'
import { settings } from './settings.ts'

type Environment = Record<string, string | undefined>

/** Returns the settings, with the secrets that are in files: the setting `NAME_FILE` names the file of the secret `NAME`. */
export function readSecretFiles(environment: Environment, faults: string[]): Environment {
  const complete = { ...environment }
  for (const { name } of settings.filter(({ isSecret }) => isSecret === true)) {
    const path = environment[`${name}_FILE`] || undefined
    if (path === undefined) continue
    if (environment[name]) {
      faults.push(`${name} and ${name}_FILE are set; use one of them`)
      continue
    }
    try {
      complete[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
      if (complete[name] === '') faults.push(`${name}_FILE names a file that is empty`)
    } catch (error) {
      faults.push(`${name}_FILE names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
  }
  return complete
}
