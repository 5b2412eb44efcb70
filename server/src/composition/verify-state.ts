import type { Db } from '../db/client.ts'
import { readSnapshot } from '../db/transaction.ts'
import { differencesNamedMax } from '../lib/limits.ts'
import { verifyCounterparties } from '../modules/address-book/counterparties/verify-counterparties.ts'
import { verifyDeposits } from '../modules/money/deposits/verify-deposits.ts'
import { verifyPayouts } from '../modules/money/payouts/compare-record.ts'
import { verifyTransfers } from '../modules/money/transfers/compare-record.ts'
import { verifyCategories } from '../modules/operations/categories/verify-categories.ts'
import { verifyPasskeys } from '../modules/people/passkeys/verify-passkeys.ts'
import { verifyUsers } from '../modules/people/users/verify-users.ts'
import type { SubjectDifference, SubjectReport } from '../modules/record/audit/verify-subjects.ts'
import { verifyTokens } from '../modules/registry/tokens/verify-tokens.ts'
import { verifyRequests } from '../modules/rules/approval-requests/compare-record.ts'
import { verifyRules, verifyVersionNumbers } from '../modules/rules/governance/verify-rules.ts'
import { verifyHolds } from '../modules/rules/holds/verify-holds.ts'
import { verifyMemberships } from '../modules/rules/policies/verify-memberships.ts'
import { verifyPolicies } from '../modules/rules/policies/verify-policies.ts'
import { verifyOwners } from '../modules/vaults/addresses/verify-owners.ts'
import { listVaultIds } from '../modules/vaults/vaults/queries.ts'
import { verifyAddresses } from '../modules/vaults/vaults/verify-addresses.ts'
import { verifyWallet } from '../modules/vaults/vaults/verify-wallet.ts'

export type StateReport = { checked: Record<string, number>; differences: SubjectDifference[] }

/** What is verified vault by vault, by what it is called in the report. */
const perVault = {
  memberships: verifyMemberships,
  policies: verifyPolicies,
  rules: verifyRules,
  walletServices: verifyWallet,
  addresses: verifyAddresses,
  addressOwners: verifyOwners,
  counterparties: verifyCounterparties,
  categories: verifyCategories,
} as const

/**
 * Compares the tables that decide with what their audit records make of them. Lists a bounded number of differences of each
 * kind and vault.
 */
export async function verifyState(db: Db): Promise<StateReport> {
  const report: StateReport = { checked: {}, differences: [] }
  const add = (kind: string, { checked, differences }: SubjectReport) => {
    report.checked[kind] = (report.checked[kind] ?? 0) + checked
    report.differences.push(...differences.slice(0, differencesNamedMax))
  }
  add('transfers', await verifyTransfers(db))
  add('payouts', await verifyPayouts(db))
  add('approvalRequests', await verifyRequests(db))
  add('holds', await verifyHolds(db))
  await readSnapshot(db, async (trx) => {
    add('deposits', await verifyDeposits(trx, new Date()))
    add('passkeys', await verifyPasskeys(trx))
    add('users', await verifyUsers(trx))
    add('tokens', await verifyTokens(trx))
    add('rules', { checked: 0, differences: await verifyVersionNumbers(trx) })
    for (const vaultId of await listVaultIds(trx)) {
      for (const [kind, verify] of Object.entries(perVault)) add(kind, await verify(trx, vaultId))
    }
  })
  return report
}
