import type { Trx } from './db/client.ts'
import { adoptSealingKey, type Resealed, rotateSealingKey, type SealedColumn } from './db/sealing-key.ts'
import { createSealer, type Sealer } from './lib/secrets.ts'
import { audit } from './modules/record/audit/record.ts'
import { withFingerprints } from './modules/rules/governance/secrets.ts'

/** Every column that holds sealed values. The database demands of each that it is sealed under the present key. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'vaults', column: 'wallet_service_secret', key: ['id'] },
  { table: 'vaults', column: 'wallet_webhook_secret', key: ['id'] },
  { table: 'invitations', column: 'token_sealed', key: ['vault_id', 'id'] },
  { table: 'change_sets', column: 'secrets', key: ['vault_id', 'id'], rewrite: withFingerprints },
  { table: 'idempotency_keys', column: 'body', key: ['caller_id', 'key'] },
]

const target = { type: 'sealing_key', id: null }
const ofPlatform = { vaultId: null, actorId: null }

/** As `adoptSealingKey`, on the record when something of the old format was accepted. */
export async function adoptKey(trx: Trx, sealer: Sealer, now: Date): Promise<Resealed> {
  const outcome = await adoptSealingKey(trx, sealer, sealedColumns, now)
  const { resealed, unreadable } = outcome
  if (resealed > 0) {
    const details = { resealed, unreadable: unreadable.length, keyId: sealer.keyId.toString('hex') }
    await audit(trx, { ...ofPlatform, now }, 'secrets.bound', target, details)
  }
  return outcome
}

type Keys = { previous: string; next: string }

/** As `rotateSealingKey`, on the record. */
export async function rotateKey(
  trx: Trx,
  { previous, next }: Keys,
  { operator, now }: { operator: string; now: Date },
): Promise<Resealed | null> {
  const sealers = { previous: createSealer(previous), next: createSealer(next) }
  const outcome = await rotateSealingKey(trx, sealers, sealedColumns, now)
  if (outcome === null) return null
  await audit(trx, { ...ofPlatform, now }, 'secrets.rotated', target, {
    operator,
    resealed: outcome.resealed,
    unreadable: outcome.unreadable.length,
    from: sealers.previous.keyId.toString('hex'),
    to: sealers.next.keyId.toString('hex'),
  })
  return outcome
}
