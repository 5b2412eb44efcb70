import type { Hex } from 'viem'

export const gwei = 10n ** 9n

/** Formats a quantity as Ethereum's JSON-RPC does: hexadecimal without leading zeros. */
export const hex = (value: bigint): Hex => `0x${value.toString(16)}`

/** Sends a request to an Ethereum node. Throws if the node refuses it. */
export async function call<Result>(rpcUrl: string, method: string, params: unknown[]): Promise<Result> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  })
  const { result, error } = (await response.json()) as { result: Result; error?: { message: string } }
  if (error) throw new Error(`the local chain refuses ${method}: ${error.message}`)
  return result
}
