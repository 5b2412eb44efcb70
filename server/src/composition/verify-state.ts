import type { Db, Trx } from '../db/client.ts'
import { readOr, readSnapshot } from '../db/transaction.ts'
import { differencesNamedMax } from '../lib/limits.ts'
import { verifyCounterparties } from '../modules/address-book/counterparties/verify-counterparties.ts'
import { verifyGroups } from '../modules/address-book/groups/verify-groups.ts'
import { verifyDeposits } from '../modules/money/deposits/verify-deposits.ts'
import { verifyPayouts } from '../modules/money/payouts/compare-payout.ts'
import { verifyScreenings } from '../modules/money/screening/verify-screenings.ts'
import { verifyTransfers } from '../modules/money/transfers/compare-order.ts'
import { verifyCategories } from '../modules/operations/categories/verify-categories.ts'
import { verifyPasskeys } from '../modules/people/passkeys/verify-passkeys.ts'
import { verifyUsers } from '../modules/people/users/verify-users.ts'
import { platformChain } from '../modules/record/audit/record.ts'
import type { SubjectDifference, SubjectReport } from '../modules/record/audit/verify-subjects.ts'
import { verifyNetworks } from '../modules/registry/networks/verify-networks.ts'
import { verifyPlatformChanges } from '../modules/registry/platform-changes/verify-platform-changes.ts'
import { verifyHeldRates, verifyRates } from '../modules/registry/rates/verify-rates.ts'
import { verifyTokens } from '../modules/registry/tokens/verify-tokens.ts'
import { verifyRequests } from '../modules/rules/approval-requests/compare-request-record.ts'
import { verifyHolds } from '../modules/rules/holds/verify-holds.ts'
import { verifyPolicies } from '../modules/rules/policies/verify-policies.ts'
import { verifyMemberships } from '../modules/rules/policy-groups/verify-memberships.ts'
import { verifyRules, verifyVersionNumbers } from '../modules/rules/rules-versions/verify-rules.ts'
import { verifyFolders } from '../modules/vaults/folders/verify-folders.ts'
import { verifyOwners } from '../modules/vaults/grants/verify-owners.ts'
import { listVaultIds } from '../modules/vaults/structure/queries.ts'
import { verifyAddresses } from '../modules/vaults/wallets/verify-addresses.ts'
import { verifyWallet } from '../modules/vaults/wallets/verify-wallet.ts'

type StateReport = { checked: Record<string, number>; differences: SubjectDifference[] }

/** The verifiers that read their own snapshot, by their names in the report. */
const bySubject = {
  transfers: verifyTransfers,
  payouts: verifyPayouts,
  approvalRequests: verifyRequests,
  holds: verifyHolds,
} as const

/** The verifiers that run once, for the platform and all vaults. */
const ofPlatform = {
  deposits: (trx: Trx) => verifyDeposits(trx, new Date()),
  passkeys: verifyPasskeys,
  users: verifyUsers,
  networks: verifyNetworks,
  tokens: verifyTokens,
  rates: verifyRates,
  heldRates: verifyHeldRates,
  platformChanges: verifyPlatformChanges,
  rules: async (trx: Trx) => ({ checked: 0, differences: await verifyVersionNumbers(trx) }),
} as const

/** The verifiers that run vault by vault. */
const perVault = {
  memberships: verifyMemberships,
  policies: verifyPolicies,
  rules: verifyRules,
  walletServices: verifyWallet,
  addresses: verifyAddresses,
  addressOwners: verifyOwners,
  folders: verifyFolders,
  counterparties: verifyCounterparties,
  counterpartyGroups: verifyGroups,
  categories: verifyCategories,
  screenings: verifyScreenings,
} as const

export type StateKind = keyof typeof bySubject | keyof typeof ofPlatform | keyof typeof perVault
export const stateKinds = [
  ...new Set([bySubject, ofPlatform, perVault].flatMap((kinds) => Object.keys(kinds))),
] as StateKind[]

/**
 * Compares the rows on which decisions rest with their audit records. It lists a bounded number of differences of each kind and
 * vault. Rows that cannot be read are a difference, and do not stop the other kinds.
 */
export async function verifyState(db: Db, kinds: readonly StateKind[] = stateKinds): Promise<StateReport> {
  const report: StateReport = { checked: {}, differences: [] }
  const add = (kind: string, { checked, differences }: SubjectReport) => {
    report.checked[kind] = (report.checked[kind] ?? 0) + checked
    report.differences.push(...differences.slice(0, differencesNamedMax))
  }
  const among = <Verify>(verifiers: Record<string, Verify>) =>
    Object.entries(verifiers).filter(([kind]) => kinds.includes(kind as StateKind))
  for (const [kind, verify] of among(bySubject)) add(kind, await verify(db))
  const ofSnapshot = await readSnapshot(db, async (trx) => {
    const found: [kind: string, SubjectReport][] = []
    for (const [kind, verify] of among(ofPlatform))
      found.push([kind, await readable(trx, { kind, chain: platformChain, verify })])
    for (const vaultId of await listVaultIds(trx)) {
      for (const [kind, verifyVault] of among(perVault)) {
        const verify = () => verifyVault(trx, vaultId)
        found.push([kind, await readable(trx, { kind, chain: vaultId, verify })])
      }
    }
    return found
  })
  for (const [kind, found] of ofSnapshot) add(kind, found)
  return report
}

type Verifier = { kind: string; chain: string; verify: (trx: Trx) => Promise<SubjectReport> }

/** Runs a verifier. If it fails, which a value that the service did not write can cause, the failure is returned as a difference. */
function readable(trx: Trx, { kind, chain, verify }: Verifier): Promise<SubjectReport> {
  return readOr(
    trx,
    () => verify(trx),
    (error) => {
      const detail = `they cannot be read: ${error instanceof Error ? error.message : String(error)}`
      return { checked: 0, differences: [{ vaultId: chain, targetType: kind, targetId: chain, detail }] }
    },
  )
}
