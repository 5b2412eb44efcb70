import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashOf } from './authority/canonical.ts'
import type { Authority } from './authority/documents.ts'
import { pinAuthority, updateAuthority } from './authority/protection.ts'
import { AuthorityStore } from './authority/store.ts'
import { addClient, findClientByName } from './clients.ts'
import { migrate } from './database/migrate.ts'
import { examine } from './doctor.ts'
import { openKeyring } from './keys/keyring.ts'
import { createTestDatabase, type TestDatabase, testPassphrase } from './testing/database.ts'
import { authority, follow, team } from './testing/signing.ts'

/** An authority about which the doctor has no warning. */
const sound = { ...authority, rules: authority.rules.slice(0, 1), trustsServicePage: false, delayHours: 24 }
const around = { chains: new Map(), sendsMail: true }

let database: TestDatabase
let pool: pg.Pool
let directory: string
/** Roles belong to the whole server, which other tests use too. */
const role = `doctor_${randomBytes(6).toString('hex')}`

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url })
  directory = await mkdtemp(join(tmpdir(), 'doctor-'))
  await migrate(pool)
  const keyring = await openKeyring(pool, testPassphrase)
  await addClient(pool, keyring, 'guarded')
  await addClient(pool, keyring, 'plain')
  await pinAuthority(pool, new AuthorityStore(directory), (await findClientByName(pool, 'guarded'))!, sound)
})

afterAll(async () => {
  await pool.query(`drop owned by ${role}`).catch(() => undefined)
  await pool.query(`drop role if exists ${role}`)
  await pool?.end()
  await database?.drop()
  await rm(directory, { recursive: true, force: true })
})

const warnings = async (place: Partial<Parameters<typeof examine>[1]> = {}) => {
  const findings = await examine(pool, { databaseUrl: database.url, authorityDir: directory, around, ...place })
  return findings.filter(({ isRight }) => !isRight).map(({ sentence }) => sentence)
}

test('T58 the doctor says when the service shares credentials, the server or the database', async () => {
  const elsewhere = 'postgres://service:another-password@db.example.org/strongroom'
  const before = await warnings({ serviceDatabaseUrl: elsewhere })
  expect(before.filter((sentence) => !sentence.includes('superuser'))).toEqual([
    'plain is not protected: the bearer secret alone moves its funds',
  ])
  expect(await warnings()).toContain(
    'SERVICE_DATABASE_URL is not set, so the credentials of the service were not compared',
  )
  const same = await warnings({ serviceDatabaseUrl: database.url })
  expect(same).toContain('the service uses the same role on the same database server')
  expect(same).toContain('the service uses the same database server, so its superuser may write orders')
  await pool.query('create table public.audit_seals (id int)')
  await pool.query(`create role ${role} login`)
  await pool.query(`grant usage on schema wallet to ${role}; grant insert on wallet.transfers to ${role}`)
  const shared = await warnings({ serviceDatabaseUrl: elsewhere })
  expect(shared).toContain('the service keeps its tables in the same database; give the wallet service one of its own')
  expect(shared).toContain(`other roles may write orders: ${role}`)
})

test('T59 the doctor says when an authority cannot be used, or its directory is open to others', async () => {
  await chmod(directory, 0o777)
  expect(await warnings()).toContain('AUTHORITY_DIR may be written by others than its owner')
  await chmod(directory, 0o700)
  const unmounted = await warnings({ authorityDir: join(directory, 'unmounted') })
  expect(unmounted).toContain('AUTHORITY_DIR is not a directory that can be read')
  expect(unmounted).toContain('guarded: the client is protected, and its authority file is missing')
  expect(await warnings({ authorityDir: undefined })).toContain(
    'guarded: the client is protected, and AUTHORITY_DIR is not set',
  )
})

test('T81 the doctor names the rights that an authority in force, or a pending version, gives to others', async () => {
  const protect = async (name: string, changes: Partial<Authority>) => {
    await addClient(pool, await openKeyring(pool, testPassphrase), name)
    const clientId = (await findClientByName(pool, name))!
    const pinned = { ...sound, ...changes }
    await pinAuthority(pool, new AuthorityStore(directory), clientId, pinned)
    return { clientId, pinned }
  }
  const of = async (name: string, place: Partial<Parameters<typeof examine>[1]> = {}) =>
    (await warnings(place))
      .filter((sentence) => sentence.startsWith(`${name}: `))
      .map((sentence) => sentence.slice(name.length + 2))
  await protect('trusting', { trustsServicePage: true })
  expect(await of('trusting')).toEqual([
    expect.stringMatching(/^its authority trusts the page of the service .*have another one signed$/),
  ])
  await protect('hasty', { delayHours: 0 })
  expect(await of('hasty')).toEqual([expect.stringMatching(/^a next version comes into force at once/)])
  await protect('untold', { contacts: [] })
  expect(await of('untold')).toEqual(['nobody is told of a next version: its authority names no contacts'])
  await protect('scaled', { rules: [{ ...sound.rules[0]!, decimals: 6 }] })
  expect(await of('scaled')).toEqual(['DECIMALS_DIFFER: the coin on ethereum has 18 decimals, not 6'])
  const { clientId, pinned } = await protect('changing', {})
  expect(await of('changing')).toEqual([])
  expect(await of('changing', { around: { ...around, sendsMail: false } })).toEqual([
    'nobody is told of a next version: no mail server is set up (SMTP_URL)',
  ])
  const next = follow(pinned, { trustsServicePage: true }, [team.dora, team.emil])
  const shown = await updateAuthority(pool, new AuthorityStore(directory), clientId, next, {
    ...around,
    signingOrigin: null,
  })
  expect(await of('changing')).toEqual([
    `version 2 waits, and comes into force at ${shown.pending!.inForceAt}; to cancel it, 1 of the group officers sign ` +
      `\`reject\` on ${hashOf(next.authority)}: strongroom-wallet authority cancel changing VOTES_FILE`,
  ])
})
