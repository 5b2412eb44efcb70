import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  allowTransfers,
  blockTransfers,
  createGovernanceBench,
  type GovernanceBench,
} from '../../../testing/governance-bench.ts'
import { openSecret } from '../../vaults/wallets/wallet-settings.ts'
import { hashOfRules } from '../rules-versions/rules-document.ts'

let bench: GovernanceBench

const policiesOf = async () =>
  (await bench.vault.admin.get(`${bench.url}/policies?limit=100`)).body.items.map(({ code }) => code)

describe('versions', () => {
  beforeAll(async () => {
    bench = await createGovernanceBench()
  })
  afterAll(() => bench.close())

  test('each mutation publishes the next version with its author and document', async () => {
    const before = await bench.versions()
    const created = await bench.vault.admin.post(`/policy-groups/${bench.membersId}/policies`, allowTransfers)
    expect(created.status).toBe(201)
    const [newest, second] = await bench.versions()
    expect(newest).toMatchObject({
      number: before[0]!.number + 1,
      authorId: bench.vault.admin.userId,
      direction: 'loosening',
      changeSetId: null,
    })
    expect(second).toEqual(before[0])
    const { body } = await bench.vault.admin.get(`${bench.url}/rules/versions/${newest!.number}`)
    expect(body.document.policies).toEqual([
      expect.objectContaining({ code: 'allow-transfers', groupId: bench.membersId, enabled: true, rules: [] }),
    ])
    expect(hashOfRules(body.document).toString('hex')).toBe(body.hash)
    expect(JSON.stringify(body.document)).not.toContain(bench.vault.wallet.secret)
    expect(body.document.wallet.secretFingerprint).toMatch(/^[0-9a-f]{16}$/)

    const diff = await bench.vault.admin.get(`${bench.url}/rules/versions/${second!.number}/diff?to=${newest!.number}`)
    expect(diff.body).toMatchObject({
      direction: 'loosening',
      differences: [{ kind: 'policy', name: 'Allow transfers', before: null, after: { code: 'allow-transfers' } }],
    })
  })

  test('a request that changes no rule publishes no version', async () => {
    const [{ number } = { number: 0 }] = await bench.versions()
    expect((await bench.vault.admin.patch(bench.url, { name: 'Another name' })).status).toBe(200)
    const group = `/policy-groups/${bench.membersId}` as const
    expect((await bench.vault.admin.patch(group, { color: '#112233' })).status).toBe(200)
    expect((await bench.versions())[0]!.number).toBe(number)
  })

  test('a change outside of the service becomes a separate version without an author', async () => {
    const [{ number } = { number: 0 }] = await bench.versions()
    await bench.sql(`update tokens set enabled = false where code = 'USDT'`)
    await bench.vault.admin.patch(`/policy-groups/${bench.membersId}`, { name: 'All members' })
    const [newest, between] = await bench.versions()
    expect(newest).toMatchObject({ number: number + 2, authorId: bench.vault.admin.userId })
    expect(between).toMatchObject({ number: number + 1, authorId: null, direction: 'tightening' })
  })

  test('versions cannot be rewritten by the role of the service', async () => {
    await expect(bench.test.deps.db.deleteFrom('rules_versions').execute()).rejects.toThrow('permission denied')
  })

  test('a return to an earlier version is a change set', async () => {
    const [{ number } = { number: 0 }] = await bench.versions()
    const { id } = (await bench.vault.admin.get(`${bench.url}/policies`)).body.items[0]!
    await bench.vault.admin.delete(`/policies/${id}`)
    expect(await policiesOf()).toEqual([])
    const rollback = await bench.vault.admin.post(`${bench.url}/rules/versions/${number}/rollback`)
    expect(rollback.status, JSON.stringify(rollback.body)).toBe(201)
    expect(rollback.body).toMatchObject({ status: 'draft', direction: 'loosening', changeCount: 1 })
    const applied = await bench.submit(rollback.body.id)
    expect(applied.status, JSON.stringify(applied.body)).toBe(200)
    expect(applied.body).toMatchObject({ status: 'applied', appliedVersion: number + 2 })
    expect(await policiesOf()).toEqual(['allow-transfers'])
    expect((await bench.versions())[0]).toMatchObject({ changeSetId: rollback.body.id })
  })

  test('a return to an earlier version makes a deleted policy again although its code has passed to another policy', async () => {
    const { admin } = bench.vault
    const idOf = async (code: string) => {
      const { items } = (await admin.get(`${bench.url}/policies?limit=100`)).body
      return items.find((policy) => policy.code === code)!.id
    }
    for (const policy of [
      { ...allowTransfers, code: 'first', name: 'First' },
      { ...blockTransfers, code: 'second', name: 'Second' },
    ])
      await admin.post(`/policy-groups/${bench.membersId}/policies`, policy)
    const [{ number } = { number: 0 }] = await bench.versions()
    const documentOf = async (version: number) =>
      (await admin.get(`${bench.url}/rules/versions/${version}`)).body.document.policies.map(
        ({ id: _, ...policy }) => policy,
      )
    await admin.delete(`/policies/${await idOf('second')}`)
    await admin.patch(`/policies/${await idOf('first')}`, { code: 'second' })
    const rollback = await admin.post(`${bench.url}/rules/versions/${number}/rollback`)
    expect(rollback.status, JSON.stringify(rollback.body)).toBe(201)
    expect((await bench.submit(rollback.body.id)).status).toBe(200)
    const [{ number: newest } = { number: 0 }] = await bench.versions()
    expect(await documentOf(newest)).toEqual(await documentOf(number))
  })

  test('members read no versions', async () => {
    expect((await bench.member.get(`${bench.url}/rules/versions`)).body.items).toEqual([])
    expect((await bench.member.get(`${bench.url}/rules/versions/1`)).status).toBe(404)
    expect((await bench.member.get(`${bench.url}/change-sets`)).body.items).toEqual([])
  })
})

