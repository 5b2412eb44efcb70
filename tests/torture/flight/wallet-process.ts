import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import pg from 'pg'
import type { Stack } from '../stack.ts'

const database = 'wallet'
export const walletToken = 'a-token-of-the-torture-for-its-wallet'
export const webhookSecret = 'a secret of the torture with enough bytes'
/** Blocks at which a transfer is final. */
const confirmations = 2

type Running = { process: ChildProcess; url: string }

/** The reference wallet as it ships: a process with a database of its own, on the PostgreSQL of the stack. */
export type WalletProcess = {
  /** Of the process that answers; null while it is dead. */
  url(): string | null
  databaseUrl(): string
  // biome-ignore lint/suspicious/noExplicitAny: what a query returns is for its caller to know.
  sql(text: string, values?: unknown[]): Promise<any[]>
  start(): Promise<void>
  kill(): Promise<void>
  /** Stops it where it is; the function that it returns lets it go on. */
  freeze(): () => void
  /** Starts another process beside the present one, which answers from now on. Returns how the earlier one is killed. */
  overtake(): Promise<() => Promise<void>>
  /** @throws when it ended without being killed */
  assertLives(): void
  stop(): Promise<void>
}

type Around = {
  walletDir: string
  stack: Pick<Stack, 'sql' | 'databaseUrl'>
  chainUrl: string
  chainId: number
  webhookUrl: string
  /** Where it listens; a free port of the loopback address when absent. */
  listen?: { host: string; port: number }
}

export async function createWalletProcess({
  walletDir,
  stack,
  chainUrl,
  chainId,
  webhookUrl,
  listen = { host: '127.0.0.1', port: 0 },
}: Around): Promise<WalletProcess> {
  let running: Running | null = null
  await stack.sql(`create database ${database}`)
  const databaseUrl = () => Object.assign(new URL(stack.databaseUrl()), { pathname: `/${database}` }).href
  const launch = () => launchWallet({ walletDir, chainUrl, chainId, webhookUrl, listen, databaseUrl: databaseUrl() })
  const kill = async () => {
    if (running === null) return
    const ended = running
    running = null
    await killProcess(ended)
  }
  return {
    url: () => running?.url ?? null,
    databaseUrl,
    async sql(text, values = []) {
      const client = new pg.Client({ connectionString: databaseUrl() })
      client.on('error', () => {})
      await client.connect()
      try {
        return (await client.query(text, values)).rows
      } finally {
        await client.end()
      }
    },
    async start() {
      running = await launch()
    },
    kill,
    freeze() {
      const { process: child } = running!
      child.kill('SIGSTOP')
      return () => void child.kill('SIGCONT')
    },
    async overtake() {
      const earlier = running!
      running = await launch()
      return () => killProcess(earlier)
    },
    assertLives() {
      const ended = running !== null && (running.process.exitCode ?? running.process.signalCode)
      if (typeof ended === 'number' || typeof ended === 'string')
        throw new Error(`The wallet service ended by itself: ${ended}`)
    },
    stop: kill,
  }
}

type Launch = Required<Omit<Around, 'stack'>> & { databaseUrl: string }

/** Resolves when it answers. @throws when it ends before */
async function launchWallet({
  walletDir,
  chainUrl,
  chainId,
  webhookUrl,
  listen,
  databaseUrl,
}: Launch): Promise<Running> {
  const chain = { rpcUrl: chainUrl, chainId, confirmations, pollMilliseconds: 200, startBlock: 0 }
  const child = fork(join(walletDir, 'bin/strongroom-wallet.js'), ['serve'], {
    execArgv: [],
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: databaseUrl,
      HOST: listen.host,
      PORT: `${listen.port}`,
      WALLET_PASSPHRASE: 'a passphrase of the torture',
      WALLET_CHAINS: JSON.stringify({ ethereum: chain }),
      WEBHOOK_URL: webhookUrl,
      WEBHOOK_SECRET: webhookSecret,
      WALLET_CLIENTS: JSON.stringify([{ name: 'torture', token: walletToken }]),
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The wallet service ended with ${code} while it was starting`)
    }),
  ])) as [{ port: number }]
  return { process: child, url: `http://${listen.host}:${message.port}` }
}

async function killProcess({ process: child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
