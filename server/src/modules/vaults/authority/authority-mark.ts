import { type Selectable, sql } from 'kysely'
import { isEveryone } from '../../../access/memberships.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { AuthorityMarks } from '../../../db/types.ts'
import type { Deps } from '../../../deps.ts'
import { isRecorded } from '../../record/audit/queries.ts'
import { audit } from '../../record/audit/record.ts'
import { announceVaultChange, type ChangeInWords, nameSubjects } from '../../record/notifications/announce.ts'
import type { AuthorityDocument } from '../../registry/wallet-service/answers.ts'

/** The authority that the wallet service shows now; null when it has none. */
type Shown = { version: number; hash: string; previous: string | null } | null
type Mark = Selectable<AuthorityMarks>
type Marking = Pick<Deps, 'db' | 'log' | 'clock'>

/** The sentence that operators and members read about an authority that went back. */
export const fallenSentence =
  'The wallet service shows an older authority than before, or another one of the same number; nothing is handed over to it'

/**
 * Remembers the highest version of the authority of a vault, and compares it with the version that the wallet service
 * shows now. The wallet service cannot notice when all of its files were restored together, so this service does.
 * @returns true if it is the version that was seen last, or a version that follows
 */
export async function noteAuthority(deps: Marking, vaultId: string, found: AuthorityDocument | null): Promise<boolean> {
  const isPresent = await noteVersion(deps, vaultId, found)
  if (isPresent && found?.pending) await notePending(deps, vaultId, found)
  return isPresent
}

/** Tells the members about a waiting version when it is first seen. The mark is locked, so that one node tells them. */
async function notePending({ db, clock }: Marking, vaultId: string, found: AuthorityDocument): Promise<void> {
  const pending = found.pending!
  if (await isAnnounced(db, vaultId, pending)) return
  await inTransaction(db, async (trx) => {
    await findMark(trx, vaultId, { isLocked: true })
    if (!(await isAnnounced(trx, vaultId, pending)))
      await announcePending(trx, { vaultId, now: clock() }, found, pending)
  })
}

async function noteVersion(deps: Marking, vaultId: string, found: AuthorityDocument | null): Promise<boolean> {
  const shown = found && { ...found, previous: found.authority.previous ?? null }
  const known = await findMark(deps.db, vaultId)
  if (isNoted(known, shown)) return known === undefined || known.alarm_since === null
  return inTransaction(deps.db, async (trx) => {
    const mark = await findMark(trx, vaultId, { isLocked: true })
    if (isNoted(mark, shown)) return mark === undefined || mark.alarm_since === null
    const isFallen = mark !== undefined && isBehind(mark, shown)
    if (isFallen) await raiseAlarm(trx, deps, { vaultId, mark, shown })
    else if (shown !== null) await keepHighest(trx, vaultId, shown, deps.clock())
    return !isFallen
  })
}

/** Returns true if the row already holds this state, so that nothing must be written. */
function isNoted(mark: Mark | undefined, shown: Shown): boolean {
  if (mark === undefined) return shown === null
  const noted = mark.alarm_since === null ? [mark.version, mark.hash] : [mark.shown_version, mark.shown_hash]
  return Number(noted[0]) === (shown?.version ?? 0) && noted[1] === (shown?.hash ?? null)
}

/**
 * Returns true if the shown version does not follow the noted one. The next version must name the hash of the previous
 * one; across a gap in the numbers this cannot be checked.
 */
export function isBehind({ version, hash }: Pick<Mark, 'version' | 'hash'>, shown: Shown): boolean {
  if (shown === null) return true
  const ahead = shown.version - Number(version)
  if (ahead === 0) return shown.hash !== hash
  return ahead < 0 || (ahead === 1 && shown.previous !== hash)
}

async function keepHighest(trx: Trx, vaultId: string, { version, hash }: NonNullable<Shown>, now: Date) {
  const noAlarm = { shown_version: null, shown_hash: null, alarm_since: null }
  await trx
    .insertInto('authority_marks')
    .values({ vault_id: vaultId, version, hash, seen_at: now, ...noAlarm })
    .onConflict((conflict) =>
      conflict
        .column('vault_id')
        .doUpdateSet({ version, hash, seen_at: now, ...noAlarm })
        .where('authority_marks.version', '<=', String(version)),
    )
    .execute()
  await record(trx, 'vault.authority_seen', { vaultId, now }, { version, hash })
}

type Alarm = { vaultId: string; mark: Mark; shown: Shown }

