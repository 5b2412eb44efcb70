import { setTimeout as sleep } from 'node:timers/promises'
import { startAnvil } from '../../../wallet/src/anvil.ts'
import { controlChain } from '../../../wallet/src/testing/local-chain.ts'

type Hex = `0x${string}`
type Transaction = { hash: Hex; from: Hex; to: Hex | null; nonce: Hex; value: Hex }

/** A transaction that the chain has, with addresses in lower case. */
export type Mined = {
  hash: string
  from: string
  to: string
  nonce: number
  value: bigint
  fee: bigint
  failed: boolean
}

/** A local chain that mines only when it is told to. */
export type Chain = {
  url: string
  chainId: number
  /** The account that pays the deposits; its balance is large enough for all of them. */
  faucet: string
  pay(toAddress: string, value: bigint): Promise<string>
  mine(): Promise<void>
  /**
   * Mines blocks at intervals until the returned function is called. A block that cannot be mined is tried again, so
   * that a lost connection to the chain does not end the flow.
   */
  flow(): () => Promise<void>
  /** Every transaction of every block so far. */
  readMined(): Promise<Mined[]>
  /** The number of the newest block, and the number of transactions that wait for a block. */
  readHead(): Promise<{ height: number; waiting: number }>
  balanceOf(address: string): Promise<bigint>
  transactionsOf(address: string): Promise<number>
  stop(): Promise<void>
}

const blockMilliseconds = 300
const flowMillisecondsMax = 20_000
const faucetFunds = 10n ** 30n

export async function startChain(): Promise<Chain> {
  const anvil = await startAnvil()
  const { rpc, mine, setAutomine, setBalance } = controlChain(anvil.rpcUrl)
  const [faucet] = (await rpc<string[]>('eth_accounts')) as [string]
  await setBalance(faucet, faucetFunds)
  await setAutomine(false)
  const mined: Mined[] = []
  let read = 0
  return {
    url: anvil.rpcUrl,
    chainId: anvil.chainId,
    faucet,
    pay: (to, value) => rpc<string>('eth_sendTransaction', [{ from: faucet, to, value: `0x${value.toString(16)}` }]),
    mine,
    flow() {
      const ended = new AbortController()
      const flowing = (async () => {
        let minedAt = performance.now()
        while (!ended.signal.aborted) {
          try {
            await mine()
            minedAt = performance.now()
          } catch (error) {
            if (performance.now() - minedAt > flowMillisecondsMax) throw error
          }
          await sleep(blockMilliseconds)
        }
      })()
      // The function that ends the flow throws the error.
      flowing.catch(() => {})
      return async () => {
        ended.abort()
        await flowing
      }
    },
    async readMined() {
      const height = Number(await rpc<Hex>('eth_blockNumber'))
      for (; read < height; read += 1) {
        const block = `0x${(read + 1).toString(16)}`
        const { transactions } = await rpc<{ transactions: Transaction[] }>('eth_getBlockByNumber', [block, true])
        if (transactions.length === 0) continue
        const receipts = await rpc<{ transactionHash: Hex; status: Hex; gasUsed: Hex; effectiveGasPrice: Hex }[]>(
          'eth_getBlockReceipts',
          [block],
        )
        const receiptOf = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]))
        for (const { hash, from, to, nonce, value } of transactions) {
          const { status, gasUsed, effectiveGasPrice } = receiptOf.get(hash)!
          mined.push({
            hash,
            from: from.toLowerCase(),
            to: to?.toLowerCase() ?? '',
            nonce: Number(nonce),
            value: BigInt(value),
            fee: BigInt(gasUsed) * BigInt(effectiveGasPrice),
            failed: status !== '0x1',
          })
        }
      }
      return mined
    },
    async readHead() {
      const { pending } = await rpc<{ pending: Hex }>('txpool_status')
      return { height: Number(await rpc<Hex>('eth_blockNumber')), waiting: Number(pending) }
    },
    balanceOf: async (address) => BigInt(await rpc<Hex>('eth_getBalance', [address, 'latest'])),
    transactionsOf: async (address) => Number(await rpc<Hex>('eth_getTransactionCount', [address, 'latest'])),
    stop: () => anvil.stop(),
  }
}
