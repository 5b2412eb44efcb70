import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { urlsOfHosts } from '../lib/database-hosts.ts'
import { isAddressOrNetwork } from '../lib/ip-ranges.ts'
import { metricsTokenLengthMin, proxyHopsMax } from '../lib/limits.ts'
import { isLoopback } from '../lib/loopback.ts'
import { faultOfWebhookSecrets } from '../lib/secret-strength.ts'
import { createReader, type Environment, type Reader } from './reader.ts'
import { fileOf, readSecretFiles } from './secret-files.ts'
import { type Setting, settings } from './settings.ts'
import { isPlainAndRemote, trustOnly } from './tls-of-database.ts'
import { weakensTls } from './weakens-tls.ts'
import { readWitnesses, type WitnessSettings } from './witnesses.ts'

export { settings }

export type Config = {
  port: number
  host: string
  publicUrl: string | null
  dataDir: string
  /** True if this node serves the web console beside the API. */
  servesConsole: boolean
  /** True if an order is refused whose address cannot pay the network fee; false in demo mode, where deposits are made up. */
  checksGas: boolean
  /** The URL with which the running service connects. Null means the embedded server. */
  databaseUrl: string | null
  /** The URL with which migrations connect. Null means `databaseUrl`. */
  databaseOwnerUrl: string | null
  /** The URL of a replica from which reports, their files and verifications read. Null means the database itself. */
  reportsDatabaseUrl: string | null
  /** The time for which a start waits for a database that does not answer yet. */
  databaseWaitSeconds: number
  demo: boolean
  adminEmail: string | null
  smtpUrl: string | null
  /** True if mail is sent over encrypted connections only. */
  smtpRequiresTls: boolean
  mailFrom: string
  organisationName: string | null
  /** The secrets that verify webhooks; several during a rotation. Empty only in demo mode, which accepts unsigned events. */
  webhookSecrets: string[]
  walletAllowedHosts: string[]
  identityAllowedHosts: string[]
  secretKey: string | null
  /** The URL from which USD rates are polled: https, or http and file in demo mode. */
  ratesUrl: string | null
  /** A rate that differs from an earlier rate by more than this factor waits for a second person. */
  rateJumpFactorHundredths: number
  /** The service that screens deposits and transfers, or null. It has several secrets during a rotation. */
  screening: { url: string; secrets: string[] } | null
  /** The witnesses that keep the heads of the seal chains, and the interval at which the heads are sent. */
  witnesses: WitnessSettings
  /** The ids of keys that may have signed seals, besides the key of this node. */
  sealKeys: string[]
  approvalTtlHours: number
  /** The interval at which each vault is compared with the chain. */
  reconcileEveryHours: number
  /** The time after the hand-over after which a transfer without an outcome counts as stuck and is reported by mail, once. */
  stuckAfterMinutes: number
  sessionTtlDays: number
  /** The limit of requests of a person; that of a service is higher (`serviceRateFactor`). 0 means no limit. */
  rateLimitPerMinute: number
  /** The bearer token for /metrics. Without a token, /metrics is open in demo mode and 404 otherwise. */
  metricsToken: string | null
  /** The time within which a request must arrive completely. */
  requestTimeoutSeconds: number
  /** The number of proxies in front, or their addresses; false if X-Forwarded-For is ignored. */
  trustProxy: number | string[] | false
  logLevel: string
  /** True if secrets may be weak: in demo mode, and where the operator accepts it. */
  acceptsWeakSecrets: boolean
  /** A sentence for each unsafe setting that the operator allows by name. */
  allowedRisks: string[]
  /** A sentence for each setting that works, but is probably a mistake. */
  warnings: string[]
}

