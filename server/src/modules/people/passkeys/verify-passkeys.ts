import type { Trx } from '../../../db/client.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { platformChain } from '../../record/audit/record.ts'
import { replay } from '../../record/audit/replay.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'

/** What the record holds of a key: another key under the same name is another one. */
export const fingerprintOfKey = ({ credentialId, publicKey }: { credentialId: Buffer; publicKey: Buffer }): string =>
  sha256(Buffer.concat([sha256(credentialId), sha256(publicKey)])).toString('hex')

/** Compares the passkeys of all people with the record of the platform. */
export async function verifyPasskeys(trx: Trx): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  const name = (targetId: string, detail: string) =>
    differences.push({ vaultId: platformChain, targetType: 'passkey', targetId, detail })
  const recorded = new Map<string, { userId: unknown; keyHash: unknown }>()
  for await (const record of replay(trx, platformChain, ['passkey.added', 'passkey.removed'])) {
    const { action, targetId, details, fault, id } = record
    if (fault !== null) name(targetId, `its audit record ${id}: ${fault}`)
    else if (action === 'passkey.added') recorded.set(targetId, { userId: details.userId, keyHash: details.keyHash })
    else recorded.delete(targetId)
  }
  const stored = await trx
    .selectFrom('passkeys')
    .select(['id', 'user_id', 'credential_id', 'public_key'])
    .orderBy('id')
    .execute()
  for (const { id, user_id: userId, credential_id: credentialId, public_key: publicKey } of stored) {
    const known = recorded.get(id)
    recorded.delete(id)
    if (known === undefined) name(id, `no audit record gives it to ${userId}`)
    else if (known.userId !== userId) name(id, `it belongs to ${userId}, and according to the audit records to another`)
    // Records before the hash was written name the person alone.
    else if (known.keyHash !== undefined && known.keyHash !== fingerprintOfKey({ credentialId, publicKey })) {
      name(id, 'its key is not the one that was added')
    }
  }
  for (const id of recorded.keys()) name(id, 'it is recorded, and its row is gone')
  return { checked: stored.length, differences }
}
