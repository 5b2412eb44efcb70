import { readFile } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { type ChainConfig, readChains } from './chains/settings.ts'
import { urlsOfHosts } from './database/hosts.ts'
import { clientTokenLengthMin, passphraseLengthMin, webhookSecretBytesMin } from './limits.ts'
import { type LogLevel, logLevels } from './log.ts'
import { type MailConfig, readMail } from './mails/settings.ts'
import { readSecretFiles } from './secret-files.ts'
import { isHttpUrl, isRecord, parseJson } from './setting-forms.ts'
import { readSigning, type SigningConfig } from './signing/settings.ts'
import { webhookKey } from './webhooks/sign-webhook.ts'

export type ClientConfig = { name: string; token: string }

/** The settings of the key store; commands that only use the database read no more than this. */
export type StoreConfig = {
  databaseUrl: string
  passphrase: string
  logLevel: LogLevel
  /** The directory of the authorities of protected clients, beside the key material and outside of the database. */
  authorityDir?: string
}

export type WalletConfig = StoreConfig & {
  /** 0 picks a free port. */
  port: number
  host: string
  chains: Record<string, ChainConfig>
  webhookUrl: string
  webhookSecret: string
  clients: ClientConfig[]
  /** The page where people sign; undefined when this service serves no page. */
  signing?: SigningConfig
  /** Undefined when the service sends no mails about next versions of authorities. */
  mail?: MailConfig
}

/** Lists every error of the settings in one line; never a secret's value. */
export class ConfigError extends Error {}

type Environment = Record<string, string | undefined>

/** Reads all settings of `strongroom-wallet serve`; throws one ConfigError that names every error. */
export function readWalletConfig(settings: Environment = process.env): WalletConfig {
  const faults: string[] = []
  const environment = readSecretFiles(settings, faults)
  const config: WalletConfig = {
    ...readStore(environment, faults),
    port: readPort(environment.PORT, faults),
    host: environment.HOST || '127.0.0.1',
    chains: readChains(environment.WALLET_CHAINS, faults),
    webhookUrl: readWebhookUrl(environment.WEBHOOK_URL, faults),
    webhookSecret: readWebhookSecret(environment.WEBHOOK_SECRET, faults),
    clients: readClients(environment.WALLET_CLIENTS, faults),
    ...readSigning(environment, faults),
    ...readMail(environment, faults),
  }
  refuseFaults(faults)
  return config
}

/**
 * Reads what the command `passphrase` needs: the new passphrase of the key store, and the present passphrase.
 * @param previousFile holds the previous passphrase, if the environment does not
 */
export async function readPassphraseChange(
  previousFile: string | undefined,
  settings: Environment = process.env,
): Promise<StoreConfig & { previous: string }> {
  const faults: string[] = []
  const environment = readSecretFiles(settings, faults)
  const config = readStore(environment, faults)
  const named = environment.WALLET_PASSPHRASE_PREVIOUS || undefined
  if (named !== undefined && previousFile !== undefined)
    faults.push('WALLET_PASSPHRASE_PREVIOUS and --previous-file are given; use one of them')
  const previous =
    previousFile === undefined ? named : (await readFile(previousFile, 'utf8')).replace(/\r?\n$/, '') || undefined
  if (previous === undefined) faults.push('WALLET_PASSPHRASE_PREVIOUS (or --previous-file) is required')
  else if (previous === config.passphrase) faults.push('WALLET_PASSPHRASE is the previous passphrase')
  refuseFaults(faults)
  return { ...config, previous: previous! }
}

/** Reads the settings that a version of an authority must match. Without chains, an authority with a token is refused. */
export function readCeremonyConfig(settings: Environment = process.env): {
  chains: Record<string, ChainConfig>
  signing?: SigningConfig
  mail?: MailConfig
} {
  const faults: string[] = []
  const environment = readSecretFiles(settings, faults)
  const chains = environment.WALLET_CHAINS ? readChains(environment.WALLET_CHAINS, faults) : {}
  const config = { chains, ...readSigning(environment, faults), ...readMail(environment, faults) }
  refuseFaults(faults)
  return config
}

/** Reads only what the commands `client` and `migrate` need. */
export function readStoreConfig(settings: Environment = process.env): StoreConfig {
  const faults: string[] = []
  const config = readStore(readSecretFiles(settings, faults), faults)
  refuseFaults(faults)
  return config
}

/** Reads the databases that `doctor` compares. */
export function readDoctorConfig(settings: Environment = process.env): StoreConfig & { serviceDatabaseUrl?: string } {
  const faults: string[] = []
  const environment = readSecretFiles(settings, faults)
  const config = readStore(environment, faults)
  const { SERVICE_DATABASE_URL: serviceDatabaseUrl } = environment
  refuseFaults(faults)
  return serviceDatabaseUrl === undefined ? config : { ...config, serviceDatabaseUrl }
}

