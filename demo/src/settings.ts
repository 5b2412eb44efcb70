import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, ConfigError, readConfig } from '@strongroom/server/config'

const defaultAdminEmail = 'admin@strongroom.localhost'

/** The settings of the server, completed with the values that the demo chooses. */
export type Settings = {
  config: Config
  dataDir: string
  adminEmail: string
  hasCompany: boolean
  environment: NodeJS.ProcessEnv
}

/**
 * Reads the settings as the server will.
 * @throws ConfigError that names every error
 */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const adminEmail = env.STRONGROOM_ADMIN_EMAIL?.trim().toLowerCase() || defaultAdminEmail
  const dataDir = resolve(env.DATA_DIR?.trim() || './.strongroom')
  const environment = { ...env, DEMO: 'true', STRONGROOM_ADMIN_EMAIL: adminEmail, DATA_DIR: dataDir }
  const config = readConfig(environment)
  const ssoDemo = env.SSO_DEMO?.trim() || 'off'
  if (ssoDemo !== 'on' && ssoDemo !== 'off') throw new ConfigError([`SSO_DEMO must be on or off, not "${ssoDemo}"`])
  // The server creates the folder with the first mail, but the demo prints its path before.
  mkdirSync(join(dataDir, 'outbox'), { recursive: true, mode: 0o700 })
  return { config, dataDir, adminEmail, hasCompany: ssoDemo === 'on', environment }
}
