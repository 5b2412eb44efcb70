import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyState } from '../../../composition/verify-state.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import type { Authenticator } from '../../../testing/authenticator.ts'
import { createGovernanceBench, type GovernanceBench } from '../../../testing/governance-bench.ts'
import {
  acceptRequest,
  addAcceptedPasskey,
  addPasskey,
  askForPasskey,
  confirmationOf,
  confirmed,
} from '../../../testing/passkeys.ts'
import { recordPeople } from '../../../testing/record-people.ts'
import { createSignInLink } from '../sign-in/actions.ts'
import { allowPasskeyOf } from './actions.ts'

/** A protected vault with an administrator who has a passkey; the other three administrators have none. */
let bench: GovernanceBench
let admin: Person
let adminKey: Authenticator
let by: { admin: Person; key: Authenticator; url: `/vaults/${string}` }
let people = 0

beforeAll(async () => {
  bench = await createGovernanceBench()
  admin = bench.vault.admin
  adminKey = await addPasskey(admin)
  await addPasskey(bench.admins[1]!)
  by = { admin, key: adminKey, url: bench.url }
  const protection = { method: 'put', url: `${bench.url}/protection`, body: { protection: 'votes' } } as const
  expect((await admin.put(protection.url, protection.body)).body.reason).toBe('passkey_required')
  expect((await bench.admins[2]!.put(protection.url, protection.body)).body.reason).toBe('passkey_required')
  expect((await confirmed(admin, adminKey, protection)).status).toBe(200)
})
afterAll(() => bench.close())
beforeEach(() => bench.test.clock.advance(1_000))

/** Creates a member by invitation. */
async function newMember(groupId = bench.membersId): Promise<Person> {
  people += 1
  const email = `new.${people}@example.org`
  const body = { email, groupIds: [groupId] }
  const person = await bench.test.signIn(email)
  const invited = await confirmed(admin, adminKey, { method: 'post', url: '/invitations', body })
  expect(invited.status).toBe(201)
  await acceptInvitations(email)
  return person
}

/** Signs in by a link, as invited people do. */
async function acceptInvitations(email: string): Promise<void> {
  const { db, clock } = bench.test.deps
  const at = { publicOrigin: () => 'http://localhost' }
  const link = await inTransaction(db, (trx) => createSignInLink(trx, at, email, clock()))
  const token = new URL(link).searchParams.get('token')
  const session = await bench.test.anonymous.post('/auth/magic-link/verify', { token })
  expect(session.status).toBe(200)
  const signedIn = bench.test.client({ authorization: `Bearer ${session.body.token}` })
  expect((await signedIn.get('/auth/session')).body.vaults).toHaveLength(1)
}

const outcome = ({ status, body }: Answer<{ reason: string }>) => [status, body?.reason]
const listed = async (person: Person) => (await person.get('/users/me/passkeys')).body.items
const requestOf = (person: Person, id: string) => person.get(`${bench.url}/approval-requests/${id}`)
const differences = async () => {
  await recordPeople(bench.test.deps)
  return (await verifyState(bench.test.deps.db)).differences
}
const signIn = async (key: Authenticator) => {
  const prepared = await bench.test.anonymous.post('/auth/passkey/options', {})
  const cookie = String(prepared.headers['set-cookie']).split(';')[0]!
  return bench.test.client({ cookie }).post('/auth/passkey', { credential: await key.signIn(prepared.body) })
}

