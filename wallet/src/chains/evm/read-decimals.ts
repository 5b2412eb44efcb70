import type pg from 'pg'
import { type Address, encodeFunctionData, erc20Abi, hexToBigInt, size, slice } from 'viem'
import { tokenDecimalsMax } from '../../limits.ts'
import type { Node } from './node.ts'
import { isExecutionFault } from './node-faults.ts'

/** Reads the decimals of a token, once per contract; null when the contract reports no decimals that a ledger could use. */
export async function readDecimals(pool: pg.Pool, chain: Node, contract: Address): Promise<number | null> {
  const { rows } = await pool.query<{ decimals: number }>(
    'select decimals from wallet.token_decimals where network = $1 and contract_address = $2',
    [chain.network, contract],
  )
  if (rows[0]) return rows[0].decimals
  const decimals = await askContract(chain, contract)
  if (decimals === null) return null
  await pool.query('insert into wallet.token_decimals values ($1, $2, $3) on conflict do nothing', [
    chain.network,
    contract,
    decimals,
  ])
  return decimals
}

/** Anyone can send tokens of a contract that uses all the gas it gets; this is enough for an honest contract, including proxies. */
const gasMax = 200_000n

/** Returns null only for a failure of the contract itself, which is final. @throws when the node does not answer */
async function askContract(chain: Node, contract: Address): Promise<number | null> {
  try {
    const call = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' })
    const { data = '0x' } = await chain.client.call({ to: contract, data: call, gas: gasMax })
    if (size(data) < 32) return null
    const decimals = hexToBigInt(slice(data, 0, 32))
    return decimals <= BigInt(tokenDecimalsMax) ? Number(decimals) : null
  } catch (error) {
    if (isExecutionFault(error)) return null
    throw error
  }
}
