import type { Deps } from '../../deps.ts'
import { walletOfVault } from '../wallet-service/client.ts'
import { listTokenSums } from './queries.ts'
import { verifyLedger } from './verify.ts'

const balancesAtOnceMax = 8

/** Holds the books of a vault against themselves and against the chain, as the wallet service reports it. */
export async function reconcileVault(deps: Deps, vaultId: string) {
  const { differences } = await verifyLedger(deps.db, vaultId)
  const sums = await listTokenSums(deps.db, vaultId)
  const tokens = []
  for (const sum of sums) {
    const onChain = await sumOnChain(deps, vaultId, sum.addresses)
    tokens.push({
      token: { id: sum.token_id, code: sum.code, network: sum.network, decimals: sum.decimals },
      sumOfPostings: sum.sum_of_postings,
      cached: sum.cached,
      recomputed: sum.recomputed,
      onChain: onChain?.toString() ?? null,
      difference: onChain === null ? null : (onChain - BigInt(sum.cached)).toString(),
      outstandingFees: sum.outstanding_fees,
    })
  }
  return {
    vaultId,
    checkedAt: deps.clock().toISOString(),
    differences: differences.map(({ kind, detail }) => ({ kind, detail })),
    tokens,
  }
}

async function sumOnChain(
  deps: Deps,
  vaultId: string,
  addresses: { address: string; contract: string | null; network: string }[],
): Promise<bigint | null> {
  try {
    const wallet = await walletOfVault(deps, vaultId)
    let sum = 0n
    for (let i = 0; i < addresses.length; i += balancesAtOnceMax) {
      const asked = addresses.slice(i, i + balancesAtOnceMax).map((one) => wallet.getBalance(one))
      for (const { balance } of await Promise.all(asked)) sum += BigInt(balance)
    }
    return sum
  } catch (error) {
    deps.log.warn({ err: error, vaultId }, 'the wallet service did not report every balance')
    return null
  }
}
