import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Logger } from 'pino'
import { mailBackoffMillisecondsMax } from '../limits.ts'
import type { Mail, Mailer } from '../mails/mailer.ts'
import { toFingerprint } from './canonical.ts'
import { cancellingVotes } from './decide.ts'
import { contactsOf } from './delay.ts'
import type { AnyAuthority } from './documents.ts'
import { type AuthorityStore, AuthorityUnavailableError, type Change, type Shown } from './store.ts'

/** The time for which a mail about a version is tried after the version came into force. */
const triedMilliseconds = 7 * 86_400_000

export type Teller = {
  /** Sends the mails that are due, and returns how many could not be sent. */
  tell(now?: Date): Promise<number>
}

type Parts = { pool: pg.Pool; store: AuthorityStore; mailer: Mailer; log: Logger }
type Client = { id: string; name: string }

/**
 * Sends mails about a signed next version to the contacts of the version in force and of the next version. The due mails follow
 * from the files of the authorities, so that a crash loses no mail.
 */
export function createTeller(parts: Parts): Teller {
  const pauses = new Map<string, { failures: number; until: number }>()
  return {
    tell: (now = new Date()) => alone(parts.pool, () => tellAll(now)),
  }

  async function tellAll(now: Date): Promise<number> {
    const { rows } = await parts.pool.query<Client>('select id, name from wallet.clients order by name')
    let failures = 0
    for (const client of rows) {
      for (const { mail, note } of await listReadable(parts, client, now)) {
        if ((pauses.get(mail.id)?.until ?? 0) > now.getTime()) failures += 1
        else if (await isTaken(parts, mail)) {
          await note()
          pauses.delete(mail.id)
        } else {
          failures += 1
          pauses.set(mail.id, pauseAfter(pauses.get(mail.id)?.failures ?? 0, now))
        }
      }
    }
    return failures
  }
}

/** Does nothing while another process sends the mails, so that each contact gets each mail once. */
async function alone(pool: pg.Pool, work: () => Promise<number>): Promise<number> {
  const client = await pool.connect()
  const lock = "hashtextextended('mails about authorities', 0)"
  try {
    const { rows } = await client.query<{ taken: boolean }>(`select pg_try_advisory_lock(${lock}) as taken`)
    if (rows[0]?.taken !== true) return 0
    try {
      return await work()
    } finally {
      await client.query(`select pg_advisory_unlock(${lock})`)
    }
  } finally {
    client.release()
  }
}

function pauseAfter(before: number, now: Date): { failures: number; until: number } {
  const pause = Math.min(1_000 * 2 ** Math.min(before, 20), mailBackoffMillisecondsMax)
  return { failures: before + 1, until: now.getTime() + pause }
}

async function isTaken({ mailer, log }: Parts, mail: Mail): Promise<boolean> {
  try {
    await mailer.send(mail)
    return true
  } catch (error) {
    log.warn({ mail: mail.id, error: (error as Error).message }, 'a mail about an authority could not be sent')
    return false
  }
}

type Due = { mail: Mail; note(): Promise<void> }

async function listDue(store: AuthorityStore, client: Client, now: Date): Promise<Due[]> {
  const due: Due[] = []
  for (const change of await store.listChanges(client.id, now.getTime() - triedMilliseconds)) {
    const { hash } = change.next
    for (const email of recipientsOf(change)) {
      if (await store.told.has(client.id, hash, email)) continue
      const note = () => store.told.note(client.id, hash, email, new Date())
      due.push({ mail: mailOf(client.name, change, email, now), note })
    }
  }
  return due
}

/** An authority that cannot be read stops the orders of its client, but not the mails of other clients. */
async function listReadable({ store, log }: Parts, client: Client, now: Date): Promise<Due[]> {
  try {
    return await listDue(store, client, now)
  } catch (error) {
    if (!(error instanceof AuthorityUnavailableError)) throw error
    log.warn({ client: client.name, error: error.message }, 'no mail about an authority can be sent')
    return []
  }
}

/** Lists the contacts of both versions, so that the people who change the authority do not choose who is notified. */
function recipientsOf({ before, next }: { before: AnyAuthority; next: { authority: AnyAuthority } }): string[] {
  return [...new Set([before, next.authority].flatMap(contactsOf).map(({ email }) => email))]
}

/** Warns where the contacts are not told of the version that waits. Returns null when they are, or none waits. */
export function untoldWarning({ authority, pending }: Shown, { sendsMail }: { sendsMail: boolean }): string | null {
  if (pending === null) return null
  if (!sendsMail)
    return 'no mail server is set up (SMTP_URL), so the wallet service tells nobody of the version that waits'
  if (recipientsOf({ before: authority, next: pending }).length > 0) return null
  return 'neither version names contacts, so the wallet service tells nobody of the version that waits'
}

function mailOf(client: string, { before, next, inForceAt }: Change, to: string, now: Date): Mail {
  const { version, hash } = next
  const isInForce = Date.parse(inForceAt) <= now.getTime()
  const time = isInForce ? `is in force since ${inForceAt}` : `comes into force at ${inForceAt}, unless it is cancelled`
  const { change } = before
  const voters = `${cancellingVotes(before)} of the group ${change.group} of the version before`
  const cancellation = `To cancel it, ${voters} sign a rejection of this fingerprint.`
  const text = [
    `Version ${version} of the authority of ${client} was signed. It ${time}.`,
    `Its fingerprint is\n${toFingerprint(hash)}`,
    'The authority says whose signatures move the funds of the vault. If you do not know of this change, call the others now.',
    ...(isInForce ? [] : [cancellation]),
    `On the machine of the wallet service, "strongroom-wallet authority show" and "pending" print both versions.`,
    'The wallet service sent this mail. It has no links, and asks for no answer.',
  ].join('\n\n')
  return {
    id: `authority-${hash.slice(0, 32)}-${createHash('sha256').update(to).digest('hex').slice(0, 16)}`,
    to,
    subject: `Version ${version} of the authority of ${client} ${isInForce ? 'is in force' : 'was signed and waits'}`,
    text: `${text}\n`,
  }
}
