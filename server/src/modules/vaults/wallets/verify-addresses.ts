import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { type AccountKey, accountPathOf, addressBelow, faultOfAccountKey } from '../../../lib/account-key.ts'
import { auditVerifyPageSubjectsMax } from '../../../lib/limits.ts'
import { listRecordsOf, replay } from '../../record/audit/queries.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'
import { findNetworksOfVaults } from '../../registry/networks/queries.ts'
import { hashOfXpub, listAccountKeys } from './account-keys.ts'

/**
 * Compares the keys to which the wallet service of a vault is bound with the record, and derives every address of the networks
 * that they bind. Without keys there is nothing to compare.
 */
export async function verifyAddresses(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  const name = (targetType: 'vault' | 'address', targetId: string, detail: string) =>
    differences.push({ vaultId, targetType, targetId, detail })
  const { walletKey, hashes, networks } = await readRecord(trx, vaultId, (detail) => name('vault', vaultId, detail))
  const { wallet_key: present } = await trx
    .selectFrom('vaults')
    .select('wallet_key')
    .where('id', '=', vaultId)
    .executeTakeFirstOrThrow()
  if (present !== walletKey) name('vault', vaultId, 'the key of its wallet service is not the one that was recorded')
  const keys = new Map<string, AccountKey>()
  for (const key of await listAccountKeys(trx, vaultId)) {
    const isRecorded = hashes.get(key.derivationPath) === hashOfXpub(key.xpub)
    const isSigned = walletKey !== null && faultOfAccountKey(key, walletKey) === null
    if (isRecorded && isSigned) keys.set(key.derivationPath, key)
    else name('vault', vaultId, `its key of ${key.derivationPath} is not one that was recorded and signed`)
    hashes.delete(key.derivationPath)
  }
  const bound = await listBound(trx, vaultId)
  for (const network of networks) {
    if (!bound.has(network)) name('vault', vaultId, `addresses of its network ${network} are no longer checked`)
  }
  for (const path of hashes.keys()) name('vault', vaultId, `its key of ${path} is gone`)
  const checked = keys.size === 0 ? 0 : await deriveAll(trx, vaultId, keys, (id, detail) => name('address', id, detail))
  return { checked, differences }
}

/** Returns the networks of the vault whose addresses are checked. */
async function listBound(trx: Trx, vaultId: string): Promise<Set<string>> {
  const networks = await findNetworksOfVaults(trx, [vaultId])
  return new Set(networks.filter(({ address_check }) => address_check === 'derived').map(({ slug }) => slug))
}

type Recorded = { walletKey?: unknown; accountKeys?: { network: string; derivationPath: string; xpubHash: string }[] }

/**
 * Returns the pinned keys according to the record: the key of the wallet service, the hash of the public key of each account, and
 * their networks.
 */
async function readRecord(trx: Trx, vaultId: string, name: (detail: string) => void) {
  let walletKey: string | null = null
  const hashes = new Map<string, string>()
  const networks = new Set<string>()
  const actions = ['vault.locked', 'vault.updated', 'vault.account_key_pinned']
  for await (const { details, fault, id } of replay(trx, vaultId, actions)) {
    if (fault !== null) name(`its audit record ${id}: ${fault}`)
    const recorded = details as Recorded
    if (typeof recorded.walletKey === 'string') walletKey ??= recorded.walletKey
    for (const { network, derivationPath, xpubHash } of recorded.accountKeys ?? []) {
      networks.add(network)
      if (!hashes.has(derivationPath)) hashes.set(derivationPath, xpubHash)
    }
  }
  return { walletKey, hashes, networks }
}

type Stored = { id: string; derivation_path: string; address_key: string; address: string }

/** @returns the number of compared addresses */
async function deriveAll(
  trx: Trx,
  vaultId: string,
  keys: Map<string, AccountKey>,
  name: (id: string, detail: string) => void,
): Promise<number> {
  let checked = 0
  let after = ''
  for (;;) {
    const { rows } = await sql<Stored>`
      select a.id, a.derivation_path, a.address_key, a.address
      from addresses a
      join vault_networks vn on vn.vault_id = a.vault_id and vn.network_id = a.network_id and vn.address_check = 'derived'
      where a.vault_id = ${vaultId} and a.id > ${after}
      order by a.id limit ${auditVerifyPageSubjectsMax}`.execute(trx)
    const keyless: Stored[] = []
    for (const row of rows) {
      const key = keys.get(accountPathOf(row.derivation_path) ?? '')
      if (key === undefined) keyless.push(row)
      else if (!follows(key, row)) name(row.id, `its address does not follow from the key of ${key.derivationPath}`)
    }
    for (const id of await listUnrecorded(trx, vaultId, keyless)) name(id, 'no audit record creates it')
    checked += rows.length
    const last = rows.at(-1)
    if (last === undefined || rows.length < auditVerifyPageSubjectsMax) return checked
    after = last.id
  }
}

/**
 * Returns the addresses that no record creates. Addresses of accounts without a key are older than the keys of the
 * vault, and the record of their creation holds them.
 */
async function listUnrecorded(trx: Trx, vaultId: string, rows: Stored[]): Promise<string[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const records = await listRecordsOf(trx, vaultId, 'address', ids)
  const created = new Map(
    records.flatMap(({ action, targetId, details, fault }) =>
      action === 'address.created' && fault === null ? [[targetId, details as { address?: unknown }]] : [],
    ),
  )
  return rows.filter(({ id, address }) => created.get(id)?.address !== address).map(({ id }) => id)
}

/** Returns true if an address follows from the key. The shown address and the compared key are two columns, and both must match. */
function follows(key: AccountKey, { derivation_path: path, address_key: stored, address }: Stored): boolean {
  const derived = addressBelow(key, path)
  return stored === derived && address.toLowerCase() === derived
}
