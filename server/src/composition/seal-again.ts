import type { Trx } from '../db/client.ts'
import { requireRecordKey } from '../db/record-key.ts'
import { adoptSealingKey, type Resealed, rotateSealingKey, type SealedColumn } from '../db/sealing-key.ts'
import { createRecordKey } from '../lib/record-key.ts'
import { createSealer, originOf, type Place, type Sealer } from '../lib/secrets.ts'
import { authenticateRecords } from '../modules/record/audit/authenticate.ts'
import { audit } from '../modules/record/audit/record.ts'
import { completeSecrets, destinationOfSecrets } from '../modules/rules/change-sets/secrets.ts'
import { readRecordedWallet } from '../modules/vaults/wallets/wallet-settings.ts'

const forWalletService = { context: 't.wallet_service_url', destination: originOf } as const

/** Every column with sealed values. The database demands that each value is sealed under the present key. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    table: 'vaults',
    column: 'wallet_service_secret',
    key: ['id'],
    goesTo: 'the wallet service, at the origin that it is sealed for',
    ...forWalletService,
  },
  {
    table: 'vaults',
    column: 'wallet_webhook_secret',
    key: ['id'],
    goesTo: 'nobody: it verifies what comes from the wallet service, at the origin that it is sealed for',
    ...forWalletService,
  },
  {
    table: 'invitations',
    column: 'token_sealed',
    key: ['vault_id', 'id'],
    goesTo: 'administrators of the vault, which its key names',
  },
  {
    table: 'change_sets',
    column: 'secrets',
    key: ['vault_id', 'id'],
    goesTo: 'the row of the vault, for the origin that is sealed with each',
    context: destinationOfSecrets,
    rewrite: completeSecrets,
  },
  {
    table: 'identity_providers',
    column: 'client_secret',
    key: ['id'],
    goesTo: 'the identity provider, for the origin of the issuer that it is sealed for',
    context: 't.issuer',
    destination: originOf,
  },
  {
    table: 'idempotency_keys',
    column: 'body',
    key: ['caller_id', 'key'],
    goesTo: 'the caller, whom its key names',
  },
]

const target = { type: 'sealing_key', id: null }
const ofPlatform = { vaultId: null, actorId: null }

/**
 * Calls `adoptSealingKey`, and gives a MAC to audit records that have none. If it changed a value or a record, it writes an audit
 * record. Secrets of a vault whose wallet service differs from the recorded wallet service are not sealed again, so that they cannot
 * be opened.
 */
export async function adoptKey(trx: Trx, sealer: Sealer, now: Date): Promise<Resealed> {
  let authenticated = 0
  const before = async () => {
    authenticated = await authenticateRecords(trx, { from: null, to: requireRecordKey(trx) })
    return refuseRepointed(trx)
  }
  const outcome = await adoptSealingKey(trx, sealer, sealedColumns, { now, before })
  const { resealed, unreadable } = outcome
  if (resealed > 0 || authenticated > 0) {
    const keyId = sealer.keyId.toString('hex')
    const details = { resealed, unreadable: unreadable.length, authenticated, keyId }
    await audit(trx, { ...ofPlatform, now }, 'secrets.bound', target, details)
  }
  return outcome
}

async function refuseRepointed(trx: Trx): Promise<(place: Place) => boolean> {
  const repointed = new Set<string>()
  const vaults = await trx.selectFrom('vaults').select(['id', 'wallet_service_url']).execute()
  for (const { id, wallet_service_url } of vaults) {
    const { walletServiceUrl } = await readRecordedWallet(trx, id)
    if (walletServiceUrl !== wallet_service_url) repointed.add(id)
  }
  return ({ table, row }) => table !== 'vaults' || !repointed.has(row[0]!)
}

type Keys = { previous: string; next: string }

/** Calls `rotateSealingKey`, replaces the MACs of the audit records, and records the rotation. `trx` must use the next record key. */
export async function rotateKey(
  trx: Trx,
  { previous, next }: Keys,
  { operator, now }: { operator: string; now: Date },
): Promise<Resealed | null> {
  const sealers = { previous: createSealer(previous), next: createSealer(next) }
  const outcome = await rotateSealingKey(trx, sealers, sealedColumns, now)
  if (outcome === null) return null
  const keys = { from: createRecordKey(previous), to: createRecordKey(next) }
  const authenticated = await authenticateRecords(trx, keys)
  await audit(trx, { ...ofPlatform, now }, 'secrets.rotated', target, {
    operator,
    resealed: outcome.resealed,
    unreadable: outcome.unreadable.length,
    authenticated,
    from: sealers.previous.keyId.toString('hex'),
    to: sealers.next.keyId.toString('hex'),
  })
  return outcome
}
