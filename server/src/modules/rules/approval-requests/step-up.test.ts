import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import type { Authenticator } from '../../../testing/authenticator.ts'
import {
  allowTransfers,
  blockTransfers,
  createGovernanceBench,
  type GovernanceBench,
} from '../../../testing/governance-bench.ts'
import { addPasskey, confirmationOf, confirmed as confirmedBy, type Write } from '../../../testing/passkeys.ts'

/** A protected vault with an administrator who has a passkey, and a service that administers it too. */
let bench: GovernanceBench
let admin: Person
let robot: Person
let key: Authenticator

const confirmed = <M extends Write['method'], Url extends string>(write: Write<M, Url>) =>
  confirmedBy(admin, key, write)
const bare = ({ method, url, body }: Write, by = admin, headers = {}) => by.send(method, url, body, headers)
const outcome = ({ status, body }: Answer<{ reason: string }>) => [status, body?.reason]
const refused = [403, 'passkey_required']

beforeAll(async () => {
  bench = await createGovernanceBench()
  admin = bench.vault.admin
  const groupIds = [bench.vault.groups.administrators]
  const { body } = await admin.post(`${bench.url}/service-tokens`, { name: 'Robot', groupIds })
  robot = bench.test.client({ authorization: `Bearer ${body.token}` }) as Person
  key = await addPasskey(admin)
  const isOn = await confirmed({ method: 'put', url: `${bench.url}/protection`, body: { protection: 'votes' } })
  expect([isOn.status, isOn.body.protection]).toEqual([200, 'votes'])
})
afterAll(() => bench.close())

/** Lets every member transfer. */
const allowing = (code: string): Write => ({
  method: 'post',
  url: `/policy-groups/${bench.membersId}/policies`,
  body: { ...allowTransfers, code },
})
const governance = (): Write => ({
  method: 'put',
  url: `${bench.url}/governance`,
  body: { threshold: 2, looseningDelayHours: 0, tighteningDelayHours: 0 },
})

describe('in a protected vault without governance', () => {
  it('a session alone changes no rule', async () => {
    const invitation = { email: 'guest@example.org', groupIds: [bench.vault.groups.administrators] }
    const writes: Write[] = [
      allowing('alone'),
      governance(),
      { method: 'put', url: `${bench.url}/protection`, body: { protection: 'off' } },
      { method: 'post', url: '/invitations', body: invitation },
      { method: 'post', url: `${bench.url}/service-tokens`, body: { name: 'Own', groupIds: invitation.groupIds } },
      { method: 'delete', url: `${bench.url}/members/${bench.admins[1]!.userId}` },
      { method: 'patch', url: `${bench.url}`, body: { walletServiceSecret: 'another-secret-of-the-wallet-service' } },
    ]
    const before = await bench.versions()
    for (const write of writes) expect([write.url, ...outcome(await bare(write))]).toEqual([write.url, ...refused])
    expect(await bench.versions()).toEqual(before)
  })

  it('a session of a person without a passkey changes no rule', async () => {
    expect(outcome(await bare(allowing('bare'), bench.admins[1]))).toEqual(refused)
  })

  it('a signature of a passkey authorises exactly its request, once', async () => {
    const headers = await confirmationOf(admin, key, allowing('signed'))
    expect(outcome(await bare(governance(), admin, headers))).toEqual(refused)
    expect((await bare(allowing('signed'), admin, headers)).status).toBe(201)
    expect(outcome(await bare(allowing('again'), admin, headers))).toEqual(refused)
  })

  it('the signature of a passkey covers the content of the request', async () => {
    const headers = await confirmationOf(admin, key, governance())
    const other = { ...governance(), body: { ...governance().body, threshold: 1 } }
    expect(outcome(await bare(other, admin, headers))).toEqual(refused)
    const more = { ...governance(), body: { ...governance().body, approverGroupId: bench.vault.groups.administrators } }
    expect(outcome(await bare(more, admin, headers))).toEqual(refused)
    expect(outcome(await bare({ ...governance(), body: {} }, admin, headers))).toEqual([400, 'validation_failed'])
    const ofNothing = await confirmationOf(admin, key, { method: 'put', url: governance().url })
    expect(outcome(await bare(governance(), admin, ofNothing))).toEqual(refused)
    // The order of names and the white space of the JSON are not part of its content.
    const reordered = Object.fromEntries(Object.entries(allowing('ordered').body!).toReversed())
    const confirmation = await confirmationOf(admin, key, { ...allowing('ordered'), body: reordered })
    expect((await bare(allowing('ordered'), admin, confirmation)).status).toBe(201)
  })

  it('a request without a canonical form cannot be signed', async () => {
    const body = { ...governance().body, looseningDelayHours: 0.5 }
    const confirmed = { method: 'PUT', path: `/api/v1${governance().url}`, bodyHash: '' }
    expect((await admin.post('/users/me/passkeys/confirmation', confirmed)).status).toBe(400)
    const headers = await confirmationOf(admin, key, governance())
    expect((await bare({ ...governance(), body }, admin, headers)).status).toBe(400)
  })

  it('a change that only makes decisions stricter needs no passkey', async () => {
    expect((await bare({ ...allowing('strict'), body: blockTransfers })).status).toBe(201)
  })

  it('a service cannot change a rule by itself', async () => {
    expect(outcome(await bare(allowing('by-robot'), robot))).toEqual([403, 'person_required'])
  })
})

describe('in a protected vault with governance', () => {
  beforeAll(async () => {
    expect((await confirmed(governance())).status).toBe(200)
  })

  it('a session alone cannot request votes; a service can, because people sign the votes', async () => {
    expect(outcome(await bare(allowing('asked')))).toEqual(refused)
    expect((await confirmed(allowing('asked'))).status).toBe(202)
    expect((await bare(allowing('by-robot'), robot)).status).toBe(202)
  })

  it('a draft needs no passkey, and its submission does', async () => {
    const draft = await bench.draft([
      { action: 'policy_create', targetId: bench.membersId, payload: { ...allowTransfers, code: 'drafted' } },
    ])
    expect(draft.status).toBe(201)
    const submitting: Write = { method: 'post', url: `${bench.url}/change-sets/${draft.body.id}/submit` }
    expect(outcome(await bare(submitting))).toEqual(refused)
    expect((await confirmed(submitting)).status).toBe(202)
  })

  it('placing a hold needs no passkey, and requesting its release does', async () => {
    const placing = { subjectType: 'user', subjectId: bench.member.userId, reason: 'A look' }
    const { body } = await admin.post(`${bench.url}/holds`, placing)
    const releasing: Write = { method: 'post', url: `${bench.url}/holds/${body.id}/release`, body: { reason: 'Seen' } }
    expect(outcome(await bare(releasing))).toEqual(refused)
    expect((await confirmed(releasing)).status).toBe(202)
  })
})
