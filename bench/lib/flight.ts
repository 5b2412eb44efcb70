import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../../server/src/db/client.ts'
import { startAnvil } from '../../wallet/src/anvil.ts'
import type { WalletConfig } from '../../wallet/src/config.ts'
import { controlChain, type LocalChain } from '../../wallet/src/testing/local-chain.ts'
import { type ChainProxy, startChainProxy } from './chain-proxy.ts'
import { type Stack, webhookSecret } from './stack.ts'
import { createCaller, signIn, type World } from './world.ts'

const walletToken = 'a-token-of-the-bench-for-its-wallet'
const coin = 10n ** 18n
/** The gas limit of a block, as on Ethereum: a block has room for some 1,200 transfers. */
const blockGas = '0x1c9c380'

/** A vault whose wallet service is the reference wallet, on a local chain that mines only on command. */
export type Flight = {
  chain: LocalChain
  /**
   * Mines an empty block: its gas limit is one unit below the gas of a transaction, so that waiting transactions do not
   * fit.
   */
  mineEmptyBlock(): Promise<void>
  /** Mines blocks until no transaction waits. */
  mineAll(): Promise<void>
  proxy: ChainProxy
  vault: string
  initiator: string
  addresses: { id: string }[]
  call: World['call']
  /** Process ids by name, for CPU time. */
  pids: Record<'node' | 'wallet' | 'chain' | 'PostgreSQL', number>
  close(): Promise<void>
}

export async function startFlight(stack: Stack, addressesCount: number): Promise<Flight> {
  const anvil = await startAnvil()
  const proxy = await startChainProxy(anvil.rpcUrl)
  const wallet = await startWalletProcess({
    databaseUrl: stack.databaseUrl,
    passphrase: 'a passphrase of the bench',
    logLevel: 'error',
    port: 0,
    host: '127.0.0.1',
    chains: { ethereum: { rpcUrl: proxy.url, chainId: anvil.chainId, confirmations: 1, pollMilliseconds: 1_000 } },
    webhookUrl: `http://127.0.0.1:${stack.port}/webhooks/wallet`,
    webhookSecret,
    clients: [{ name: 'bench', token: walletToken }],
  })
  const chain = controlChain(anvil.rpcUrl)
  const setBlockGas = (gas: string) => chain.rpc('evm_setBlockGasLimit', [gas])
  await setBlockGas(blockGas)
  const call = createCaller(stack)
  const { initiator } = await setUp(stack, call, wallet.url)
  const addresses = await fundAddresses(stack, { call, initiator, chain, count: addressesCount })
  await chain.setAutomine(false)
  const postmaster = readFileSync(join(stack.settings.DATA_DIR!, 'postgres/postmaster.pid'), 'utf8')
  return {
    ...{ chain, proxy, vault: 'flight', initiator, addresses, call },
    pids: { node: stack.nodePid, wallet: wallet.pid, chain: anvil.pid, PostgreSQL: Number(postmaster.split('\n')[0]) },
    async mineEmptyBlock() {
      await setBlockGas('0x5207')
      await chain.mine()
      await setBlockGas(blockGas)
    },
    async mineAll() {
      const waiting = async () => Number((await chain.rpc<{ pending: string }>('txpool_status', [])).pending)
      while ((await waiting()) > 0) await chain.mine()
    },
    async close() {
      await wallet.stop()
      await proxy.stop()
      await anvil.stop()
    },
  }
}

async function startWalletProcess(config: WalletConfig) {
  const child = fork(fileURLToPath(new URL('serve-wallet.js', import.meta.url)), { execArgv: [] })
  child.send(config)
  const [url] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The wallet service ended with ${code} while it was starting`)
    }),
  ])) as [string]
  return {
    url,
    pid: child.pid!,
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function setUp(stack: Stack, call: World['call'], walletUrl: string): Promise<{ initiator: string }> {
  const { db } = openDatabase({ url: stack.databaseUrl, onError: () => {} })
  const [admin, initiator] = await signIn(db, 2)
  await db.destroy()
  const as = (method: string, path: string, body: object) => call(admin!.token, method, path, body)
  await as('POST', '/vaults', {
    vault: { code: 'flight', name: 'Flight', walletServiceUrl: walletUrl, walletServiceSecret: walletToken },
    routes: {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      purpose: { order: 1, name: 'Purpose', variants: [{ id: 1, code: 'ops', name: 'Operations' }] },
      index: { order: 2, name: 'Index', dynamic: true },
    },
  })
  const ether = { network: 'ethereum', code: 'ETH', symbol: 'ETH', name: 'Ether', decimals: 18, contractAddress: null }
  await as('POST', '/tokens', ether)
  await as('POST', '/vaults/flight/lock', {})
  const group = { code: 'treasury', name: 'Treasury' }
  const { id } = (await as('POST', '/vaults/flight/policy-groups', group)) as { id: string }
  await as('POST', `/policy-groups/${id}/members`, { userId: initiator!.userId })
  for (const actionType of ['create_address', 'transfer']) {
    const code = actionType.replace('_', '-')
    await as('POST', `/policy-groups/${id}/policies`, { code, name: code, actionType, effect: 'allow' })
  }
  return { initiator: initiator!.token }
}

type Funding = { call: World['call']; initiator: string; chain: LocalChain; count: number }

/** Gives each address the same share of the balance of the chain's first account. */
async function fundAddresses(stack: Stack, { call, initiator, chain, count }: Funding): Promise<{ id: string }[]> {
  const body = { network: 'ethereum', segments: { purpose: 'ops' }, token: 'ETH' }
  const addresses: { id: string; address: string }[] = []
  const [faucet] = await chain.rpc<string[]>('eth_accounts')
  const value = `0x${((9_000n * coin) / BigInt(count)).toString(16)}`
  while (addresses.length < count) {
    const made = (await call(initiator, 'POST', '/vaults/flight/addresses', body)) as { id: string; address: string }
    await chain.rpc('eth_sendTransaction', [{ from: faucet, to: made.address, value }])
    addresses.push(made)
  }
  for (;;) {
    const [found] = await stack.sql<{ count: number }>('select count(*)::int from deposits')
    if (found!.count === count) return addresses
    await sleep(100)
  }
}