describe('the first passkey of a member of a protected vault', () => {
  it('waits for an administrator, who sees its fingerprint, and can be used after their signed vote', async () => {
    const person = await newMember()
    const { key, answer } = await askForPasskey(person, 'Phone of the new one')
    expect(answer.status).toBe(202)
    const { request } = answer.body
    const [waiting] = await listed(person)
    expect(waiting).toMatchObject({
      name: 'Phone of the new one',
      credentialId: key.id.toString('base64url'),
      publicKey: key.publicKey.toString('base64url'),
      waitsFor: { vaultCode: bench.vault.code, approvalRequestId: request.id },
    })
    const seen = (await requestOf(admin, request.id)).body
    expect(seen).toMatchObject({ action: 'passkey_add', targetType: 'passkey', status: 'pending' })
    expect(seen.payload).toMatchObject({ name: 'Phone of the new one', fingerprint: waiting!.fingerprint })
    expect(seen.initiatorId).toBe(person.userId)
    const inbox = (await admin.get('/inbox')).body.items
    expect(inbox.map(({ approvalRequest }) => approvalRequest?.subject)).toContain('Phone of the new one')

    expect((await acceptRequest(by, request)).body.status).toBe('applied')
    const [used] = await listed(person)
    expect(used).toMatchObject({ id: waiting!.id, fingerprint: waiting!.fingerprint, waitsFor: null })
    expect((await signIn(key)).body.user.id).toBe(person.userId)
    expect(await differences()).toEqual([])
    const mails = await bench.test.deps.db.selectFrom('queued_mails').select('request').execute()
    const changes = mails.map(({ request: mail }) => mail as Record<string, unknown>)
    for (const change of ['waits', 'added'])
      expect(changes).toContainEqual(expect.objectContaining({ kind: 'passkey', email: person.email, change }))
  })

  it('does not sign, confirm or sign in before', async () => {
    const person = await newMember(bench.vault.groups.administrators)
    const { key, answer } = await askForPasskey(person)
    const { request } = answer.body
    expect((await signIn(key)).body.reason).toBe('invalid_passkey')
    const invitation = {
      method: 'post',
      url: '/invitations',
      body: { email: 'x@example.org', groupIds: [bench.membersId] },
    }
    const headers = await confirmationOf(person, key, invitation as never)
    expect(outcome(await person.post(invitation.url, invitation.body, headers))).toEqual([403, 'passkey_required'])
    // The person can accept neither their own passkey nor that of another person.
    expect(outcome(await acceptRequest({ ...by, admin: person, key }, request))).toEqual([403, 'not_an_approver'])
    const other = (await askForPasskey(await newMember())).answer.body.request
    expect(outcome(await acceptRequest({ ...by, admin: person, key }, other))).toEqual([403, 'signature_required'])
    // A second key would be a first passkey, too.
    expect(outcome((await askForPasskey(person)).answer)).toEqual([409, 'already_exists'])
    expect(
      await bench.test.deps.db.selectFrom('passkeys').select('id').where('user_id', '=', person.userId).execute(),
    ).toEqual([])
  })

  it('is accepted by a signed vote alone, of an administrator, for exactly this key', async () => {
    const person = await newMember()
    const { request } = (await askForPasskey(person)).answer.body
    const path = `${bench.url}/approval-requests/${request.id}/approve` as const
    expect(outcome(await admin.post(path, {}))).toEqual([403, 'signature_required'])
    expect(outcome(await bench.admins[3]!.post(path, {}))).toEqual([403, 'signature_required'])
    expect((await bench.member.post(path, {})).status).toBe(404)
    const other = (await askForPasskey(await newMember())).answer.body.request
    const wrong = await acceptRequest(by, { id: request.id, payloadHash: other.payloadHash })
    expect(outcome(wrong)).toEqual([409, 'payload_changed'])
    expect((await requestOf(person, request.id)).body.status).toBe('pending')
  })

  it('can be refused by an administrator, is cancelled by its person, and expires', async () => {
    const person = await newMember()
    const ask = async () => (await askForPasskey(person)).answer.body.request.id as string
    const path = (id: string) => `${bench.url}/approval-requests/${id}` as const
    expect((await admin.post(`${path(await ask())}/reject`, { comment: 'Another fingerprint' })).body.status).toBe(
      'rejected',
    )
    expect(await listed(person)).toEqual([])
    expect((await person.post(`${path(await ask())}/cancel`)).body.status).toBe('cancelled')
    const { request } = (await askForPasskey(person)).answer.body
    bench.test.clock.advance(bench.test.deps.config.approvalTtlHours * 3_600_000)
    expect(await listed(person)).toEqual([])
    expect(outcome(await acceptRequest(by, request))).toEqual([409, 'approval_expired'])
  })

  it('is not accepted for a person who has left the vault, or who has a passkey by now', async () => {
    const leaver = await newMember()
    const gone = (await askForPasskey(leaver)).answer.body.request
    const url = `${bench.url}/members/${leaver.userId}`
    expect((await confirmed(admin, adminKey, { method: 'delete', url })).status).toBe(204)
    expect(outcome(await acceptRequest(by, gone))).toEqual([409, 'initiator_lost_permission'])
    // Outside of protected vaults a session alone adds the first passkey, and that passkey confirms the next.
    const passkey = await addPasskey(leaver)
    const invited = { email: leaver.email, groupIds: [bench.membersId] }
    expect((await confirmed(admin, adminKey, { method: 'post', url: '/invitations', body: invited })).status).toBe(201)
    await acceptInvitations(leaver.email)
    const late = await acceptRequest(by, gone)
    expect([late.status, late.body.reason, late.body.details]).toEqual([
      409,
      'not_applied',
      'They have a passkey by now, with which they confirm others',
    ])
    expect(await listed(leaver)).toHaveLength(1)
    expect((await signIn(passkey)).status).toBe(200)
  })

  it('is accepted for an auditor, too', async () => {
    const auditor = await newMember()
    const { rows } = { rows: await bench.sql(`select id from policy_groups where code = 'auditors'`) }
    const url = `/policy-groups/${String(rows[0]!.id)}/members` as const
    expect((await confirmed(admin, adminKey, { method: 'post', url, body: { userId: auditor.userId } })).status).toBe(
      201,
    )
    await addAcceptedPasskey(auditor, by)
    expect(await listed(auditor)).toHaveLength(1)
  })

  it('needs no acceptance for a person who is in no vault', async () => {
    const stranger = await bench.test.signIn('stranger@example.org')
    expect((await askForPasskey(stranger)).answer.status).toBe(201)
  })
})

