import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { askSecret } from './ask-secret.ts'
import { categories } from './categories.ts'
import { isEvmAddress } from './evm-address.ts'
import { manyOrdersMax } from './limits.ts'
import { CouldNotRun } from './outcomes.ts'
import { printResult, printSummary } from './print-result.ts'
import { runConformance } from './run-checks.ts'
import { runStep } from './run-step.ts'
import type { KitKey, Options } from './wallet-under-test.ts'

export type Flags = {
  network?: string
  coinType?: string
  account: string
  type?: keyof typeof usual
  nonEvm?: true
  authorityKeys?: string[]
  token?: string
  tokenDecimals: string
  spend?: true
  webhookHost: string
  webhookPort?: string
  wait: string
  restartCommand?: string
  backupCommand?: string
  restoreCommand?: string
  many?: string
  only?: string[]
  json?: true
  list?: true
}

/** The families of networks, with the usual name and the coin type of each. */
const usual = {
  evm: { network: 'ethereum', coinType: '60' },
  bitcoin: { network: 'bitcoin', coinType: '0' },
  litecoin: { network: 'litecoin', coinType: '2' },
} as const

/** Exits 0 when no check failed, 1 when one did, 2 when nothing could be checked. */
export async function runCommand(url: string | undefined, flags: Flags): Promise<void> {
  if (flags.list) {
    for (const { checks } of categories) for (const { id, title } of checks) write(`${id}  ${title}\n`)
    return
  }
  const options = await readOptions(url, flags)
  const report = await runConformance(options, flags.only ?? [], {
    note: (text) => void process.stderr.write(`${text}\n`),
    onListening: (listening) => void process.stderr.write(`Listening for deposits on ${listening}\n`),
    onResult: (result) => {
      if (!flags.json) write(printResult(result))
    },
  })
  write(flags.json ? `${JSON.stringify(report, null, 2)}\n` : printSummary(report))
  if (report.failed > 0) process.exitCode = 1
  else if (report.passed === 0) throw new CouldNotRun('Nothing was checked')
}

async function readOptions(url: string | undefined, flags: Flags): Promise<Options> {
  if (url === undefined || !isHttpUrl(url)) throw new CouldNotRun('The URL of the wallet service must be http or https')
  const { network, coinType } = usual[flags.type ?? 'evm']
  const webhookPort = flags.webhookPort === undefined ? null : readWhole('--webhook-port', flags.webhookPort, 0, 65_535)
  return {
    url,
    network: flags.network ?? network,
    coinType: readWhole('--coin-type', flags.coinType ?? coinType, 0, 2 ** 31 - 1),
    account: readWhole('--account', flags.account, 0, 2 ** 31 - 1),
    type: typeOf(flags),
    secret: await askSecret('WALLET_TOKEN'),
    otherSecret: process.env.WALLET_OTHER_TOKEN || null,
    protectedSecret: process.env.WALLET_PROTECTED_TOKEN || null,
    authorityKeys: (flags.authorityKeys ?? []).map(readKey),
    token: flags.token === undefined ? null : readToken(flags.token, flags),
    spend: flags.spend === true,
    webhooks:
      webhookPort === null
        ? null
        : { host: flags.webhookHost, port: webhookPort, secret: await askSecret('WALLET_WEBHOOK_SECRET') },
    waitSeconds: readWhole('--wait', flags.wait, 1, 86_400),
    restart: flags.restartCommand === undefined ? null : () => runStep(flags.restartCommand!),
    backup: readBackup(flags),
    manyOrders: flags.many === undefined ? null : readWhole('--many', flags.many, 1, manyOrdersMax),
  }
}

/** `--non-evm` is what other networks were told before there were families. */
const typeOf = ({ type, nonEvm }: Flags): Options['type'] => type ?? (nonEvm === true ? 'other' : 'evm')

function readBackup({ backupCommand, restoreCommand }: Flags): Options['backup'] {
  if (backupCommand === undefined && restoreCommand === undefined) return null
  if (backupCommand === undefined || restoreCommand === undefined)
    throw new CouldNotRun('--backup-command and --restore-command are given together')
  return { keep: () => runStep(backupCommand), restore: () => runStep(restoreCommand) }
}

/** `ID=FILE`: the id of the key in the authority, and its private key as PEM. */
function readKey(text: string): KitKey {
  const [, id, file] = /^([A-Za-z0-9._:-]+)=(.+)$/.exec(text) ?? []
  if (id === undefined || file === undefined) throw new CouldNotRun('--authority-keys are of the form ID=FILE')
  try {
    const privateKey = createPrivateKey(readFileSync(file))
    if (privateKey.asymmetricKeyType === 'ed25519') return { id, privateKey }
  } catch {
    // The error could quote the file.
  }
  throw new CouldNotRun(`${file} is not a private Ed25519 key in PEM`)
}

function readToken(contract: string, flags: Flags): NonNullable<Options['token']> {
  const type = typeOf(flags)
  if (type === 'bitcoin' || type === 'litecoin') throw new CouldNotRun(`--token: ${type} has no contracts`)
  if (type === 'evm' && !isEvmAddress(contract)) throw new CouldNotRun('--token must be the address of a contract')
  return { contract, decimals: readWhole('--token-decimals', flags.tokenDecimals, 0, 36) }
}

function readWhole(name: string, text: string, min: number, max: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw new CouldNotRun(`${name} must be a whole number from ${min} to ${max}`)
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}

function write(text: string): void {
  process.stdout.write(text)
}
