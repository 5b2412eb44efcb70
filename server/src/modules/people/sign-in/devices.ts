import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { newSecret, sha256 } from '../../../lib/secrets.ts'
import { networkOf } from '../../../lib/sender.ts'

/** The device that a request to sign in comes from. */
export type Device = {
  /** Browsers are recognised by a cookie, programs by their name and the network of their requests. */
  kind: 'browser' | 'program'
  userAgent: string | null
  ip: string
  /** The device cookie of the request. */
  cookie: string | null
}

/** Returns true if the person of an e-mail address signed in with this device cookie before. */
export async function isDeviceOf(db: Db | Trx, email: string, cookie: string): Promise<boolean> {
  const row = await db
    .selectFrom('known_devices as d')
    .innerJoin('users as u', 'u.id', 'd.user_id')
    .select('d.user_id')
    .where('d.device_hash', '=', hashOfCookie(cookie))
    .where('u.email', '=', email)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Records that a person signs in from a device. `cookie` is the cookie to set in a browser, null for a program. A cookie with which
 * this person has not signed in before is replaced: another site of the same domain may have set it, and would know it. If it is the
 * cookie of other people, they share this browser, which stays known to them by the new cookie.
 */
export async function noteDevice(
  trx: Trx,
  userId: string,
  device: Device,
  now: Date,
): Promise<{ hash: Buffer; cookie: string | null; isNew: boolean }> {
  const known = device.cookie === null ? 'nobody' : await knownTo(trx, userId, device.cookie)
  const isBrowser = device.kind === 'browser' || known !== 'nobody'
  const cookie = isBrowser ? (known === 'person' ? device.cookie! : newSecret()) : null
  const hash = cookie === null ? hashOfProgram(device) : hashOfCookie(cookie)
  if (known === 'others') await renewCookie(trx, hashOfCookie(device.cookie!), hash)
  const { rows } = await sql<{ is_new: boolean }>`
    insert into known_devices as d (device_hash, user_id, last_seen_at)
    values (${hash}, ${userId}, ${now})
    on conflict (device_hash, user_id) do update set last_seen_at = excluded.last_seen_at
    returning xmax = 0 as is_new`.execute(trx)
  return { hash, cookie, isNew: rows[0]!.is_new }
}

export async function forgetDevice(trx: Trx, userId: string, hash: Buffer | null): Promise<void> {
  if (hash === null) return
  await trx.deleteFrom('known_devices').where('device_hash', '=', hash).where('user_id', '=', userId).execute()
}

/** Forgets the devices of a person, except the device of the session that is kept. */
export async function forgetDevicesOf(trx: Trx, userId: string, keptSessionId: string | null): Promise<void> {
  await sql`
    delete from known_devices d where d.user_id = ${userId}
      and not exists (select from sessions s where s.id = ${keptSessionId} and s.device_hash = d.device_hash)`.execute(
    trx,
  )
}

/** Says who signed in with a device cookie before: this person (and possibly others), only others, or nobody. */
async function knownTo(trx: Trx, userId: string, cookie: string): Promise<'person' | 'others' | 'nobody'> {
  const { rows } = await sql<{ is_theirs: boolean | null }>`
    select bool_or(user_id = ${userId}) as is_theirs from known_devices where device_hash = ${hashOfCookie(cookie)}`.execute(
    trx,
  )
  const isTheirs = rows[0]!.is_theirs
  return isTheirs === null ? 'nobody' : isTheirs ? 'person' : 'others'
}

/** Replaces the cookie of a browser for the people who share it, and for their sessions. */
async function renewCookie(trx: Trx, old: Buffer, renewed: Buffer): Promise<void> {
  await sql`
    with moved as (update known_devices set device_hash = ${renewed} where device_hash = ${old} returning user_id)
    update sessions s set device_hash = ${renewed} from moved where s.user_id = moved.user_id and s.device_hash = ${old}`.execute(
    trx,
  )
}

/** Returns the hash of a cookie. The hashed text includes the kind, so that the name of a program cannot equal a cookie. */
export const hashOfCookie = (cookie: string): Buffer => sha256(JSON.stringify(['cookie', cookie]))
const hashOfProgram = ({ userAgent, ip }: Device): Buffer =>
  sha256(JSON.stringify(['program', userAgent, networkOf(ip)]))

/** The browsers, in the order of their tests: most User-Agent headers also name other browsers, so that the first match counts. */
const browsers: [name: string, version: RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d{1,4})/],
  ['Opera', /\bOPR\/(\d{1,4})/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d{1,4})/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d{1,4})/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d{1,4})/],
  ['Safari', /\bVersion\/(\d{1,4}).*\bSafari\//],
]

const systems: [name: string, mark: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac(?:intosh| OS X)\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]

/**
 * Returns a User-Agent header in a form for people, such as `Firefox 128 on Linux` or `curl/8.5.0`, without any free
 * text of the header.
 */
export function describeAgent(userAgent: string | null): string {
  const text = userAgent ?? ''
  const system = systems.find(([, mark]) => mark.test(text))?.[0]
  for (const [name, pattern] of browsers) {
    const version = pattern.exec(text)?.[1]
    if (version !== undefined) return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`
  }
  // The pattern matches a product and its version (RFC 9110, 10.1.5). The name has no dots, because mail programs make
  // links of host names.
  return /^[A-Za-z][\w-]{0,39}(?:\/\d[\w.-]{0,19})?(?=$|[\s(])/.exec(text)?.[0] ?? 'an unknown program'
}