describe('an operator', () => {
  it('lets a person add one first passkey without a second person, within an hour, on the record', async () => {
    const person = await newMember()
    const allow = () =>
      inTransaction(bench.test.deps.db, (trx) =>
        allowPasskeyOf(trx, {
          userId: person.userId,
          reason: 'All keys were lost',
          operator: 'root',
          now: bench.test.clock.now(),
        }),
      )
    await allow()
    bench.test.clock.advance(3_600_000)
    const { request } = (await askForPasskey(person)).answer.body
    expect(request.status).toBe('pending')
    await allow()
    bench.test.clock.advance(1_000)
    const { key, answer } = await askForPasskey(person)
    expect(answer.status).toBe(201)
    const url = `/users/me/passkeys/${answer.body.id}` as const
    expect((await confirmed(person, key, { method: 'delete', url })).status).toBe(204)
    await person.post(`${bench.url}/approval-requests/${request.id}/cancel`)
    expect((await askForPasskey(person)).answer.status).toBe(202)
    expect((await differences()).filter(({ targetType }) => targetType === 'passkey')).toEqual([])
  })
})

describe('state verify', () => {
  it('T57 names a first passkey that came into use without a second person', async () => {
    const person = await newMember()
    const { request } = (await askForPasskey(person)).answer.body
    // With this update the service adds the key without a second person. Its audit record still says when it added the key.
    await bench.sql('update users set first_passkey_until = $2 where id = $1', [
      person.userId,
      new Date(bench.test.clock.now().getTime() + 60_000),
    ])
    const { key, answer } = await askForPasskey(person)
    expect(answer.status).toBe(201)
    const named = (await differences()).filter(({ targetId }) => targetId === answer.body.id)
    expect(named).toEqual([
      expect.objectContaining({
        targetType: 'passkey',
        detail: expect.stringMatching(/first one of .* no signed vote of a second person accepts it/),
      }),
    ])
    expect(request.id).not.toBe(answer.body.id)
    await confirmed(person, key, { method: 'delete', url: `/users/me/passkeys/${answer.body.id}` })
  })

  it('T57 names a passkey whose acceptance nobody signed', async () => {
    const person = await newMember()
    await addAcceptedPasskey(person, by)
    const { id } = (await listed(person))[0]!
    await bench.sql(
      `update signed_votes set signed_vote = jsonb_set(signed_vote, '{signature}', '"AAAA"')
       where subject_id = (select id from approval_requests where resolved_result_id = $1)`,
      [id],
    )
    expect((await differences()).map(({ targetId }) => targetId)).toContain(id)
  })
})

it('a first passkey that no second person could accept is refused', async () => {
  const person = await newMember()
  await bench.sql('delete from passkeys')
  expect(outcome((await askForPasskey(person)).answer)).toEqual([409, 'quorum_unreachable'])
  // Administrators cannot accept their own keys.
  expect(outcome((await askForPasskey(admin)).answer)).toEqual([409, 'quorum_unreachable'])
})