describe('governance', () => {
  beforeEach(async () => {
    bench = await createGovernanceBench()
    return () => bench.close()
  })

  test('it is off by default; switching it on needs enough people', async () => {
    const { body } = await bench.member.get(`${bench.url}/governance`)
    expect(body).toEqual({ threshold: 0, approverGroupId: null, looseningDelayHours: 0, tighteningDelayHours: 0 })
    const tooMany = await bench.govern({ threshold: 4 })
    expect(tooMany.body.reason).toBe('quorum_unreachable')
    expect((await bench.govern({ threshold: 3 })).status).toBe(200)
  })

  test('its approver group cannot be deleted, even while it is off', async () => {
    const { admin } = bench.vault
    const group = await admin.post(`${bench.url}/policy-groups`, { code: 'board', name: 'Board' })
    expect((await bench.govern({ threshold: 0, approverGroupId: group.body.id })).status).toBe(200)
    const refused = await admin.delete(`/policy-groups/${group.body.id}`)
    expect([refused.status, refused.body.reason]).toEqual([409, 'in_use'])
    expect((await bench.govern({ threshold: 0, approverGroupId: null })).status).toBe(200)
    expect((await admin.delete(`/policy-groups/${group.body.id}`)).status).toBe(204)
  })

  test('T35 T74 one administrator cannot loosen: the change waits for the votes of two others', async () => {
    expect((await bench.govern()).status).toBe(200)
    const [first, second, third] = bench.admins
    const response = await first!.post(`/policy-groups/${bench.membersId}/policies`, allowTransfers)
    expect(response.status, JSON.stringify(response.body)).toBe(202)
    const { request } = response.body
    expect(request).toMatchObject({ action: 'rules_change', targetType: 'change_set', approvalThreshold: 2 })
    expect(await policiesOf()).toEqual([])
    expect((await bench.approve(first!, request.id)).body.reason).toBe('not_an_approver')
    expect((await bench.approve(second!, request.id)).status).toBe(200)
    expect(await policiesOf()).toEqual([])
    const last = await bench.approve(third!, request.id)
    expect(last.body, JSON.stringify(last.body)).toMatchObject({ status: 'applied' })
    expect(await policiesOf()).toEqual(['allow-transfers'])
    expect(await bench.changeSet(request.targetId!)).toMatchObject({ status: 'applied', isDirect: true })
    expect((await bench.versions())[0]).toMatchObject({ changeSetId: request.targetId, authorId: first!.userId })
  })

  test('one administrator can tighten at once, but cannot undo the change alone', async () => {
    await bench.govern({ tighteningDelayHours: 24 })
    const blocked = await bench.vault.admin.post(`/policy-groups/${bench.membersId}/policies`, blockTransfers)
    expect(blocked.status, JSON.stringify(blocked.body)).toBe(201)
    expect((await bench.vault.admin.delete(`/policies/${blocked.body.id}`)).status).toBe(202)
    expect((await bench.vault.admin.patch(`/policies/${blocked.body.id}`, { enabled: false })).status).toBe(202)
    expect(await policiesOf()).toEqual(['block-transfers'])
  })

  test('changing or ending governance is governed in both directions', async () => {
    await bench.govern()
    expect((await bench.govern({ threshold: 0 })).status).toBe(202)
    expect((await bench.govern({ threshold: 3 })).status).toBe(202)
    const response = await bench.govern({ threshold: 0 }, bench.admins[1]!)
    expect(response.status).toBe(202)
    await bench.approve(bench.admins[0]!, response.body.request.id)
    await bench.approve(bench.admins[2]!, response.body.request.id)
    expect((await bench.vault.admin.get(`${bench.url}/governance`)).body.threshold).toBe(0)
  })

  test('every governed endpoint waits, and changes nothing', async () => {
    const { vault, membersId, url, admins } = bench
    const policy = (await vault.admin.post(`/policy-groups/${membersId}/policies`, blockTransfers)).body
    const category = (
      await vault.admin.post(`${url}/operation-categories`, {
        key: 'invoice',
        name: 'Invoice',
        approvalScope: 'edit',
        approvalThreshold: 2,
      })
    ).body
    const routeId = vault.vault.routes.find(({ code }) => code === 'purpose')!.id
    const variant = vault.vault.routes.find(({ code }) => code === 'purpose')!.variants[0]
    await vault.admin.patch(`${url}/variants/${variant!.id}`, { enabled: false })
    await bench.govern()
    const before = await bench.versions()
    const { administrators } = vault.groups
    const responses = await Promise.all([
      vault.admin.post(`/policy-groups/${membersId}/policies`, allowTransfers),
      vault.admin.patch(`/policies/${policy.id}`, { effect: 'allow' }),
      vault.admin.delete(`/policies/${policy.id}`),
      vault.admin.post(`/policy-groups/${administrators}/members`, { userId: bench.member.userId }),
      vault.admin.delete(`/policy-groups/${administrators}/members/${admins[3]!.userId}`),
      vault.admin.delete(`${url}/members/${admins[3]!.userId}`),
      vault.admin.post('/invitations', { email: 'new@example.org', groupIds: [membersId] }),
      vault.admin.post(`${url}/service-tokens`, { name: 'Payroll', groupIds: [membersId] }),
      vault.admin.patch(`${url}/operation-categories/${category.id}`, { approvalScope: 'none' }),
      vault.admin.put(`${url}/operation-categories/${category.id}/approvers`, {
        approvers: [{ kind: 'user', userId: vault.admin.userId }],
      }),
      vault.admin.patch(url, { walletServiceSecret: 'another-secret-of-the-wallet-service' }),
      vault.admin.post(`${url}/routes/${routeId}/variants`, { id: 9, code: 'nine', name: 'Nine' }),
      vault.admin.patch(`${url}/variants/${variant!.id}`, { enabled: true }),
      bench.govern({ looseningDelayHours: 1 }),
    ])
    expect(responses.map(({ status, body }) => (status === 202 ? 202 : body))).toEqual(responses.map(() => 202))
    expect(await bench.versions()).toEqual(before)
    const stored = await bench.sql('select changes::text, document::text from change_sets')
    expect(JSON.stringify(stored)).not.toContain('another-secret')
    const requests = await bench.sql('select steps::text from approval_requests')
    expect(JSON.stringify(requests)).not.toContain('another-secret')
  })

  test('T74 the database refuses a change of the rules that was not published', async () => {
    await bench.govern()
    const remove = bench.test.deps.db
      .deleteFrom('policy_group_memberships')
      .where('user_id', '=', bench.member.userId)
      .execute()
    await expect(remove).rejects.toThrow('outside of its governance')
  })

  test('a service token is shown at the request, and valid after the votes', async () => {
    await bench.govern({ threshold: 1 })
    const response = await bench.vault.admin.post(`${bench.url}/service-tokens`, {
      name: 'Payroll',
      groupIds: [bench.membersId],
      scopes: ['read'],
    })
    expect(response.status).toBe(202)
    expect(JSON.stringify(response.body.request.boundPayload)).toContain('"scopes":["read"]')
    const service = bench.test.client({ authorization: `Bearer ${response.body.token}` })
    expect((await service.get('/vaults')).status).toBe(401)
    await bench.approve(bench.admins[1]!, response.body.request.id)
    expect((await service.get('/vaults')).body.items).toHaveLength(1)
    expect((await service.patch('/users/me', { name: 'Other' })).body.reason).toBe('token_scope_missing')
  })

  test('a service token for which no scopes are named has all, which its voters see', async () => {
    await bench.govern({ threshold: 1 })
    const body = { name: 'Payroll', groupIds: [bench.membersId] }
    const { request } = (await bench.vault.admin.post(`${bench.url}/service-tokens`, body)).body
    const all = '"scopes":["read","operate","vote","write","report","rules"]'
    expect(JSON.stringify(request.boundPayload)).toContain(all)
  })

  test('a change that a service requests needs one more person', async () => {
    const administrators = bench.vault.groups.administrators
    const token = (
      await bench.vault.admin.post(`${bench.url}/service-tokens`, { name: 'CI', groupIds: [administrators] })
    ).body.token
    await bench.govern({ threshold: 1 })
    const service = bench.test.client({ authorization: `Bearer ${token}` })
    const response = await service.post(`/policy-groups/${bench.membersId}/policies`, allowTransfers)
    expect(response.body.request.approvalThreshold).toBe(2)
    await bench.approve(bench.vault.admin, response.body.request.id)
    expect(await policiesOf()).toEqual([])
    await bench.approve(bench.admins[1]!, response.body.request.id)
    expect(await policiesOf()).toEqual(['allow-transfers'])
  })

  test('a secret takes effect after the votes', async () => {
    await bench.govern({ threshold: 1 })
    const response = await bench.vault.admin.patch(bench.url, { walletServiceSecret: 'another-secret-of-the-wallet' })
    const done = await bench.approve(bench.admins[1]!, response.body.request.id)
    expect(done.body.status, JSON.stringify(done.body)).toBe('applied')
    const [row] = await bench.sql('select id, wallet_service_url, wallet_service_secret as sealed from vaults')
    const { sealed, ...home } = row as { id: string; wallet_service_url: string; sealed: Buffer }
    const kept = openSecret(bench.test.deps.sealer, home, 'wallet_service_secret', sealed)
    expect(kept).toBe('another-secret-of-the-wallet')
  })

  test('a token that the platform enables is withheld until the vault accepts it', async () => {
    await bench.govern({ threshold: 1 })
    const { body: token } = await bench.vault.admin.post('/tokens', {
      network: 'ethereum',
      code: 'NEW',
      symbol: 'NEW',
      name: 'New token',
      decimals: 6,
      contractAddress: '0x1111111111111111111111111111111111111111',
    })
    const withheld = async () => (await bench.vault.admin.get(`${bench.url}/withheld-tokens`)).body.items
    expect(await withheld()).toMatchObject([{ tokenId: token.id, code: 'NEW' }])
    const response = await bench.vault.admin.post(`${bench.url}/withheld-tokens/${token.id}/accept`)
    expect(response.status, JSON.stringify(response.body)).toBe(202)
    await bench.approve(bench.admins[1]!, response.body.request.id)
    expect(await withheld()).toEqual([])
    const rate = { usdRate: '1', asOf: new Date(Date.now() - 1000).toISOString(), source: 'hand' }
    expect((await bench.vault.admin.post(`/tokens/${token.id}/rates`, rate)).status).toBe(202)
  })

  test('an approved invitation is accepted without another vote', async () => {
    await bench.vault.admin.post('/invitations', { email: 'guest@example.org', groupIds: [bench.membersId] })
    await bench.govern()
    const { acceptInvitations } = await import('../../people/invitations/actions.ts')
    const guest = await bench.test.signIn('guest@example.org')
    await bench.test.deps.db
      .transaction()
      .execute((trx) => acceptInvitations(trx, 'guest@example.org', guest.userId, new Date()))
    expect((await bench.versions())[0]).toMatchObject({ authorId: guest.userId, changeSetId: null })
  })
})