/** Thrown with every fault of the settings at once. */
export class ConfigError extends Error {
  readonly faults: string[]
  constructor(faults: string[]) {
    super(`Strongroom cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/**
 * Reads the settings once. Nothing else in the service reads the environment.
 * @throws ConfigError that names every fault
 */
export function readConfig(env: Environment = process.env): Config {
  const faults: string[] = []
  const reader = createReader(readSecretFiles(env, faults), faults)
  const { demo, allowed, allowedRisks, text, onOff, integer, url, list, requiredOutsideDemo, refuse, refuseWeak } =
    reader

  const host = text('HOST') ?? '127.0.0.1'
  if (isIP(host) === 0 && host !== 'localhost') faults.push(`HOST must be an IP address or localhost, not "${host}"`)

  const publicUrl = url('PUBLIC_URL', ['http:', 'https:'])
  requiredOutsideDemo('PUBLIC_URL')
  if (publicUrl !== null && new URL(publicUrl).pathname !== '/')
    faults.push('PUBLIC_URL must be an origin without a path')
  if (publicUrl?.startsWith('http:') && !isLoopback(new URL(publicUrl).hostname)) {
    refuse('public-url', 'PUBLIC_URL must begin with https://, or sign-in links and sessions can be read on their way')
  }

  const webhookSecrets = readWebhookSecrets(reader)

  const secretKey = readSecretKey(reader)

  const adminEmail = text('STRONGROOM_ADMIN_EMAIL')?.toLowerCase() ?? null
  if (adminEmail !== null && !/^[^\s@]+@[^\s@]+$/.test(adminEmail)) {
    faults.push('STRONGROOM_ADMIN_EMAIL must be an e-mail address')
  }

  const mail = readMail(reader)

  const metricsToken = text('METRICS_TOKEN')
  if (metricsToken !== null && metricsToken.length < metricsTokenLengthMin) {
    faults.push(`METRICS_TOKEN must have at least ${metricsTokenLengthMin} characters`)
  } else refuseWeak('METRICS_TOKEN', [metricsToken])

  const rateJumpFactorHundredths = readRateJumpFactor(reader)

  const config: Config = {
    port: integer('PORT', 8420, 0, 65_535),
    host,
    publicUrl: publicUrl === null ? null : new URL(publicUrl).origin,
    dataDir: readDataDir(reader),
    servesConsole: onOff('CONSOLE'),
    checksGas: onOff('GAS_CHECK', !demo),
    ...readDatabaseUrls(reader),
    databaseWaitSeconds: integer('DATABASE_WAIT_SECONDS', 60, 0, 600),
    demo,
    adminEmail,
    ...mail,
    webhookSecrets,
    walletAllowedHosts: list('WALLET_ALLOWED_HOSTS'),
    identityAllowedHosts: list('IDENTITY_ALLOWED_HOSTS'),
    secretKey,
    ratesUrl: url('RATES_URL', demo ? ['http:', 'https:', 'file:'] : ['https:']),
    rateJumpFactorHundredths,
    screening: readScreening(reader, webhookSecrets),
    ...readWitnesses(reader),
    approvalTtlHours: integer('APPROVAL_TTL_HOURS', 72, 1, 8_760),
    reconcileEveryHours: integer('RECONCILE_EVERY_HOURS', 6, 1, 24),
    stuckAfterMinutes: integer('STUCK_AFTER_MINUTES', 30, 1, 10_080),
    sessionTtlDays: integer('SESSION_TTL_DAYS', 7, 1, 30),
    rateLimitPerMinute: integer('RATE_LIMIT_PER_MINUTE', demo ? 0 : 3_000, 0, 1_000_000),
    requestTimeoutSeconds: integer('REQUEST_TIMEOUT_SECONDS', 30, 1, 600),
    trustProxy: readTrustedProxies(text('TRUST_PROXY'), faults),
    metricsToken,
    logLevel: readLogLevel(reader),
    acceptsWeakSecrets: demo || allowed.includes('secrets'),
    allowedRisks,
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}

const isDatabaseUrl = (value: string): boolean => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value)

function readDatabaseUrls({ faults, text }: Reader) {
  const authority = text('DATABASE_CA')
  if (authority !== null && !canBeRead(authority)) faults.push('DATABASE_CA must name a file that can be read')
  for (const name of ['DATABASE_OWNER_URL', 'REPORTS_DATABASE_URL']) {
    if (text(name) !== null && text('DATABASE_URL') === null) faults.push(`${name} is set, and DATABASE_URL is not`)
  }
  const warnings: string[] = []
  const read = (name: string): string | null => {
    const value = text(name)
    if (value === null) return null
    if (!urlsOfHosts(value).every(isDatabaseUrl)) {
      faults.push(`${name} must be a URL that begins with postgres:// or postgresql://`)
      return null
    }
    if (authority !== null) return trustOnly(value, authority)
    if (isPlainAndRemote(value)) {
      const danger = 'whoever is on the way reads the password and the books'
      warnings.push(`${name} leads to another machine without TLS, so that ${danger}; add sslmode=verify-full`)
    }
    return value
  }
  return {
    databaseUrl: read('DATABASE_URL'),
    databaseOwnerUrl: read('DATABASE_OWNER_URL'),
    reportsDatabaseUrl: read('REPORTS_DATABASE_URL'),
    warnings,
  }
}

