import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyState } from '../../../composition/verify-state.ts'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { sendNotifications } from '../../../jobs/send-notifications.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, createVaultFixture } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { createOutbox, type Outbox } from '../../../testing/outbox.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { signInPerson } from '../sign-in/actions.ts'
import { disable as disableInTransaction } from './offboarding.ts'

const reason = { reason: 'Left the company' }

let outbox: Outbox
let bench: TransferBench
let platform: Person
beforeAll(async () => {
  outbox = await createOutbox()
  bench = await createTransferBench({ DATA_DIR: outbox.dataDir })
  platform = await bench.test.signIn('platform@example.org', { isPlatformAdmin: true })
})
afterAll(async () => {
  await bench.close()
  await outbox.remove()
})

const disable = (id: string, by = platform) => by.post(`/users/${id}/disable`, reason)
const enable = (id: string, by = platform) => by.post(`/users/${id}/enable`, { reason: 'Came back' })

/** Sends and removes the mails that are due within a minute, and returns them. */
async function mails() {
  bench.test.clock.advance(61_000)
  await sendNotifications(bench.test.deps)
  const sent = await outbox.read()
  await outbox.clear()
  return sent
}

describe('POST /users/{id}/disable and /users/{id}/enable', () => {
  it('T47 ends sessions and devices before the next request, and enabling restores memberships', async () => {
    const { vault } = bench
    const leaver = await addMember(bench.test, vault, 'leaver@example.org', ['treasury'])
    await bench.sql(`insert into known_devices values ('\\x01', $1, now())`, [leaver.userId])
    await bench.sql(
      `insert into magic_links (token_hash, email, created_at, expires_at)
       values ('\\x01', $1, now(), now() + interval '1 day')`,
      [leaver.email],
    )
    expect((await leaver.get('/vaults/main-vault')).status).toBe(200)
    const answer = await disable(leaver.userId)
    expect(answer.status).toBe(200)
    expect(answer.body.user).toMatchObject({ userId: leaver.userId, disabledAt: expect.stringMatching(/Z$/) })
    expect((await leaver.get('/vaults/main-vault')).body.reason).toBe('invalid_token')
    for (const [table, column, value] of [
      ['sessions', 'user_id', leaver.userId],
      ['known_devices', 'user_id', leaver.userId],
      ['magic_links', 'email', leaver.email],
    ]) {
      expect(await bench.sql(`select * from ${table} where ${column} = $1`, [value]), table).toEqual([])
    }
    const listed = async (status: string) =>
      (await platform.get(`/platform/users?status=${status}&search=leaver`)).body.items.map(({ userId }) => userId)
    expect([await listed('active'), await listed('disabled')]).toEqual([[], [leaver.userId]])
    expect((await disable(leaver.userId)).body.reason).toBe('wrong_state')

    const enabled = await enable(leaver.userId)
    expect([enabled.status, enabled.body.disabledAt]).toEqual([200, null])
    expect((await enable(leaver.userId)).body.reason).toBe('wrong_state')
    expect((await leaver.get('/vaults/main-vault')).status).toBe(401)
    expect((await (await bench.test.signIn(leaver.email)).get('/vaults/main-vault')).status).toBe(200)
    expect(await bench.audited('user.disabled', leaver.userId)).toBe(2)
    expect(await bench.audited('user.enabled', leaver.userId)).toBe(2)
  })

  it('lists service tokens and invitations; the mail to administrators of a vault names only the objects of their vault', async () => {
    await mails()
    const { vault } = bench
    const maker = await addMember(bench.test, vault, 'maker@example.org', ['administrators'])
    const other = await createVaultFixture(bench.test, { code: 'other-vault', adminEmail: 'keeper@example.org' })
    await addMember(bench.test, other, 'maker@example.org', ['administrators'])
    const base = (code: string) => `/vaults/${code}/service-tokens` as const
    const tokenIn = async ({ code, groups }: typeof vault, name: string) =>
      (await maker.post(base(code), { name, groupIds: [groups.administrators] })).body
    const payroll = await tokenIn(vault, 'Payroll')
    const secret = await tokenIn(other, 'Secret project')
    const revoked = await tokenIn(vault, 'Old payroll')
    await maker.delete(`${base('main-vault')}/${revoked.id}`)
    const invited = await maker.post('/invitations', {
      email: 'guest@example.org',
      groupIds: [vault.groups.administrators],
    })
    await mails()

    const { body } = await disable(maker.userId)
    const [ofVault, ofOther] = [vault, other].map(({ vault: { code, name } }) => ({ code, name }))
    expect(body).toMatchObject({
      onlyAdministratorOf: [],
      serviceTokens: [
        { vault: ofOther, id: secret.id, userId: secret.userId, name: 'Secret project' },
        { vault: ofVault, id: payroll.id, userId: payroll.userId, name: 'Payroll' },
      ],
      invitations: [{ vault: ofVault, id: invited.body.id, email: 'guest@example.org' }],
      withoutQuorum: 0,
    })
    expect((await platform.get(`/users/${maker.userId}/offboarding`)).body).toEqual(body)
    // The service token works until the administrators of its vault revoke it.
    const service = bench.test.client({ authorization: `Bearer ${payroll.token}` })
    expect((await service.get('/vaults/main-vault')).status).toBe(200)

    const sent = await mails()
    const textTo = (to: string, about: string) =>
      sent.filter((mail) => mail.to === to && mail.subject.includes(about)).map(({ text }) => text)
    const [toVault] = textTo(vault.admin.email, 'Changes to the vault')
    expect(toVault).toContain('"maker (maker@example.org)" was disabled by an administrator of the platform')
    expect(toVault).toContain('["Payroll"]')
    expect(toVault).toContain('["guest@example.org"]')
    expect(toVault).toContain('"Left the company"')
    expect(toVault).not.toContain('Secret')
    expect(textTo('keeper@example.org', 'Changes to the vault')[0]).toContain('["Secret project"]')
    expect(textTo(platform.email, 'platform')[0]).toContain('was disabled')
    expect(sent.map(({ to }) => to)).not.toContain(maker.email)
    await enable(maker.userId)
  })

  it('tells the administrators of a vault about its tokens, however many the user made in another vault', async () => {
    await mails()
    const { vault } = bench
    const maker = await addMember(bench.test, vault, 'busy@example.org', ['administrators'])
    const crowded = await createVaultFixture(bench.test, { code: 'crowded-vault', adminEmail: 'crowd@example.org' })
    await addMember(bench.test, crowded, maker.email, ['administrators'])
    const tokenIn = async ({ vault: { code }, groups }: typeof vault, name: string) =>
      (await maker.post(`/vaults/${code}/service-tokens`, { name, groupIds: [groups.administrators] })).body
    await tokenIn(vault, 'Back door')
    const { id } = await tokenIn(crowded, 'Crowd')
    await bench.sql(
      `insert into service_tokens (vault_id, id, user_id, name, token_hash, created_by_id, created_at)
       select vault_id, left(id, 22) || n, user_id, name, sha256((id || n)::bytea), created_by_id,
         created_at + interval '1 second'
       from service_tokens, generate_series(100, 199) n where id = $1`,
      [id],
    )
    await mails()
    expect((await disable(maker.userId)).body.serviceTokens).toHaveLength(100)
    const toVault = (await mails()).find(({ to, subject }) => to === vault.admin.email && subject.includes('the vault'))
    expect(toVault!.text).toContain('["Back door"]')
    await bench.sql(`delete from service_tokens where name = 'Crowd' and id <> $1`, [id])
  })

  it('T47 opens no session for a user who is disabled during the sign-in', async () => {
    const { db, clock } = bench.test.deps
    const late = await addMember(bench.test, bench.vault, 'late@example.org', ['treasury'])
    const { pending } = await inTransaction(db, async (trx) => {
      const offboard = { userId: late.userId, actorId: null, operator: 'root', ...reason, now: clock() }
      await disableInTransaction(trx, offboard)
      const pending = inTransaction(db, (other) => signInAs(other, late.email))
      await untilSessionsWait(db)
      return { pending }
    })
    expect(await pending).toBeNull()
    await enable(late.userId)
    expect(await bench.sql('select id from sessions where user_id = $1', [late.userId])).toEqual([])
  })

  it('T47 ends the session of a sign-in that commits while its user is held', async () => {
    const { db } = bench.test.deps
    const late = await addMember(bench.test, bench.vault, 'held.late@example.org', ['treasury'])
    const { placed } = await inTransaction(db, async (trx) => {
      expect(await signInAs(trx, late.email)).not.toBeNull()
      const hold = { subjectType: 'user', subjectId: late.userId, reason: 'Something is wrong' }
      const placed = bench.vault.admin.post('/vaults/main-vault/holds', hold)
      await untilSessionsWait(db)
      return { placed }
    })
    expect((await placed).status).toBe(201)
    expect(await bench.sql('select id from sessions where user_id = $1', [late.userId])).toEqual([])
    await bench.sql('delete from holds')
  })

  /** Signs in a person whose address was proven. */
  const signInAs = (trx: Trx, email: string) => {
    const device = { kind: 'program', userAgent: null, ip: '127.0.0.1', cookie: null } as const
    return signInPerson(trx, bench.test.deps, { email, method: 'magic_link', device }, bench.test.deps.clock())
  }

  it('names the vaults that no other person can administer', async () => {
    const { admin } = await createVaultFixture(bench.test, { code: 'lonely-vault', adminEmail: 'lonely@example.org' })
    const { body } = await disable(admin.userId)
    expect(body.onlyAdministratorOf).toEqual([{ code: 'lonely-vault', name: 'Main vault' }])
    await enable(admin.userId)
  })

  it('refuses the account of the caller, unknown ids, a missing reason, and other callers than platform administrators', async () => {
    expect((await disable(platform.userId)).body.reason).toBe('other_person_required')
    expect((await disable('nobody')).body.reason).toBe('not_found')
    expect((await enable('nobody')).body.reason).toBe('not_found')
    expect((await platform.get('/users/nobody/offboarding')).body.reason).toBe('not_found')
    for (const body of [{}, { reason: ' ' }, { reason: 'x', force: true }]) {
      expect((await platform.post(`/users/${bench.owner.userId}/disable`, body)).status).toBe(400)
    }
    expect((await disable(bench.firstApprover.userId, bench.owner)).status).toBe(403)
  })

  it('never enables a service whose token was revoked', async () => {
    const { admin, groups } = bench.vault
    const tokens = '/vaults/main-vault/service-tokens'
    const { body } = await admin.post(tokens, { name: 'Robot', groupIds: [groups.administrators] })
    expect((await disable(body.userId)).status).toBe(200)
    const service = bench.test.client({ authorization: `Bearer ${body.token}` })
    expect((await service.get('/vaults/main-vault')).status).toBe(401)
    expect((await enable(body.userId)).status).toBe(200)
    expect((await service.get('/vaults/main-vault')).status).toBe(200)
    expect((await admin.delete(`${tokens}/${body.id}`)).status).toBe(204)
    expect((await enable(body.userId)).body.reason).toBe('wrong_state')
    const differences = async () =>
      (await verifyState(bench.test.deps.db, ['users'])).differences.filter(({ targetId }) => targetId === body.userId)
    expect(await differences()).toEqual([])
    await bench.sql('update users set disabled_at = null where id = $1', [body.userId])
    expect(await differences()).toMatchObject([{ detail: 'not as recorded: disabling' }])
    await bench.sql('update users set disabled_at = now() where id = $1', [body.userId])
  })

  it('never disables the last platform administrator, not even when all disable each other at once', async () => {
    const { sql, test } = bench
    const all = await sql('select id, email from users where is_platform_admin and disabled_at is null order by id')
    expect(all.length).toBeGreaterThan(2)
    const people = await Promise.all(all.map(({ email }) => test.signIn(email)))
    const answers = await Promise.all(
      people.map((person, index) => disable(people[(index + 1) % people.length]!.userId, person)),
    )
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    const left = await sql('select id from users where is_platform_admin and disabled_at is null')
    expect(left.length).toBeGreaterThan(0)
    await sql('update users set disabled_at = null where is_platform_admin')
    for (const person of [platform, bench.vault.admin]) {
      const { token } = await test.signIn(person.email)
      Object.assign(person, test.client({ authorization: `Bearer ${token}` }))
    }
  })
})

