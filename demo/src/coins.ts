import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WalletConfig } from '@strongroom/wallet'
import {
  type LitecoinNode,
  litecoinProgram,
  localGenesis,
  startLitecoinNode,
  urlOfNode,
} from '@strongroom/wallet/litecoin-node'
import type { Ports } from './ports.ts'

/** The networks that have a node of their own on this machine. One program serves both, with the rules of each. */
export const coins = [
  { network: 'bitcoin', coinType: 0, code: 'BTC', symbol: '₿', name: 'Bitcoin' },
  { network: 'litecoin', coinType: 2, code: 'LTC', symbol: 'Ł', name: 'Litecoin' },
] as const
export type CoinNetwork = (typeof coins)[number]['network']

export const hasNodes = litecoinProgram !== null
export const howToGetNodes =
  'Bitcoin and Litecoin are left out, because litecoind is not installed (on Debian and Ubuntu: apt-get install litecoind)'

type Access = { ports: Ports; password: string }

/** Returns the settings of the networks in the wallet service, which waits for their nodes; no settings without the program. */
export function coinChains({ ports, password }: Access): WalletConfig['chains'] {
  if (!hasNodes) return {}
  return Object.fromEntries(
    coins.map(({ network }) => [
      network,
      {
        type: network,
        rpcUrl: urlOfNode({ port: ports[network], password }),
        genesis: localGenesis,
        startBlock: 0,
        confirmations: 1,
        pollMilliseconds: 500,
        feeRates: { low: 1_000n, medium: 5_000n, high: 20_000n },
        feeRateMax: 500_000n,
        spendMin: 10_000n,
      },
    ]),
  )
}

export const startNode = (dataDir: string, network: CoinNetwork, { ports, password }: Access): LitecoinNode =>
  startLitecoinNode({ directory: join(dataDir, 'chain', network), port: ports[network], password, rules: network })

/** A script that nobody can spend: the rewards of the miner are lost. */
const nobody = Buffer.from('6a', 'hex')
/** A reward can be spent when this many blocks are above it. */
const rewardDepth = 100

/** Pays the first reward of a new chain to an address, and mines until it can be spent. The next start completes what was interrupted. */
export async function fundOnce(node: LitecoinNode, address: string): Promise<void> {
  const height = async () => (await node.rpc.call('getblockcount')) as number
  if ((await height()) === 0) await node.mineTo(address)
  const missing = rewardDepth + 1 - (await height())
  if (missing > 0) await node.mine(missing, nobody)
  await node.save()
}

const lookMilliseconds = 500
/** Payments of the fee level `low` pay less, and wait. What replaces them, and a child that pays for them, pays more. */
const promptRate = 1_200
const patienceSeconds = 300

/** Mines a block for each transaction that pays enough, and for others after minutes, in which people can speed them up or cancel them. */
export async function mineAsPaid(node: LitecoinNode): Promise<never> {
  for (;;) {
    await sleep(lookMilliseconds, undefined, { ref: false })
    // The watcher of the process reports a node that has ended.
    await mineIfPaid(node).catch(() => undefined)
  }
}

async function mineIfPaid(node: LitecoinNode): Promise<void> {
  const now = Date.now() / 1000
  const waiting = await node.listWaiting()
  if (!waiting.some(({ rate, since }) => rate >= promptRate || now - since >= patienceSeconds)) return
  await node.mine(1, nobody)
  await node.save()
}
