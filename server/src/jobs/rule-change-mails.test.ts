import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { addMember, createPolicy, createVaultFixture, ensureGroup, type VaultFixture } from '../testing/fixtures.ts'
import { parseMail } from '../testing/outbox.ts'
import { sendNotifications } from './send-notifications.ts'

let test: TestApp
let vault: VaultFixture
let admin: Person
let second: Person
let approver: Person
let policyId: string
let approversId: string
let outbox: string

beforeAll(async () => {
  test = await createTestApp()
  outbox = join(test.deps.config.dataDir, 'outbox')
  vault = await createVaultFixture(test)
  admin = vault.admin
  second = await addMember(test, vault, 'second@example.org', ['administrators'])
  approver = await addMember(test, vault, 'approver@example.org', ['approvers'])
  await addMember(test, vault, 'member@example.org')
  await createVaultFixture(test, { code: 'other-vault', adminEmail: 'stranger@example.org' })
  approversId = await ensureGroup(vault, 'approvers')
  const policy = await createPolicy(vault, {
    code: 'large',
    name: 'Large <b>transfers</b>',
    actionType: 'transfer',
    effect: 'requireApproval',
    approvalThreshold: 2,
    approvers: [
      { kind: 'group', groupId: approversId },
      { kind: 'group', groupId: vault.groups.administrators },
    ],
  })
  policyId = policy.id
})
afterAll(() => test.close())

beforeEach(async () => {
  await mails()
  await rm(outbox, { recursive: true, force: true })
})

/** All mails that are due a minute from now, by recipient. */
async function mails(nodes = 1) {
  test.clock.advance(61_000)
  await Promise.all(Array.from({ length: nodes }, () => sendNotifications(test.deps)))
  await sendNotifications(test.deps)
  const files = await readdir(outbox).catch(() => [])
  const found = await Promise.all(files.map(async (file) => parseMail(await readFile(join(outbox, file), 'utf8'))))
  return found.sort((a, b) => a.to.localeCompare(b.to))
}

const recipients = async () => (await mails()).map(({ to }) => to)

describe('T35 mails about changes to the rules', () => {
  it('tell every administrator and approver how a policy was weakened, once, on any number of nodes', async () => {
    expect((await admin.patch(`/policies/${policyId}`, { approvalThreshold: 1, rules: [] })).status).toBe(200)
    const sent = await mails(3)
    expect(sent.map(({ to }) => to)).toEqual([approver.email, admin.email, second.email])
    for (const { subject, text } of sent) {
      expect(subject).toBe('The rules of Main vault were changed')
      expect(text).toMatch(
        /Z: operator \(operator@example\.org\) updated the policy "Large <b>transfers<\/b>": approvalThreshold from 2 to 1\n/,
      )
    }
    expect(sent[0]!.html).toContain('Large &lt;b&gt;transfers&lt;/b&gt;')
    expect((await mails(3)).length).toBe(3)
    await admin.patch(`/policies/${policyId}`, { approvalThreshold: 2 })
  })

  it('tell those who lose their vote by a change, and those who get one', async () => {
    const { body } = await admin.get(`/policies/${policyId}`)
    expect(
      (
        await admin.patch(`/policies/${policyId}`, {
          approvalThreshold: 1,
          approvers: [{ kind: 'user', userId: admin.userId }],
        })
      ).status,
    ).toBe(200)
    const sent = await mails()
    expect(sent.map(({ to }) => to)).toContain(approver.email)
    expect(sent[0]!.text).toContain('approvers, approvalThreshold from 2 to 1')
    expect(body.approvers).toHaveLength(2)
  })

  it('reach the group of a policy that names no approvers, and stay with administrators where nobody votes', async () => {
    const inGroup = { groupId: approversId, actionType: 'transfer' }
    await createPolicy(vault, { ...inGroup, code: 'free', name: 'Free', effect: 'allow' })
    expect(await recipients()).toEqual([admin.email, second.email])
    await rm(outbox, { recursive: true, force: true })
    await createPolicy(vault, { ...inGroup, code: 'own', name: 'Own', effect: 'requireApproval', approvalThreshold: 1 })
    expect(await recipients()).toEqual([approver.email, admin.email, second.email])
  })

  it('reach the administrator who is removed first', async () => {
    const group = vault.groups.administrators
    expect((await admin.delete(`/policy-groups/${group}/members/${second.userId}`)).status).toBe(204)
    const sent = await mails()
    expect(sent.map(({ to }) => to)).toEqual([admin.email, second.email])
    expect(sent[1]!.text).toContain(
      'operator (operator@example.org) removed the membership of second (second@example.org) in "',
    )
    expect((await admin.post(`/policy-groups/${group}/members`, { userId: second.userId })).status).toBe(201)
  })

  it('tell of invitations and services, which bring new voters', async () => {
    const groupIds = [approversId]
    expect((await admin.post('/invitations', { email: 'new@example.org', groupIds })).status).toBe(201)
    expect((await admin.post('/vaults/main-vault/service-tokens', { name: 'Voting robot', groupIds })).status).toBe(201)
    const [first] = await mails()
    expect(first!.text).toContain(
      'operator (operator@example.org) created the invitation "new@example.org", into "approvers"',
    )
    expect(first!.text).toContain(
      'operator (operator@example.org) created the service token "Voting robot", into "approvers"',
    )
  })

  it('gather what changes within a minute in one mail, oldest first', async () => {
    for (const code of ['first', 'second', 'third']) {
      await createPolicy(vault, { code, name: `The ${code}`, actionType: 'transfer', effect: 'allow' })
    }
    const [mail, ...others] = (await mails()).filter(({ to }) => to === second.email)
    expect(others).toEqual([])
    expect(mail!.text.match(/created the policy "The \w+"/g)).toEqual(
      ['first', 'second', 'third'].map((code) => `created the policy "The ${code}"`),
    )
  })

  it('cannot be switched off, and say nothing where nothing changed', async () => {
    await second.patch('/users/me', { notifications: { approvals: false, decisions: false } })
    expect((await admin.patch(`/policies/${policyId}`, { enabled: false })).status).toBe(200)
    expect(await recipients()).toContain(second.email)
    const before = (await mails()).length
    expect((await admin.patch(`/policies/${policyId}`, { enabled: false })).status).toBe(200)
    expect((await admin.patch(`/policies/${policyId}`, { approvalThreshold: 0 })).status).toBe(400)
    expect((await approver.patch(`/policies/${policyId}`, { enabled: true })).status).toBe(403)
    expect((await mails()).length).toBe(before)
  })

  it('still name a policy that is gone', async () => {
    expect((await admin.delete(`/policies/${policyId}`)).status).toBe(204)
    const [mail] = await mails()
    expect(mail!.text).toContain('operator (operator@example.org) deleted the policy "Large <b>transfers</b>"')
  })

  it('are tried again after a mail server refused them', async () => {
    const refusing = await createTestApp({ SMTP_URL: 'smtp://127.0.0.1:1' })
    await createPolicy(vault, { code: 'late', name: 'Late', actionType: 'transfer', effect: 'allow' })
    test.clock.advance(61_000)
    await sendNotifications({ ...refusing.deps, db: test.deps.db, clock: test.clock.now })
    await refusing.close()
    expect(await recipients()).toEqual([admin.email, second.email])
  })
})
