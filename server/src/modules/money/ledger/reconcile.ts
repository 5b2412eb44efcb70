import type { Static } from 'typebox'
import type { Deps } from '../../../deps.ts'
import { reconciliationCallsMilliseconds } from '../../../lib/limits.ts'
import { isSilence } from '../../registry/wallet-service/client.ts'
import { walletOfVault } from '../../vaults/vaults/wallet-settings.ts'
import { listTokenSums } from './queries.ts'
import type { Reconciliation } from './schema.ts'
import { verifyLedger } from './verify.ts'

const balancesAtOnceMax = 8

/** Compares the ledger of a vault with itself and with the chain, as the wallet service reports it. */
export async function reconcileVault(
  deps: Deps,
  vaultId: string,
  callerId: string,
): Promise<Static<typeof Reconciliation>> {
  const { differences, sums } = await deps.slowReads.inTurn(callerId, async (db) => ({
    ...(await verifyLedger(db, vaultId)),
    sums: await listTokenSums(db, vaultId),
  }))
  const asking = { deadline: AbortSignal.timeout(reconciliationCallsMilliseconds), isUnreachable: false }
  const tokens = []
  for (const sum of sums) {
    const onChain = await sumOnChain(deps, vaultId, sum.addresses, asking)
    tokens.push({
      token: { id: sum.token_id, code: sum.code, network: sum.network, decimals: sum.decimals },
      sumOfPostings: sum.sum_of_postings,
      cached: sum.cached,
      exposure: sum.exposure,
      recomputed: sum.recomputed,
      onChain: onChain?.toString() ?? null,
      difference: onChain === null ? null : (onChain - BigInt(sum.cached) + BigInt(sum.exposure)).toString(),
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

/** null when the wallet service did not report every balance; after one failed request no more are sent. */
async function sumOnChain(
  deps: Deps,
  vaultId: string,
  addresses: { address: string; contract: string | null; network: string }[],
  asking: { deadline: AbortSignal; isUnreachable: boolean },
): Promise<bigint | null> {
  if (asking.isUnreachable) return null
  try {
    const wallet = await walletOfVault(deps, vaultId)
    let sum = 0n
    for (let i = 0; i < addresses.length; i += balancesAtOnceMax) {
      const asked = addresses.slice(i, i + balancesAtOnceMax).map((one) => wallet.getBalance(one, asking.deadline))
      for (const { balance } of await Promise.all(asked)) sum += BigInt(balance)
    }
    return sum
  } catch (error) {
    deps.log.warn({ err: error, vaultId }, 'the wallet service did not report every balance')
    asking.isUnreachable = isSilence(error)
    return null
  }
}