async function raiseAlarm(trx: Trx, { log, clock }: Marking, { vaultId, mark, shown }: Alarm): Promise<void> {
  const now = clock()
  const shownNow = { version: shown?.version ?? 0, hash: shown?.hash ?? null }
  await trx
    .updateTable('authority_marks')
    .set({ shown_version: shownNow.version, shown_hash: shownNow.hash, alarm_since: mark.alarm_since ?? now })
    .where('vault_id', '=', vaultId)
    .execute()
  const details = { from: { version: Number(mark.version), hash: mark.hash }, shown: shownNow }
  await announceFall(trx, { vaultId, now }, details)
  log.error({ vaultId, ...details }, fallenSentence)
}

type At = { vaultId: string; now: Date }

const record = (trx: Trx, action: string, { vaultId, now }: At, details: Record<string, unknown>) =>
  audit(trx, { vaultId, actorId: null, now }, action, { type: 'vault', id: vaultId }, details)

async function findMark(db: Db | Trx, vaultId: string, { isLocked = false } = {}): Promise<Mark | undefined> {
  const marks = db.selectFrom('authority_marks').selectAll().where('vault_id', '=', vaultId)
  return await (isLocked ? marks.forUpdate() : marks).executeTakeFirst()
}

/** Returns the mark of a vault whose authority was noted. */
export async function getMark(db: Db, vaultId: string): Promise<Mark> {
  return (await findMark(db, vaultId))!
}

export const toMark = ({ version, hash, seen_at, alarm_since }: Mark) => ({
  highest: { version: Number(version), hash, seenAt: seen_at.toISOString() },
  alarmSince: alarm_since?.toISOString() ?? null,
})

/** Returns the authority that the wallet service showed last. */
export const toShown = ({ version, hash, shown_version, shown_hash, alarm_since }: Mark) => ({
  version: Number(alarm_since === null ? version : shown_version),
  hash: alarm_since === null ? hash : shown_hash,
  alarmSince: alarm_since?.toISOString() ?? null,
})

/** Returns the time since when the wallet service shows an authority that is behind; null without an alarm. */
export async function findAlarm(db: Db | Trx, vaultId: string): Promise<Date | null> {
  return (await findMark(db, vaultId))?.alarm_since ?? null
}

type Acceptance = { code: string; fingerprint: string; reason: string; operator: string; now: Date }

/**
 * Accepts the shown authority of a vault, after people have compared its fingerprint.
 * @throws when there is no alarm, or the fingerprint is not that of the shown authority
 */
export async function acceptAuthority(trx: Trx, { code, fingerprint, reason, operator, now }: Acceptance) {
  const vault = await trx.selectFrom('vaults').select('id').where('code', '=', code).executeTakeFirst()
  if (vault === undefined) throw new Error(`There is no vault ${JSON.stringify(code)}`)
  const mark = await findMark(trx, vault.id, { isLocked: true })
  if (mark?.alarm_since == null) throw new Error(`The wallet service of ${code} shows the authority that was seen last`)
  const shown = mark.shown_hash ?? 'none'
  if (fingerprint.length < 4 || !shown.startsWith(fingerprint))
    throw new Error(`The fingerprint of what the wallet service shows begins with ${shown.slice(0, 8)}`)
  const at = { vaultId: vault.id, now }
  const from = { version: Number(mark.version), hash: mark.hash }
  const to = { version: Number(mark.shown_version), hash: mark.shown_hash }
  await trx.deleteFrom('authority_marks').where('vault_id', '=', vault.id).execute()
  if (to.hash !== null) {
    const empty = { shown_version: null, shown_hash: null, alarm_since: null }
    const row = { vault_id: vault.id, version: to.version, hash: to.hash, seen_at: now, ...empty }
    await trx.insertInto('authority_marks').values(row).execute()
  }
  await record(trx, 'vault.authority_accepted', at, { from, to, reason, operator })
}

/**
 * The waiting version of an authority, which mails to all members of its vault describe: its keys decide about every
 * payment of the vault.
 */
type Pending = NonNullable<AuthorityDocument['pending']>

const pendingAction = 'vault.authority_pending'

/** Returns true if the members already got the mail about the version. */
function isAnnounced(db: Db | Trx, vaultId: string, { hash }: Pending): Promise<boolean> {
  return isRecorded(db, vaultId, { action: pendingAction, targetId: vaultId, hash })
}

/** Announces a waiting version, while it can be cancelled. */
async function announcePending(trx: Trx, at: At, inForce: AuthorityDocument, pending: Pending): Promise<void> {
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

/** Announces that an authority went back. */
async function announceFall(trx: Trx, at: At, { from, shown }: { from: Seen; shown: Seen }): Promise<void> {
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