describe('votes of people who left', () => {
  it('do not count; the transfer shows when too few are left, its initiator gets a mail, and enabling restores the votes', async () => {
    const { owner, firstApprover, secondApprover, thirdApprover } = bench
    const address = await bench.fundedAddress()
    const { body: transfer } = await bench.order(address.id, '500')
    expect(transfer.quorumReachable).toBe(true)
    expect((await bench.act(firstApprover, transfer.id, 'approve')).status).toBe(200)
    await mails()

    expect((await disable(firstApprover.userId)).body.withoutQuorum).toBe(0)
    expect(await bench.read(transfer.id)).toMatchObject({ status: 'awaiting_approval', quorumReachable: true })
    expect((await mails()).filter(({ subject }) => subject.startsWith('Too few'))).toEqual([])
    expect((await disable(secondApprover.userId)).body.withoutQuorum).toBe(1)
    expect(await bench.read(transfer.id)).toMatchObject({ status: 'awaiting_approval', quorumReachable: false })
    const notices = (await mails()).filter(({ subject }) => subject.startsWith('Too few people can vote'))
    expect(notices.map(({ to }) => to)).toEqual([owner.email])
    expect(notices[0]!.text).toContain(transfer.id)
    // Two votes are needed and one counts: the vote of a disabled person does not count.
    expect((await bench.act(thirdApprover, transfer.id, 'approve')).status).toBe(200)
    expect((await bench.read(transfer.id)).status).toBe('awaiting_approval')

    await enable(firstApprover.userId)
    await enable(secondApprover.userId)
    expect(await bench.read(transfer.id)).toMatchObject({ status: 'awaiting_approval', quorumReachable: true })
    const back = await bench.test.signIn(secondApprover.email)
    expect((await bench.act(back, transfer.id, 'approve')).status).toBe(200)
    expect((await bench.read(transfer.id)).status).not.toBe('awaiting_approval')
  })

  it('do not count when the person left the group; the initiator gets a mail, unless the person returns first', async () => {
    const { owner, secondApprover, thirdApprover, approversId, vault } = bench
    const address = await bench.fundedAddress()
    const { body: transfer } = await bench.order(address.id, '500')
    await mails()
    const members = `/policy-groups/${approversId}/members` as const
    const leave = ({ userId }: Person) => vault.admin.delete(`${members}/${userId}`)
    const join = ({ userId }: Person) => vault.admin.post(members, { userId })
    const recipients = async () =>
      (await mails()).filter(({ subject }) => subject.startsWith('Too few')).map(({ to }) => to)
    await leave(secondApprover)
    await leave(thirdApprover)
    await join(thirdApprover)
    expect(await recipients()).toEqual([])
    await leave(thirdApprover)
    bench.test.clock.advance(300_000)
    expect(await recipients()).toEqual([owner.email])
    expect(await bench.read(transfer.id)).toMatchObject({ quorumReachable: false })
    await join(secondApprover)
    await join(thirdApprover)
    await bench.act(owner, transfer.id, 'cancel')
  })
})

