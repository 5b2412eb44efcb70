import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendNotifications } from '../../../jobs/send-notifications.ts'
import { createTestApp, type TestApp } from '../../../testing/app.ts'
import { Authenticator } from '../../../testing/authenticator.ts'
import { authorityAnswer } from '../../../testing/fake-authority.ts'
import { addMember, createVaultFixture, type VaultFixture } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { type SmtpServer, startSmtpServer } from '../../../testing/smtp-server.ts'
import { watchAuthorities } from './watch-authorities.ts'

let app: TestApp
let smtp: SmtpServer
let vault: VaultFixture
const key = new Authenticator('https://sign.example.org')

beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await createTestApp({ SMTP_URL: smtp.url, MAIL_FROM: 'Vault <vault@example.org>' })
  vault = await createVaultFixture(app)
  await addMember(app, vault, 'member@example.org')
  await createVaultFixture(app, { code: 'other-vault', adminEmail: 'stranger@example.org' })
  await app.deps.db.updateTable('vaults').set({ protection: 'votes' }).where('id', '=', vault.id).execute()
  // Delivers the mails about the new members of the vault first.
  await mailsAfterWatch()
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})

const versionOf = (version: number, previous: string | null) =>
  authorityAnswer(vault.id, [{ person: vault.admin.userId, key }], version, {
    previous,
    change: { group: 'treasurers', votes: 3 },
    trustsServicePage: version > 1,
  })

/** Returns the mails that are due after two nodes have looked at the wallet service at once. */
async function mailsAfterWatch() {
  smtp.mails.length = 0
  await Promise.all([watchAuthorities(app.deps), watchAuthorities(app.deps)])
  app.clock.advance(61_000)
  await sendNotifications(app.deps)
  return smtp.mails.toSorted((a, b) => a.to.localeCompare(b.to))
}

const inOneLine = (text: string) => text.replace(/\s+/g, ' ')
const people = ['member@example.org', 'operator@example.org']

test('T81 all members are mailed about a version that waits, once and when it is seen first', async () => {
  const present = versionOf(1, null)
  vault.wallet.authority = present
  expect(await mailsAfterWatch()).toEqual([])

  const inForceAt = '2027-02-01T09:30:00.000Z'
  const signedBy = [vault.admin.userId, 'somebody-unknown']
  const next = { ...versionOf(2, present.hash), inForceAt, signedBy }
  vault.wallet.authority = { ...present, pending: next }
  const mails = await mailsAfterWatch()
  expect(mails.map(({ to }) => to)).toEqual(people)
  for (const { subject, text } of mails) {
    expect(subject).toBe('Changes to the vault Main vault')
    expect(inOneLine(text)).toContain('Version 2 of the authority of the wallet service is signed and waits.')
    for (const fact of [next.hash, inForceAt, '2 of treasurers', 'trusts the pages of this service: true'])
      expect(inOneLine(text)).toContain(fact)
    // No person offered it in this service. The wallet service showed it and names its signers.
    expect(text).toContain('By: "the wallet service of this vault"')
    expect(text).not.toContain('Strongroom itself')
    const people = JSON.stringify(['operator (operator@example.org)', 'somebody-unknown'])
    expect(inOneLine(text)).toContain(`signed by, as the wallet service says: ${people}`)
  }
  expect(await mailsAfterWatch()).toEqual([])

  // The version after a cancelled one is mailed again.
  const other = { ...authorityAnswer(vault.id, [], 2, { previous: present.hash }), inForceAt }
  vault.wallet.authority = { ...present, pending: other }
  expect((await mailsAfterWatch()).map(({ text }) => text.includes(other.hash))).toEqual([true, true])
})

test('T81 nodes that see a version at the same time wait for each other, and one of them tells the members', async () => {
  const { db } = app.deps
  const present = versionOf(1, null)
  const next = authorityAnswer(vault.id, [], 2, { previous: present.hash, delayHours: 5 })
  vault.wallet.authority = { ...present, pending: { ...next, inForceAt: '2027-02-01T09:30:00.000Z' } }
  const sent = await db.transaction().execute(async (trx) => {
    await trx.selectFrom('authority_marks').selectAll().where('vault_id', '=', vault.id).forUpdate().execute()
    const mails = mailsAfterWatch()
    await untilSessionsWait(db, 2)
    return { mails }
  })
  expect((await sent.mails).map(({ to }) => to)).toEqual(people)
})

test('T81 all members are mailed though the database has a record of the mail that the service did not write', async () => {
  const present = versionOf(1, null)
  const next = authorityAnswer(vault.id, [], 2, { previous: present.hash, delayHours: 7 })
  const { numAffectedRows } = await sql`
    insert into audit_records (chain, id, action, target_type, target_id, created_at, content, hash, mac)
    select chain, 'a-forged-record', action, target_type, target_id, created_at, c.content, sha256(convert_to(c.content, 'utf8')), mac
    from audit_records, replace(content, content::jsonb #>> '{details,hash}', ${next.hash}) as c(content)
    where action = 'vault.authority_pending' order by audit_records.id limit 1`.execute(app.deps.db)
  expect(numAffectedRows).toBe(1n)
  vault.wallet.authority = { ...present, pending: { ...next, inForceAt: '2027-02-01T09:30:00.000Z' } }
  expect((await mailsAfterWatch()).map(({ to }) => to)).toEqual(people)
  expect(await mailsAfterWatch()).toEqual([])
})

test('T59 all members are mailed when the authority goes back', async () => {
  const present = versionOf(1, null)
  vault.wallet.authority = versionOf(2, present.hash)
  await mailsAfterWatch()
  vault.wallet.authority = present
  const mails = await mailsAfterWatch()
  expect(mails.map(({ to }) => to)).toEqual(people)
  expect(inOneLine(mails[0]!.text)).toContain('nobody should sign before people have compared the fingerprint')
  expect(mails[0]!.text).toContain(present.hash)
  expect(mails[0]!.text).toContain('By: "the wallet service of this vault"')
  expect(await mailsAfterWatch()).toEqual([])
})