function canBeRead(path: string): boolean {
  try {
    return readFileSync(path).length > 0
  } catch {
    return false
  }
}

function readSecretKey({ faults, text, requiredOutsideDemo, refuseWeak }: Reader): string | null {
  const secretKey = text('STRONGROOM_SECRET_KEY')
  requiredOutsideDemo('STRONGROOM_SECRET_KEY')
  if (secretKey !== null && secretKey.length < 32) faults.push('STRONGROOM_SECRET_KEY must have at least 32 characters')
  else refuseWeak('STRONGROOM_SECRET_KEY', [secretKey])
  if (text('STRONGROOM_SECRET_KEY_PREVIOUS') !== null)
    faults.push('STRONGROOM_SECRET_KEY_PREVIOUS is for "strongroom secrets rotate" only; a node must not have it')
  return secretKey
}

function readWebhookSecrets({ demo, faults, list, refuseWeak }: Reader): string[] {
  const webhookSecrets = list('WALLET_WEBHOOK_SECRET')
  // A list of nothing but commas is as empty as no list (GHSA-xff3-5c9p-2mr4: an empty secret makes credits forgeable).
  if (!demo && webhookSecrets.length === 0) faults.push('WALLET_WEBHOOK_SECRET is required outside demo mode')
  const webhookFault = faultOfWebhookSecrets(webhookSecrets, { mayBeGuessed: true })
  if (webhookFault !== null) faults.push(`WALLET_WEBHOOK_SECRET ${webhookFault}`)
  else refuseWeak('WALLET_WEBHOOK_SECRET', webhookSecrets)
  return webhookSecrets
}

/** Reads the settings of screening. Half of them is a fault, because the operator would believe that screening is on. */
function readScreening(
  { demo, faults, text, url, list, refuseWeak }: Reader,
  webhookSecrets: string[],
): Config['screening'] {
  const address = url('SCREENING_URL', ['http:', 'https:'])
  const secrets = list('SCREENING_SECRET')
  const isNamed = text('SCREENING_URL') !== null
  if (address !== null) {
    const { protocol, hostname, username, password } = new URL(address)
    if (username !== '' || password !== '') faults.push('SCREENING_URL must not hold credentials; use SCREENING_SECRET')
    if (protocol === 'http:' && !demo && !isLoopback(hostname))
      faults.push('SCREENING_URL must begin with https://, or with http:// for a service on this machine')
  }
  if (!isNamed && secrets.length > 0) faults.push('SCREENING_SECRET is set, and SCREENING_URL is not')
  if (!isNamed) return null
  if (secrets.length === 0) faults.push('SCREENING_SECRET is required with SCREENING_URL')
  const fault = faultOfWebhookSecrets(secrets, { mayBeGuessed: true })
  if (fault !== null) faults.push(`SCREENING_SECRET ${fault}`)
  else refuseWeak('SCREENING_SECRET', secrets)
  if (secrets.some((secret) => webhookSecrets.includes(secret)))
    faults.push('SCREENING_SECRET must be another secret than WALLET_WEBHOOK_SECRET')
  return address === null ? null : { url: address, secrets }
}

