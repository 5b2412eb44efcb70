import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createMailer } from '../mail/transport.ts'
import { createTestApp, type TestApp } from '../testing/app.ts'
import { createOutbox, linkIn } from '../testing/outbox.ts'
import { type SmtpServer, startSmtpServer } from '../testing/smtp-server.ts'
import { insertVault } from '../testing/vault-fixture.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function startWithSmtp(): Promise<{ test: TestApp; smtp: SmtpServer }> {
  const smtp = await startSmtpServer()
  cleanups.push(() => smtp.close())
  const test = await createTestApp({ SMTP_URL: smtp.url, MAIL_FROM: 'Vault <vault@example.org>' })
  cleanups.push(() => test.close())
  return { test, smtp }
}

describe('mail by SMTP', () => {
  it('contains a sign-in link that works', async () => {
    const { test, smtp } = await startWithSmtp()
    const person = await test.signIn('first.person@example.org')
    await test.anonymous.post('/auth/magic-link', { email: 'first.person@example.org' })
    await test.sendMails()
    expect(smtp.mails).toHaveLength(1)
    const mail = smtp.mails[0]!
    expect(mail).toMatchObject({
      recipients: ['first.person@example.org'],
      to: 'first.person@example.org',
      subject: 'Your sign-in link for Strongroom',
    })
    expect(mail.source).toMatch(/^From: Vault <vault@example\.org>/m)
    expect(mail.text).toContain('within 10 minutes')
    const token = linkIn(mail).searchParams.get('token')
    const answer = await test.anonymous.post('/auth/magic-link/verify', { token })
    expect(answer.body.user.id).toBe(person.userId)
  })

  it('contains an invitation, whose names cannot contain HTML', async () => {
    const { test, smtp } = await startWithSmtp()
    const admin = await test.signIn('admin@example.org')
    await admin.patch('/users/me', { name: '<img src=x onerror=alert(1)>' })
    const vault = await insertVault(test, 'main-vault', admin)
    await test.deps.db.updateTable('vaults').set({ name: 'A & <b>B</b>' }).where('id', '=', vault.id).execute()
    const groupIds = [vault.administratorsId]
    const { body } = await admin.post('/invitations', { email: 'new@example.org', groupIds })
    await test.sendMails()
    const mail = smtp.mails[0]!
    expect(mail.recipients).toEqual(['new@example.org'])
    expect(linkIn(mail).href).toBe(`http://localhost:8420/sign-in?invitation=${body.token}`)
    expect(mail.text).toContain('A & <b>B</b>')
    // T71 a person can choose their name, but not their e-mail address.
    expect(mail.text.replace(/\s+/g, ' ')).toContain('<img src=x onerror=alert(1)> (admin@example.org) invites you')
    expect(mail.html).toContain('A &amp; &lt;b&gt;B&lt;/b&gt;')
    expect(mail.html).not.toMatch(/<img|<b>/)
  })

  it('is sent again after a temporary refusal, and arrives once', async () => {
    const { test, smtp } = await startWithSmtp()
    await test.signIn('first.person@example.org')
    smtp.refusals.push(451, 451)
    await test.anonymous.post('/auth/magic-link', { email: 'first.person@example.org' })
    await test.sendMails()
    expect(smtp.refusals).toEqual([])
    expect(smtp.mails).toHaveLength(1)
    await test.sendMails()
    expect(smtp.mails).toHaveLength(1)
  })

  it('T70 is not sent in the clear where TLS is required', async () => {
    const smtp = await startSmtpServer()
    cleanups.push(() => smtp.close())
    const mail = {
      id: 'one',
      date: new Date(),
      to: 'a@example.org',
      subject: 'Hello',
      text: 'Hello',
      html: '<p>Hello</p>',
    }
    const config = { smtpUrl: smtp.url, mailFrom: 'vault@example.org', dataDir: '' }
    await expect(createMailer({ ...config, smtpRequiresTls: true }).send(mail)).rejects.toThrow(/STARTTLS|TLS/)
    expect(smtp.mails).toEqual([])
    await createMailer({ ...config, smtpRequiresTls: false }).send(mail)
    expect(smtp.mails).toHaveLength(1)
  })

  it('is given up after a permanent refusal', async () => {
    const { test, smtp } = await startWithSmtp()
    await test.signIn('first.person@example.org')
    smtp.refusals.push(550)
    await test.anonymous.post('/auth/magic-link', { email: 'first.person@example.org' })
    await test.sendMails()
    expect(smtp.mails).toEqual([])
    expect(await test.deps.db.selectFrom('queued_mails').select('id').execute()).toEqual([])
  })

  it('waits in the queue while the server is down', async () => {
    const { test, smtp } = await startWithSmtp()
    await test.signIn('first.person@example.org')
    await smtp.close()
    await test.anonymous.post('/auth/magic-link', { email: 'first.person@example.org' })
    await expect(test.sendMails(2)).rejects.toThrow('Mails still wait')
    const [mail, ...others] = await test.deps.db.selectFrom('queued_mails').selectAll().execute()
    expect(others).toEqual([])
    expect(mail).toMatchObject({ attempts: 2, next_attempt_at: expect.any(Date) })
  })
})

describe('mail in demo mode', () => {
  it('becomes files that sort by time and that only the owner reads', async () => {
    const outbox = await createOutbox()
    cleanups.push(() => outbox.remove())
    const test = await createTestApp({ DATA_DIR: outbox.dataDir })
    cleanups.push(() => test.close())
    for (const email of ['last.person@example.org', 'first.person@example.org']) {
      await test.signIn(email)
      await test.anonymous.post('/auth/magic-link', { email })
      await test.sendMails()
      test.clock.advance(1000)
    }
    expect((await outbox.read()).map((mail) => mail.to)).toEqual([
      'last.person@example.org',
      'first.person@example.org',
    ])
    const names = await readdir(join(outbox.dataDir, 'outbox'))
    for (const name of names) {
      expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-c[0-9a-z]{24}\.eml$/)
      expect((await stat(join(outbox.dataDir, 'outbox', name))).mode & 0o077).toBe(0)
    }
    const token = (await outbox.lastLink('first.person@example.org')).searchParams.get('token')
    expect((await test.anonymous.post('/auth/magic-link/verify', { token })).status).toBe(200)
  })
})
