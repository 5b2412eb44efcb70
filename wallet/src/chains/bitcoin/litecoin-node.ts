import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bitcoin, litecoin } from './parameters.ts'
import { amountOf, NodeOutage, NodeRefusal, openRpc, type Rpc } from './rpc.ts'

export type LitecoinNodeOptions = {
  /** Holds the chain, which survives the process. */
  directory: string
  port: number
  password: string
  rules: 'bitcoin' | 'litecoin'
}

export type LitecoinNode = {
  /** With user and password. */
  url: string
  pid: number
  rpc: Rpc
  /** Resolves when the node answers. @throws when it ends before, or does not answer in time */
  ready(): Promise<void>
  /** Mines blocks that pay a script; it returns their hashes. */
  mine(count: number, script: Uint8Array): Promise<string[]>
  /** Mines a block whose reward the address receives. */
  mineTo(address: string): Promise<void>
  /** Lists the transactions that wait for a block: what each pays for 1,000 virtual bytes, and when it came, in seconds. */
  listWaiting(): Promise<{ rate: number; since: number }[]>
  /** Writes the chain to the disk, so that it survives the end of the process at any moment. */
  save(): Promise<void>
  stop(): Promise<void>
}

/** The program itself: the command of Debian's package is a script that writes into the home directory. */
const program = process.env.LITECOIND ?? '/usr/lib/litecoin/litecoind'
export const litecoinProgram = existsSync(program) ? program : null

/** Hash of the first block of every chain that such a node has. */
export const localGenesis = '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9'

/** The rules of a Bitcoin node on the same program: it replaces by fee, and its dust is a tenth of Litecoin's. */
const rulesOf = {
  litecoin: [],
  bitcoin: ['-mempoolreplacement=1', '-dustrelayfee=0.00003'],
}

const userName = 'local'
export const urlOfNode = ({ port, password }: Pick<LitecoinNodeOptions, 'port' | 'password'>): string =>
  `http://${userName}:${password}@127.0.0.1:${port}/`

/**
 * Starts a node on a chain of its own, with the rules of the network. Blocks pay scripts instead of addresses, so that addresses of the
 * main network can be used.
 */
export function startLitecoinNode(options: LitecoinNodeOptions): LitecoinNode {
  if (litecoinProgram === null) throw new Error('litecoind is not installed')
  const { directory, port, password, rules } = options
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  // In a file, because everybody on the machine reads the arguments of a process.
  const settings = `rpcuser=${userName}\nrpcpassword=${password}\n`
  writeFileSync(join(directory, 'litecoin.conf'), settings, { mode: 0o600 })
  const flags = [
    '-regtest',
    `-datadir=${directory}`,
    '-server',
    `-rpcport=${port}`,
    '-listen=0',
    '-dnsseed=0',
    '-disablewallet',
    '-txindex=1',
    '-dbcache=50',
    // The extension blocks would end mining at block 431: from then on each block needs a transaction into them.
    '-vbparams=mweb:-2:0',
    ...rulesOf[rules],
  ]
  // A process group of its own: Ctrl-C in a terminal must reach the parent process, so that the node ends after those that need it.
  const child = spawn(litecoinProgram, flags, { stdio: 'ignore', detached: true })
  const killWithParent = () => child.kill('SIGKILL')
  process.once('exit', killWithParent)
  let isEnded = false
  const ended = new Promise<void>((resolve) => {
    const note = () => {
      isEnded = true
      process.off('exit', killWithParent)
      resolve()
    }
    child.once('exit', note)
    child.once('error', note)
  })
  const url = urlOfNode(options)
  const rpc = openRpc({ url })
  const mine = async (count: number, script: Uint8Array) =>
    (await rpc.call('generatetodescriptor', [count, descriptorOf(script)])) as string[]
  return {
    url,
    pid: child.pid ?? 0,
    rpc,
    ready: () => untilItAnswers(rpc, () => isEnded),
    mine,
    mineTo: async (address) => void (await mine(1, await scriptOf(address, rules))),
    listWaiting: () => listWaiting(rpc),
    // The node writes everything before it counts its outputs.
    save: async () => void (await rpc.call('gettxoutsetinfo')),
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMilliseconds)
      await ended
      clearTimeout(timer)
    },
  }
}

export const descriptorOf = (script: Uint8Array): string => `raw(${Buffer.from(script).toString('hex')})`

/** The library that reads addresses is loaded by those who need it: it takes a tenth of a second. */
async function scriptOf(address: string, rules: LitecoinNodeOptions['rules']): Promise<Uint8Array> {
  const { readAddress } = await import('./addresses.ts')
  const read = readAddress(address, rules === 'bitcoin' ? bitcoin : litecoin)
  if (read === null) throw new Error(`${address} is not an address of the network`)
  return read.script
}

type WaitingEntry = { vsize: number; time: number; fees: { base: unknown } }

async function listWaiting(rpc: Rpc): Promise<{ rate: number; since: number }[]> {
  const entries = (await rpc.call('getrawmempool', [true])) as Record<string, WaitingEntry>
  return Object.values(entries).map(({ vsize, time, fees }) => ({
    rate: (Number(amountOf(fees.base)) * 1_000) / vsize,
    since: time,
  }))
}

const startTimeoutMilliseconds = 30_000
const stopTimeoutMilliseconds = 5_000

/** A node that starts refuses connections, then answers with the code -28. */
async function untilItAnswers(rpc: Rpc, isEnded: () => boolean): Promise<void> {
  const end = Date.now() + startTimeoutMilliseconds
  while (!isEnded() && Date.now() < end) {
    try {
      await rpc.call('getblockchaininfo')
      return
    } catch (error) {
      if (!(error instanceof NodeOutage) && !(error instanceof NodeRefusal && error.code === -28)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(isEnded() ? 'the node ended while it was starting' : 'the node does not answer')
}
