import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { firstPasskeyMinutes } from '../../../lib/limits.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { isSignedBy } from '../../../lib/signed-vote.ts'
import { type ReplayedRecord, replay } from '../../record/audit/queries.ts'
import { platformChain } from '../../record/audit/record.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'
import { listSignedVotes } from '../../rules/signatures/queries.ts'

/** Returns the hash by which audit records identify a key. */
export const fingerprintOfKey = (key: { credential_id: Buffer; public_key: Buffer }): string =>
  sha256(Buffer.concat([sha256(key.credential_id), sha256(key.public_key)])).toString('hex')

/** The passkeys of people according to the audit records of the platform. */
class Recorded {
  readonly keys = new Map<string, { userId: string; keyHash: unknown; isFirst: boolean }>()
  private readonly counts = new Map<string, number>()
  private readonly allowedAt = new Map<string, Date>()

  take({ action, targetId, details, at }: ReplayedRecord): void {
    const userId = String(details.userId)
    const count = this.counts.get(userId) ?? 0
    if (action === 'passkey.allowed') this.allowedAt.set(userId, at)
    else if (action === 'passkey.added') {
      this.keys.set(targetId, { userId, keyHash: details.keyHash, isFirst: count === 0 && !this.isAllowed(userId, at) })
      this.counts.set(userId, count + 1)
    } else {
      this.keys.delete(targetId)
      this.counts.set(userId, count - 1)
    }
  }

  private isAllowed(userId: string, at: Date): boolean {
    const since = this.allowedAt.get(userId)
    this.allowedAt.delete(userId)
    return since !== undefined && at.getTime() - since.getTime() < firstPasskeyMinutes * 60_000
  }
}

/** Compares the passkeys of all people with the record of the platform, and first passkeys with the records of protected vaults. */
export async function verifyPasskeys(trx: Trx): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  const name = (targetId: string, detail: string) =>
    differences.push({ vaultId: platformChain, targetType: 'passkey', targetId, detail })
  const recorded = new Recorded()
  for await (const record of replay(trx, platformChain, ['passkey.allowed', 'passkey.added', 'passkey.removed'])) {
    const { targetId, fault, id } = record
    if (fault !== null) name(targetId, `its audit record ${id}: ${fault}`)
    else recorded.take(record)
  }
  const stored = await trx
    .selectFrom('passkeys')
    .select(['id', 'user_id', 'credential_id', 'public_key'])
    .orderBy('id')
    .execute()
  const unconfirmed = await listUnconfirmed(trx)
  for (const { id, user_id: userId, ...key } of stored) {
    const known = recorded.keys.get(id)
    recorded.keys.delete(id)
    if (known === undefined) name(id, `no audit record gives it to ${userId}`)
    else if (known.userId !== userId) name(id, `it belongs to ${userId}, and according to the audit records to another`)
    // Older audit records have no hash and name only the person.
    else if (known.keyHash !== undefined && known.keyHash !== fingerprintOfKey(key)) {
      name(id, 'its key is not the one that was added')
    } else if (known.isFirst && unconfirmed.has(id)) {
      name(
        id,
        `it was the first one of ${userId} in a protected vault, and no signed vote of a second person accepts it`,
      )
    }
  }
  for (const id of recorded.keys.keys()) name(id, 'it is recorded, and its row is gone')
  return { checked: stored.length, differences }
}

/** Returns the passkeys that members added while their vault was protected, without the signed vote of a second person there. */
async function listUnconfirmed(trx: Trx): Promise<Set<string>> {
  const unconfirmed = new Set<string>()
  const { rows } = await sql<{ id: string }>`select id from vaults order by id`.execute(trx)
  const accepted = new Set<string>()
  const actions = ['vault.protection_updated', 'approval_request.applied', 'passkey.added']
  for (const { id: vaultId } of rows) {
    let protectedAt: Date | null = null
    for await (const record of replay(trx, vaultId, actions)) {
      const { action, targetId, details, fault, at } = record
      if (fault !== null) continue
      if (action === 'vault.protection_updated') protectedAt = details.after === 'off' ? null : at
      else if (action === 'passkey.added') {
        // The order of records of the same instant is not known: the passkey may have been added before the protection.
        if (protectedAt !== null && protectedAt < at) unconfirmed.add(targetId)
      } else if (details.action === 'passkey_add' && (protectedAt === null || (await isSigned(trx, vaultId, record)))) {
        for (const { resultId } of details.results as { resultId: string }[]) accepted.add(resultId)
      }
    }
  }
  return new Set([...unconfirmed].filter((id) => !accepted.has(id)))
}

/** Returns true if a person other than the owner of the key signed the approval. */
async function isSigned(trx: Trx, vaultId: string, { targetId, details }: ReplayedRecord): Promise<boolean> {
  const { rows } = await sql<{ initiatorId: string }>`
    select initiator_id as "initiatorId" from approval_requests where vault_id = ${vaultId} and id = ${targetId}`.execute(
    trx,
  )
  const votes = await listSignedVotes(trx, vaultId, targetId)
  return votes.some(({ signed, publicKey, rpId, origin }) => {
    const { decision, hash, person } = signed.vote
    const isMeant = decision === 'approve' && hash === details.payloadHash && person !== rows[0]?.initiatorId
    return isMeant && rpId !== null && isSignedBy(signed, { kind: 'passkey', publicKey, rpId, origins: [origin!] })
  })
}
