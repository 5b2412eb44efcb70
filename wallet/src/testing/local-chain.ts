import { type Hex, toHex } from 'viem'

/** Returns the commands of a local chain that mines only on command. */
export function controlChain(rpcUrl: string) {
  async function rpc<T = unknown>(method: string, params: unknown[] = []): Promise<T> {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
    if (error) throw new Error(error.message)
    return result
  }

  /** Mines one block, with this base fee if there is one. */
  async function mine(baseFee?: bigint): Promise<void> {
    if (baseFee !== undefined) await rpc('anvil_setNextBlockBaseFeePerGas', [toHex(baseFee)])
    await rpc('evm_mine')
  }

  return {
    rpc,
    mine,
    setAutomine: (isOn: boolean) => rpc('evm_setAutomine', [isOn]),
    /** Removes the transaction from the pool, as if the node had been replaced. */
    drop: (hash: string) => rpc('anvil_dropTransaction', [hash]),
    send: (raw: string) => rpc<Hex>('eth_sendRawTransaction', [raw]),
    setBalance: (address: string, coins: bigint) => rpc('anvil_setBalance', [address, toHex(coins)]),
  }
}

export type LocalChain = ReturnType<typeof controlChain>
