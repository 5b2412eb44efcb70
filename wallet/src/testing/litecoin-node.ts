import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NodeOutage, NodeRefusal, openRpc, type Rpc } from '../chains/bitcoin/rpc.ts'

export type LitecoinNode = {
  /** With user and password. */
  url: string
  rpc: Rpc
  /** Mines blocks that pay a script; it returns their hashes. */
  mine(count: number, script: Uint8Array): Promise<string[]>
  /** Mines one block with exactly these transactions, in this order. */
  mineOnly(script: Uint8Array, transactions: string[]): Promise<string>
  stop(): Promise<void>
}

/** The program itself: the command of Debian's package is a script that writes into the home directory. */
const programs = [process.env.LITECOIND, '/usr/lib/litecoin/litecoind']
export const litecoinProgram = programs.find((path) => path !== undefined && existsSync(path)) ?? null

/** The rules of a Bitcoin node on the same program: it replaces by fee, and its dust is a tenth of Litecoin's. */
const rulesOf = {
  litecoin: [],
  bitcoin: ['-mempoolreplacement=1', '-dustrelayfee=0.00003'],
}

/**
 * Starts a node on a chain of its own, with the rules of the network. Blocks pay scripts instead of addresses, so that tests can
 * use addresses of the main network.
 */
export async function startLitecoinNode(rules: keyof typeof rulesOf): Promise<LitecoinNode> {
  if (litecoinProgram === null) throw new Error('litecoind is not installed')
  const directory = await mkdtemp(join(tmpdir(), 'litecoin-node-'))
  const port = await freePort()
  const password = randomBytes(16).toString('hex')
  const options = [
    '-regtest',
    `-datadir=${directory}`,
    '-server',
    `-rpcport=${port}`,
    '-rpcuser=test',
    `-rpcpassword=${password}`,
    '-listen=0',
    '-dnsseed=0',
    '-disablewallet',
    '-txindex=1',
    '-dbcache=50',
    // The extension blocks would end mining at block 431: from then on each block needs a transaction into them.
    '-vbparams=mweb:-2:0',
    ...rulesOf[rules],
  ]
  const child = spawn(litecoinProgram, options, { stdio: 'ignore' })
  const killWithParent = () => child.kill('SIGKILL')
  process.once('exit', killWithParent)
  child.once('exit', () => process.off('exit', killWithParent))
  const url = `http://test:${password}@127.0.0.1:${port}/`
  const rpc = openRpc({ url })
  const stop = async () => {
    await end(child)
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await untilItAnswers(rpc, child)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url,
    rpc,
    stop,
    mine: async (count, script) => (await rpc.call('generatetodescriptor', [count, descriptorOf(script)])) as string[],
    async mineOnly(script, transactions) {
      const { hash } = (await rpc.call('generateblock', [descriptorOf(script), transactions])) as { hash: string }
      return hash
    },
  }
}

const descriptorOf = (script: Uint8Array) => `raw(${Buffer.from(script).toString('hex')})`

const startTimeoutMilliseconds = 30_000

/** A node that starts refuses connections, then answers with the code -28. */
async function untilItAnswers(rpc: Rpc, child: ChildProcess): Promise<void> {
  const end = Date.now() + startTimeoutMilliseconds
  while (child.exitCode === null && Date.now() < end) {
    try {
      await rpc.call('getblockchaininfo')
      return
    } catch (error) {
      if (!(error instanceof NodeOutage) && !(error instanceof NodeRefusal && error.code === -28)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`the node did not start (code ${child.exitCode})`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(timer)
}
