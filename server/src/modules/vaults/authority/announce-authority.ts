import { sql } from 'kysely'
import { isEveryone } from '../../../access/memberships.ts'
import type { Trx } from '../../../db/client.ts'
import { listRecordsOf } from '../../record/audit/queries.ts'
import { announceVaultChange, type ChangeInWords, nameSubjects } from '../../record/notifications/announce.ts'
import type { AuthorityDocument } from '../../registry/wallet-service/answers.ts'

/** Mails to all members about the authority of their vault: the keys that decide what leaves it. */

type Pending = NonNullable<AuthorityDocument['pending']>
type At = { vaultId: string; now: Date }

export const pendingAction = 'vault.authority_pending'

/** Returns true if the members were told of the version already. */
export async function isAnnounced(trx: Trx, vaultId: string, { hash }: Pending): Promise<boolean> {
  const records = await listRecordsOf(trx, vaultId, 'vault', [vaultId])
  return records.some(({ action, details }) => action === pendingAction && details.hash === hash)
}

/** Tells of a version that waits, while it can be cancelled. */
export async function announcePending(trx: Trx, at: At, inForce: AuthorityDocument, pending: Pending): Promise<void> {
  const { version, hash, authority, signedBy = [] } = pending
  const { change } = inForce.authority
  const inForceAt = new Date(pending.inForceAt).toISOString()
  const nameOf = await nameSubjects(trx, null, signedBy)
  await announce(trx, at, pendingAction, {
    details: { version, hash, inForceAt },
    sentence: `Version ${version} of the authority of the wallet service is signed and waits`,
    after: {
      'in force at': inForceAt,
      fingerprint: hash,
      'signed by, as the wallet service says': signedBy.map(nameOf),
      'signatures that cancel it': `${Math.max(1, change.votes - 1)} of ${change.group}`,
      'trusts the pages of this service': authority.trustsServicePage ?? true,
    },
  })
}

type Seen = { version: number; hash: string | null }

/** Tells of an authority that went back. */
export async function announceFall(trx: Trx, at: At, { from, shown }: { from: Seen; shown: Seen }): Promise<void> {
  const details = { from, shown }
  const sentence =
    'The wallet service shows an older authority than before, or another one of the same number. Nothing is handed over to it, ' +
    'and nobody should sign before people have compared the fingerprint'
  await announce(trx, at, 'vault.authority_fell', {
    details,
    sentence,
    before: { authority: from },
    after: { authority: shown },
  })
}

async function announce(
  trx: Trx,
  { vaultId, now }: At,
  action: string,
  { details, ...words }: ChangeInWords & { details: Record<string, unknown> },
): Promise<void> {
  const by = 'the wallet service of this vault'
  const subject = { targetType: 'vault', targetId: vaultId } as const
  const event = { vaultId, actorId: null, now, action, ...subject, details, words: { ...words, by } }
  await announceVaultChange(trx, event, { groupIds: [await findEveryone(trx, vaultId)] })
}

async function findEveryone(trx: Trx, vaultId: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select g.id from policy_groups g where g.vault_id = ${vaultId} and ${isEveryone('g')}`.execute(trx)
  return rows[0]!.id
}
