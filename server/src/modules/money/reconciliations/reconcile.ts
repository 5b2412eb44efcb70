import type { Static } from 'typebox'
import type { Deps } from '../../../deps.ts'
import { differingAddressesMax, reconciliationCallsMilliseconds } from '../../../lib/limits.ts'
import { listTokenSums } from '../ledger/queries.ts'
import type { Reconciliation } from '../ledger/schema.ts'
import { verifyLedger } from '../verifications/verify-ledger.ts'
import { type ChainBalance, unexplained, walkBalances } from './chain-balances.ts'

/** Compares the ledger of a vault with itself and, address by address, with the chain, as the wallet service reports it. */
export async function reconcileVault(
  deps: Deps,
  vaultId: string,
  callerId: string,
): Promise<Static<typeof Reconciliation>> {
  const { differences, sums } = await deps.slowReads.inTurn(callerId, async (db) => ({
    ...(await verifyLedger(db, vaultId)),
    sums: await listTokenSums(db, vaultId),
  }))
  const { onChain: sumsOnChain, addresses } = await compareAddresses(deps, vaultId)
  const tokens = sums.map((sum) => {
    const sumOnChain = sumsOnChain.get(sum.token.id)
    const onChain = sumOnChain === undefined ? 0n : sumOnChain
    const difference = onChain === null ? null : onChain - BigInt(sum.cached) + BigInt(sum.exposure)
    return { ...sum, onChain: onChain?.toString() ?? null, difference: difference?.toString() ?? null }
  })
  return {
    vaultId,
    checkedAt: deps.clock().toISOString(),
    differences: differences.map(({ kind, detail }) => ({ kind, detail })),
    tokens,
    addresses,
  }
}

type Compared = { onChain: Map<string, bigint | null>; addresses: Static<typeof Reconciliation>['addresses'] }

/** Returns the balances on chain per token, null where a balance is missing, and the first addresses that differ. */
async function compareAddresses(deps: Deps, vaultId: string): Promise<Compared> {
  const signal = AbortSignal.timeout(reconciliationCallsMilliseconds)
  const compared: Compared = { onChain: new Map(), addresses: [] }
  for await (const { page } of walkBalances(deps, vaultId, { after: null, deadline: () => signal })) {
    for (const balance of page) {
      const { tokenId, onChain } = balance
      const sum = compared.onChain.get(tokenId)
      compared.onChain.set(tokenId, onChain === null || sum === null ? null : (sum ?? 0n) + onChain)
      const difference = onChain === null ? 0n : unexplained(balance, onChain)
      if (difference !== 0n && compared.addresses.length < differingAddressesMax) {
        compared.addresses.push(toDifference(balance, onChain!, difference))
      }
    }
  }
  return compared
}

const toDifference = ({ addressId, address, held, ...token }: ChainBalance, onChain: bigint, difference: bigint) => ({
  addressId,
  address,
  token: { id: token.tokenId, code: token.code, network: token.network, decimals: token.decimals },
  inBooks: held.toString(),
  onChain: onChain.toString(),
  difference: difference.toString(),
})