describe('DELETE /vaults/{code}/members/{userId}', () => {
  const url = (userId: string) => `/vaults/main-vault/members/${userId}` as const

  it('removes a member from every group at once, with one record and one mail', async () => {
    const { admin } = bench.vault
    const leaver = await addMember(bench.test, bench.vault, 'mover@example.org', ['treasury', 'approvers'])
    await mails()
    expect((await admin.delete(url(leaver.userId))).status).toBe(204)
    expect((await leaver.get('/vaults/main-vault')).status).toBe(403)
    expect(await bench.audited('member.removed', leaver.userId)).toBe(1)
    const [record] = await bench.sql(`select content from audit_records where action = 'member.removed'`)
    const { groupCodes, groupIds } = JSON.parse(record.content).details
    expect([groupCodes, groupIds.length]).toEqual([['approvers', 'treasury'], 2])
    const sent = await mails()
    const text = sent.find(({ to }) => to === leaver.email)!.text
    expect(text).toContain('"mover (mover@example.org)" was removed from the vault')
    expect(text).toContain('- groups was: ["approvers","treasury"]')
    expect(sent.map(({ to }) => to)).toEqual(expect.arrayContaining([admin.email, bench.firstApprover.email]))
    expect((await admin.delete(url(leaver.userId))).body.reason).toBe('not_found')
  })

  it('refuses to remove the last administrator who can sign in, and is for administrators only', async () => {
    const { vault } = bench
    const second = await addMember(bench.test, vault, 'second.admin@example.org', ['administrators', 'treasury'])
    for (const { id } of await bench.sql(
      `select distinct u.id from users u join policy_group_memberships m on m.user_id = u.id
       where m.group_id = $1 and u.id not in ($2, $3)`,
      [vault.groups.administrators, vault.admin.userId, second.userId],
    )) {
      expect((await vault.admin.delete(url(id))).status).toBe(204)
    }
    await disable(second.userId)
    expect((await vault.admin.delete(url(vault.admin.userId))).body.reason).toBe('last_administrator')
    await enable(second.userId)
    const [first, other] = await Promise.all([
      vault.admin.delete(url(second.userId)),
      (await bench.test.signIn(second.email)).delete(url(vault.admin.userId)),
    ])
    expect([first.status, other.status].sort()).not.toEqual([204, 204])
    expect((await bench.owner.delete(url(bench.owner.userId))).status).toBe(403)
  })
})
