import { type Logger, pino } from 'pino'

export type LogLevel = (typeof logLevels)[number]
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** JSON lines on standard output; fields that may contain a secret are redacted. */
export function openLog(level: LogLevel): Logger {
  return pino({
    level,
    name: 'strongroom-wallet',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretPaths, censor: '[redacted]' },
  })
}

const secretNames = [
  'authorization',
  'token',
  'mnemonic',
  'passphrase',
  'secret',
  'privateKey',
  'rawTransaction',
  'databaseUrl',
  'rpcUrl',
]
const secretPaths = ['req.headers', ...secretNames, ...secretNames.map((name) => `*.${name}`)]
