import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SmtpServer, startSmtpServer } from '../../../server/src/testing/smtp-server.ts'
import { addClient, findClientByName } from '../clients.ts'
import { migrate } from '../database/migrate.ts'
import { openKeyring } from '../keys/keyring.ts'
import { createMailer } from '../mails/mailer.ts'
import { startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase, testPassphrase } from '../testing/database.ts'
import { follow, authority as full, signVote, team } from '../testing/signing.ts'
import { call, testConfig, waitFor } from '../testing/wallet-client.ts'
import { cancelPending } from './cancellation.ts'
import { hashOf, toFingerprint } from './canonical.ts'
import type { Authority } from './documents.ts'
import { pinAuthority, updateAuthority } from './protection.ts'
import { AuthorityStore } from './store.ts'
import { createTeller, untoldWarning } from './tell-contacts.ts'

const { dora, emil } = team
const coin = full.rules[0]!
const around = { chains: new Map(), signingOrigin: null, sendsMail: true }
const contact = (person: string) => ({ person, email: `${person}@example.org` })

let database: TestDatabase
let pool: pg.Pool
let directory: string
let smtp: SmtpServer

beforeAll(async () => {
  ;[database, directory, smtp] = await Promise.all([
    createTestDatabase(),
    mkdtemp(join(tmpdir(), 'told-')),
    startSmtpServer(),
  ])
  pool = new pg.Pool({ connectionString: database.url })
  // Dropping the database ends connections that are being closed.
  pool.on('error', () => undefined)
  await migrate(pool)
})
afterAll(async () => {
  await smtp?.close()
  await pool?.end()
  await database?.drop()
  await rm(directory, { recursive: true, force: true })
})

async function protect(name: string, delayHours: number) {
  await addClient(pool, await openKeyring(pool, testPassphrase), name)
  const clientId = (await findClientByName(pool, name))!
  const contacts = [contact('dora'), contact('anna')]
  const pinned: Authority = { ...full, vaultId: `vault-${name}`, rules: [coin], delayHours, contacts }
  await pinAuthority(pool, new AuthorityStore(directory), clientId, pinned)
  return { clientId, pinned }
}

/** A process of the wallet service that has just started. */
const startTeller = (url = smtp.url) => {
  const mailer = createMailer({ smtpUrl: url, requiresTls: false, from: 'Wallet <wallet@example.org>' })
  return createTeller({ pool, store: new AuthorityStore(directory), mailer, log: pino({ level: 'silent' }) })
}
const take = (clientId: string, next: ReturnType<typeof follow>) =>
  updateAuthority(pool, new AuthorityStore(directory), clientId, next, around)
const received = () => smtp.mails.splice(0)

test('T81 contacts of both versions get one mail each about the pending version, also after refusals and a crash', async () => {
  const { clientId, pinned } = await protect('treasury', 24)
  expect(await startTeller().tell()).toBe(0)
  const next = follow(pinned, { contacts: [contact('anna'), contact('mallory')] }, [dora, emil])
  const { pending } = await take(clientId, next)
  // No mail server answers, and the process ends; the next one is refused the first mail.
  expect(await startTeller('smtp://127.0.0.1:1').tell()).toBe(3)
  smtp.refusals.push(451)
  const teller = startTeller()
  expect(await teller.tell()).toBe(1)
  expect(await teller.tell(new Date(Date.now() + 60_000))).toBe(0)
  expect(await startTeller().tell()).toBe(0)
  const mails = received()
  expect(mails.map(({ to }) => to).sort()).toEqual(['anna@example.org', 'dora@example.org', 'mallory@example.org'])
  for (const { subject, text } of mails) {
    expect(subject).toBe('Version 2 of the authority of treasury was signed and waits')
    expect(text).toContain(toFingerprint(hashOf(next.authority)))
    expect(text).toContain(pending!.inForceAt)
    expect(text).toContain('1 of the group officers')
  }
})

test('T81 several processes send each mail once', async () => {
  const { clientId, pinned } = await protect('several', 24)
  await take(clientId, follow(pinned, { contacts: [contact('anna'), contact('mallory')] }, [dora, emil]))
  expect(await Promise.all(Array.from({ length: 4 }, () => startTeller().tell()))).toEqual([0, 0, 0, 0])
  expect(
    received()
      .map(({ to }) => to)
      .sort(),
  ).toEqual(['anna@example.org', 'dora@example.org', 'mallory@example.org'])
})

test('T81 a version without delay causes a mail, too; a version that was cancelled before the mail was sent does not', async () => {
  const now = await protect('hasty', 0)
  await take(now.clientId, follow(now.pinned, { contacts: [] }, [dora, emil]))
  const late = await protect('cancelled', 24)
  const next = follow(late.pinned, {}, [dora, emil])
  await take(late.clientId, next)
  const about = { subject: 'authority', hash: hashOf(next.authority), authority: hashOf(late.pinned) } as const
  const votes = [signVote(dora, { ...about, decision: 'reject' })]
  await cancelPending(pool, new AuthorityStore(directory), late.clientId, votes)
  expect(await startTeller().tell()).toBe(0)
  const mails = received()
  expect(mails.map(({ to }) => to).sort()).toEqual(['anna@example.org', 'dora@example.org'])
  for (const { text } of mails) expect(text).toContain('Version 2 of the authority of hasty was signed. It is in force')
})

test('T81 the running service mails at once when a version is put', async () => {
  const { clientId, pinned } = await protect('running', 24)
  const token = 'token-of-the-running-client-1'
  await pool.query('update wallet.clients set token_hash = sha256($2::bytea) where id = $1', [clientId, token])
  const mail = { smtpUrl: smtp.url, requiresTls: false, from: 'wallet@example.org' }
  const places = { databaseUrl: database.url, rpcUrl: 'http://127.0.0.1:1', authorityDir: directory }
  const wallet = await startWallet(testConfig({ ...places, clients: [], mail }))
  try {
    const body = follow(pinned, { contacts: [contact('mallory')] }, [dora, emil])
    const answer = await call<{ warning?: string }>(wallet.url, '/authority', { token, body })
    expect([answer.status, answer.body.warning]).toEqual([200, undefined])
    const told = await waitFor('the mails', async () => smtp.mails.length === 3 && received())
    expect(told.map(({ to }) => to).sort()).toEqual(['anna@example.org', 'dora@example.org', 'mallory@example.org'])
  } finally {
    await wallet.stop()
  }
  const silent = await startWallet(testConfig({ ...places, clients: [] }))
  const { body } = await call<{ warning?: string }>(silent.url, '/authority', { token })
  await silent.stop()
  expect(body.warning).toMatch(/^no mail server is set up/)
})

test('T81 the answer warns when no contact can get a mail', async () => {
  const { clientId, pinned } = await protect('quiet', 24)
  const shown = await take(clientId, follow(pinned, {}, [dora, emil]))
  expect(untoldWarning(shown, { sendsMail: true })).toBeNull()
  expect(untoldWarning(shown, { sendsMail: false })).toMatch(/^no mail server is set up/)
  const silent = { ...shown, authority: { ...pinned, contacts: [] } }
  const pending = { ...shown.pending!, authority: silent.authority }
  expect(untoldWarning({ ...silent, pending }, { sendsMail: true })).toMatch(/names contacts/)
  expect(untoldWarning({ ...silent, pending: null }, { sendsMail: false })).toBeNull()
})