type MailSettings = Pick<Config, 'smtpUrl' | 'smtpRequiresTls' | 'mailFrom' | 'organisationName'>

function readMail(reader: Reader): MailSettings {
  const { demo, allowed, faults, text, url, requiredOutsideDemo, refuse } = reader
  const smtpUrl = url('SMTP_URL', ['smtp:', 'smtps:'])
  requiredOutsideDemo('SMTP_URL')
  // Mail servers refuse mails from the fallback, an address of the local machine.
  requiredOutsideDemo('MAIL_FROM')
  const mailFrom = text('MAIL_FROM') ?? 'Strongroom <strongroom@localhost>'
  if (!/^([^<>\r\n]*<[^<>\s@]+@[^<>\s@]+>|[^<>\s@]+@[^<>\s@]+)$/.test(mailFrom))
    faults.push('MAIL_FROM must be an address such as Strongroom <strongroom@example.org>')
  const isLocalMail = smtpUrl === null || isLoopback(new URL(smtpUrl).hostname)
  if (!isLocalMail && weakensTls(new URL(smtpUrl))) {
    refuse(
      'smtp',
      'SMTP_URL must not switch TLS or its checks off, or mails with sign-in links can be read on their way',
    )
  } else if (!isLocalMail && allowed.includes('smtp')) {
    refuse('smtp', 'SMTP_URL is used without TLS where its server offers none')
  }
  const smtpRequiresTls = !demo && !isLocalMail && !allowed.includes('smtp')
  return { smtpUrl, smtpRequiresTls, mailFrom, organisationName: text('ORGANISATION_NAME') }
}

