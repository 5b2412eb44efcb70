import type pg from 'pg'
import { type Address, erc20Abi } from 'viem'
import { tokenDecimalsMax } from '../limits.ts'
import { isContractFault } from './describe-node-error.ts'
import type { Chain } from './open-chain.ts'

/** Decimals of a token, read once per contract; null when the contract names none that a ledger could use. */
export async function readDecimals(pool: pg.Pool, chain: Chain, contract: Address): Promise<number | null> {
  const { rows } = await pool.query<{ decimals: number }>(
    'select decimals from wallet.token_decimals where network = $1 and contract_address = $2',
    [chain.network, contract],
  )
  if (rows[0]) return usable(rows[0].decimals)
  try {
    const decimals = await chain.client.readContract({ address: contract, abi: erc20Abi, functionName: 'decimals' })
    await pool.query('insert into wallet.token_decimals values ($1, $2, $3) on conflict do nothing', [
      chain.network,
      contract,
      decimals,
    ])
    return usable(decimals)
  } catch (error) {
    if (isContractFault(error)) return null
    throw error
  }
}

const usable = (decimals: number) => (decimals <= tokenDecimalsMax ? decimals : null)