function refuseFaults(faults: string[]) {
  if (faults.length > 0) throw new ConfigError(`wrong settings: ${faults.join('; ')}`)
}

function readStore(environment: Environment, faults: string[]): StoreConfig {
  return {
    databaseUrl: readDatabaseUrl(environment, faults),
    passphrase: readPassphrase(environment.WALLET_PASSPHRASE, faults),
    logLevel: readLogLevel(environment.LOG_LEVEL, faults),
    ...readAuthorityDir(environment.AUTHORITY_DIR, faults),
  }
}

function readDatabaseUrl({ DATABASE_URL: value = '', DATABASE_CA: authority }: Environment, faults: string[]): string {
  if (value === '') faults.push('DATABASE_URL is required')
  else if (!/^postgres(ql)?:\/\//.test(value)) faults.push('DATABASE_URL must start with postgres:// or postgresql://')
  else if (authority) {
    if (!isAbsolute(authority)) faults.push('DATABASE_CA must be an absolute path')
    else return trustOnly(value, authority)
  }
  return value
}

/** Returns true for this machine. A host that is a path is the folder of a socket. */
function isOfThisMachine(databaseUrl: string): boolean {
  const { searchParams, hostname } = new URL(databaseUrl)
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  return host === '' || host.startsWith('/') || /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host)
}

/** Allows a connection to another machine only if this authority has signed the certificate for the name in the URL. */
function trustOnly(databaseUrl: string, authorityFile: string): string {
  const hosts = urlsOfHosts(databaseUrl)
  if (!hosts.every((single) => URL.canParse(single)) || hosts.every(isOfThisMachine)) return databaseUrl
  const url = new URL(hosts[0]!)
  url.searchParams.set('sslmode', 'verify-full')
  url.searchParams.set('sslrootcert', authorityFile)
  return databaseUrl.replace(/(\?.*)?$/s, url.search)
}

function readPassphrase(value = '', faults: string[]): string {
  if (value === '') faults.push('WALLET_PASSPHRASE is required')
  else if (value.length < passphraseLengthMin) {
    faults.push(`WALLET_PASSPHRASE must have at least ${passphraseLengthMin} characters`)
  }
  return value
}

function readAuthorityDir(value = '', faults: string[]): { authorityDir?: string } {
  if (value === '') return {}
  if (!isAbsolute(value)) faults.push('AUTHORITY_DIR must be an absolute path')
  return { authorityDir: value }
}

function readLogLevel(value = 'info', faults: string[]): LogLevel {
  const level = logLevels.find((known) => known === value)
  if (!level) faults.push(`LOG_LEVEL must be one of ${logLevels.join(', ')}`)
  return level ?? 'info'
}

function readPort(value = '0', faults: string[]): number {
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65535) faults.push('PORT must be a number from 0 to 65535')
  return Number(value)
}

function readWebhookUrl(value = '', faults: string[]): string {
  if (value === '') faults.push('WEBHOOK_URL is required')
  else if (!isHttpUrl(value)) faults.push('WEBHOOK_URL must be an http or https URL')
  return value
}

function readWebhookSecret(value = '', faults: string[]): string {
  if (value === '') faults.push('WEBHOOK_SECRET is required')
  else if (webhookKey(value).length < webhookSecretBytesMin) {
    faults.push(`WEBHOOK_SECRET must have at least ${webhookSecretBytesMin} bytes`)
  }
  return value
}

function readClients(value = '', faults: string[]): ClientConfig[] {
  if (value === '') return []
  const parsed = parseJson(value)
  if (!Array.isArray(parsed)) {
    faults.push('WALLET_CLIENTS must be a JSON array of {"name", "token"}')
    return []
  }
  const clients: ClientConfig[] = []
  parsed.forEach((entry: unknown, position) => {
    const where = `WALLET_CLIENTS.${position}`
    if (!isRecord(entry)) {
      faults.push(`${where} must be an object`)
      return
    }
    const { name, token, ...others } = entry
    for (const key of Object.keys(others)) faults.push(`${where}.${key} is not a setting`)
    if (typeof name !== 'string' || name === '' || name.length > 100) {
      faults.push(`${where}.name must be a text of 1 to 100 characters`)
    }
    if (typeof token !== 'string' || !isClientToken(token)) {
      faults.push(`${where}.token must be at least ${clientTokenLengthMin} visible ASCII characters`)
    }
    clients.push({ name: String(name), token: String(token) })
  })
  if (new Set(clients.map(({ name }) => name)).size < clients.length) faults.push('WALLET_CLIENTS names a client twice')
  if (new Set(clients.map(({ token }) => token)).size < clients.length)
    faults.push('WALLET_CLIENTS gives two clients the same token')
  return clients
}

const isClientToken = (value: string) => new RegExp(`^[!-~]{${clientTokenLengthMin},512}$`).test(value)
