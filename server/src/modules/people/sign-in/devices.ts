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
 * Records that a person signs in from a device. `cookie` is the cookie to set in a browser, null for a program. A cookie that
 * this service did not issue is replaced: another site of the same domain may have set it, and would know it.
 */
export async function noteDevice(
  trx: Trx,
  userId: string,
  device: Device,
  now: Date,
): Promise<{ hash: Buffer; cookie: string | null; isNew: boolean }> {
  const isIssued = device.cookie !== null && (await isKnownCookie(trx, device.cookie))
  const isBrowser = device.kind === 'browser' || isIssued
  const cookie = isBrowser ? (isIssued ? device.cookie! : newSecret()) : null
  const hash = cookie === null ? hashOfProgram(device) : hashOfCookie(cookie)
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

async function isKnownCookie(trx: Trx, cookie: string): Promise<boolean> {
  const row = await trx
    .selectFrom('known_devices')
    .select('user_id')
    .where('device_hash', '=', hashOfCookie(cookie))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
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