function readLogLevel({ faults, text }: Reader): string {
  const logLevel = text('LOG_LEVEL') ?? 'info'
  if (!['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].includes(logLevel)) {
    faults.push(`LOG_LEVEL must be fatal, error, warn, info, debug, trace or silent, not "${logLevel}"`)
  }
  return logLevel
}

function readRateJumpFactor({ faults, text }: Reader): number {
  const factor = text('RATE_JUMP_FACTOR') ?? '2'
  const hundredths = /^\d{1,3}(\.\d{1,2})?$/.test(factor) ? Math.round(Number(factor) * 100) : 0
  if (hundredths <= 100) faults.push(`RATE_JUMP_FACTOR must be a number from 1.01 to 999.99, not "${factor}"`)
  return hundredths
}

/**
 * Returns the proxies whose additions to X-Forwarded-For are trusted. The sender wrote everything to the left of these additions, so
 * that a setting that trusts every proxy is refused: a sender could choose its address.
 */
function readTrustedProxies(value: string | null, faults: string[]): number | string[] | false {
  if (value === null || value === 'false' || value === '0') return false
  if (/^\d{1,2}$/.test(value) && Number(value) <= proxyHopsMax) return Number(value)
  const addresses = value.split(',').map((item) => item.trim())
  if (addresses.every(isAddressOrNetwork)) return addresses
  faults.push(
    `TRUST_PROXY must be the number of proxies in front of Strongroom (1 to ${proxyHopsMax}), or their addresses, such ` +
      `as 10.0.0.5 or 10.0.0.0/24, separated by commas; not "${value}"`,
  )
  return false
}

/** The settings of a command that runs beside a server: its database, URL, wallet services and keys. */
type CommandConfig = Pick<
  Config,
  | 'databaseUrl'
  | 'databaseOwnerUrl'
  | 'dataDir'
  | 'publicUrl'
  | 'port'
  | 'walletAllowedHosts'
  | 'demo'
  | 'secretKey'
  | 'sealKeys'
>

/** Returns true when this process runs in demo mode, in which the service creates its own secrets. */
export const isDemo = (env: Environment = process.env): boolean => env.DEMO === 'true'

/** Reads the settings of a command. Settings that only a running server needs may be missing. @throws ConfigError */
export function readCommandConfig(env: Environment = process.env): CommandConfig {
  const names = [
    'DATABASE_URL',
    'DATABASE_OWNER_URL',
    'DATABASE_CA',
    'DATA_DIR',
    'PUBLIC_URL',
    'PORT',
    'WALLET_ALLOWED_HOSTS',
    'SEAL_KEYS',
    'STRONGROOM_SECRET_KEY',
  ]
  // Demo mode here only excuses missing settings. The command judges wallet services as the node does.
  return { ...readConfig({ DEMO: 'true', ...pick(env, names) }), demo: isDemo(env) }
}

/** Reads the settings of a node. `secretKey` is used if the settings have no secret key. @throws ConfigError */
export function readConfigWithKey(secretKey: string, env: Environment = process.env): Config {
  const isSet = readCommandConfig(env).secretKey !== null
  return readConfig(isSet ? env : { ...env, STRONGROOM_SECRET_KEY: secretKey })
}

/**
 * Reads the settings with which a node sends mails, for a command that sends a mail.
 * @throws ConfigError
 */
export function readMailConfig(env: Environment = process.env): MailSettings & Pick<Config, 'dataDir'> {
  const faults: string[] = []
  const named = pick(env, ['DEMO', 'ALLOW_INSECURE', 'SMTP_URL', 'MAIL_FROM', 'DATA_DIR'])
  const reader = createReader(readSecretFiles(named, faults), faults)
  const mail = { ...readMail(reader), dataDir: readDataDir(reader) }
  if (faults.length > 0) throw new ConfigError(faults)
  return mail
}

const readDataDir = ({ text }: Reader): string => text('DATA_DIR') ?? '../.strongroom'

/** Returns the settings of these names, and the names of their files. */
function pick(env: Environment, names: string[]): Environment {
  return Object.fromEntries(names.flatMap((name) => [name, `${name}_FILE`]).map((name) => [name, env[name]]))
}

/**
 * Reads the key that is to seal the secrets, and the previous key, which seals them now.
 * @param previousFile the file with the previous key, if the environment does not have it
 * @throws ConfigError
 */
export async function readSecretKeys(
  previousFile: string | undefined,
  env: Environment = process.env,
): Promise<{ previous: string; next: string }> {
  const faults: string[] = []
  const keys = readSecretFiles(pick(env, ['STRONGROOM_SECRET_KEY', 'STRONGROOM_SECRET_KEY_PREVIOUS']), faults)
  const { text, refuseWeak } = createReader({ ...keys, ALLOW_INSECURE: env.ALLOW_INSECURE, DEMO: env.DEMO }, faults)
  const [next, named] = [text('STRONGROOM_SECRET_KEY'), text('STRONGROOM_SECRET_KEY_PREVIOUS')]
  if (next === null) faults.push('STRONGROOM_SECRET_KEY is required: the new key')
  else if (next.length < 32) faults.push('STRONGROOM_SECRET_KEY must have at least 32 characters')
  else refuseWeak('STRONGROOM_SECRET_KEY', [next])
  if (named !== null && previousFile !== undefined)
    faults.push('STRONGROOM_SECRET_KEY_PREVIOUS and --previous-file are given; use one of them')
  const previous = previousFile === undefined ? named : (await readFile(previousFile, 'utf8')).trim()
  if (previous === null || previous === '')
    faults.push('STRONGROOM_SECRET_KEY_PREVIOUS (or --previous-file) is required: the key that seals the database now')
  if (next !== null && next === previous) faults.push('STRONGROOM_SECRET_KEY is the previous key; make a new one')
  if (next === null || previous === null || faults.length > 0) throw new ConfigError(faults)
  return { previous, next }
}

/** Returns each setting with its value in the environment. The value of a secret is hidden. */
export function describeSettings(env: Environment = process.env): (Setting & { value: string | null })[] {
  return settings.map((setting) => {
    const file = fileOf(env, setting.name)
    const value = env[setting.name]?.trim() || null
    if (value === null && file !== null) return { ...setting, value: `(in the file ${file})` }
    return { ...setting, value: value !== null && setting.isSecret === true ? '(set, hidden)' : value }
  })
}
