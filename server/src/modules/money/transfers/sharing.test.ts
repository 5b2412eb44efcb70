import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, createPolicy, ensureGroup } from '../../../testing/fixtures.ts'
import { amountRule, createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

const base = '/vaults/main-vault'

let bench: TransferBench
let grantee: Person
let viewer: Person
let stranger: Person
let juniorsId: string
let address: Address

beforeAll(async () => {
  bench = await createTransferBench()
  const { test, vault } = bench
  grantee = await addMember(test, vault, 'clerk@example.org', ['juniors', 'members'])
  viewer = await addMember(test, vault, 'auditor@example.org')
  stranger = await addMember(test, vault, 'payroll@example.org')
  juniorsId = await ensureGroup(vault, 'juniors')
})
afterAll(() => bench.close())
beforeEach(async () => {
  address = await bench.fundedAddress()
})
afterEach(() => bench.expectSoundLedger())

type Feed = 'transfers' | 'deposits' | 'history'
type Shared = `addresses/${string}` | `address-groups/${string}`
async function grant(subject: object, more: object = {}, on: Shared = `addresses/${address.id}`) {
  const answer = await bench.owner.post(`${base}/${on}/grants`, { ...subject, ...more })
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status)
  return answer.body
}
const user = ({ userId }: Person) => ({ subjectType: 'user', subjectId: userId })
const group = (id: string) => ({ subjectType: 'group', subjectId: id })
const revoke = (id: string, on: Shared = `addresses/${address.id}`) => bench.owner.delete(`${base}/${on}/grants/${id}`)

async function createFolder(...addressIds: string[]): Promise<string> {
  const { body } = await bench.owner.post(`${base}/address-groups`, { name: 'Suppliers' })
  for (const addressId of addressIds) {
    expect((await bench.owner.post(`${base}/address-groups/${body.id}/members`, { addressId })).status).toBe(201)
  }
  return body.id
}

async function idsOf(by: Person, path: Feed | `${Feed}?${string}`): Promise<string[]> {
  const answer = await by.get(`${base}/${path}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.items.map(({ id }) => id)
}

const order = (amount: string, by: Person) => bench.order(address.id, amount, {}, by)
const approveBoth = async (id: string) => {
  expect((await bench.act(bench.firstApprover, id, 'approve')).status).toBe(200)
  return bench.act(bench.secondApprover, id, 'approve')
}

describe('a transfer by a user with whom the address is shared', () => {
  it('is visible to the user and the owner, and moves the funds of the owner', async () => {
    await grant(user(grantee), { canTransfer: true })
    await grant(user(viewer))
    const { status, body } = await order('50', grantee)
    expect([status, body.status, body.initiatorId]).toEqual([201, 'pending', grantee.userId])
    expect(await bench.balances(address.id)).toEqual({ available: '950', reserved: '50' })
    for (const list of ['transfers', 'history'] as const) {
      expect(await idsOf(grantee, list)).toContain(body.id)
      expect(await idsOf(bench.owner, list)).toContain(body.id)
      expect(await idsOf(viewer, list)).not.toContain(body.id)
      expect(await idsOf(viewer, `${list}?includeShared=true`)).toContain(body.id)
      expect(await idsOf(stranger, `${list}?includeShared=true`)).not.toContain(body.id)
    }
    for (const person of [grantee, bench.owner, viewer, bench.vault.admin]) {
      expect((await person.get(`${base}/transfers/${body.id}`)).status).toBe(200)
    }
    expect((await stranger.get(`${base}/transfers/${body.id}`)).status).toBe(404)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(body.id)).toBe(1)
  })

  it('is decided by the policies of the initiator, not of the owner', async () => {
    const policy = await createPolicy(bench.vault, {
      groupId: juniorsId,
      code: 'juniors-pay-little',
      name: 'Juniors pay little',
      actionType: 'transfer',
      effect: 'block',
      blockReason: 'Juniors pay up to 60',
      rules: amountRule({ op: 'gt', value: '60' }),
    })
    await grant(user(grantee), { canTransfer: true })
    const refused = await order('61', grantee)
    expect([refused.status, refused.body.message]).toEqual([403, 'Juniors pay up to 60'])
    expect([(await order('60', grantee)).status, (await order('61', bench.owner)).status]).toEqual([201, 201])
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })

  it('may be granted by a folder, by a group and by everyone', async () => {
    const folderId = await createFolder(address.id)
    const onFolder = `address-groups/${folderId}` as const
    for (const [subject, on] of [
      [user(grantee), onFolder],
      [group(juniorsId), `addresses/${address.id}`],
      [group(bench.vault.groups.everyone), onFolder],
    ] as const) {
      expect((await order('1', grantee)).status).toBe(404)
      const { id } = await grant(subject, { canTransfer: true }, on)
      expect((await order('1', grantee)).status).toBe(201)
      await revoke(id, on)
    }
    expect((await order('1', grantee)).status).toBe(404)
    // Grants never restrict the owner, whatever was granted and revoked.
    expect((await order('1', bench.owner)).status).toBe(201)
  })

  it('may be previewed only by users who may order it', async () => {
    await grant(user(grantee), { canTransfer: true })
    await grant(user(viewer))
    const preview = async (by: Person) =>
      (
        await by.post(`${base}/transfers/preview`, {
          fromAddressId: address.id,
          toAddress: bench.recipient,
          amount: '1',
        })
      ).status
    const people = [grantee, bench.owner, viewer, bench.vault.admin, stranger]
    expect(await Promise.all(people.map(preview))).toEqual([200, 200, 403, 403, 404])
  })
})

describe('a user without the right to transfer', () => {
  it('T39 gets 403 if they see the address and 404 otherwise, administrators included', async () => {
    await grant(user(viewer))
    const before = await bench.count('transfers')
    const statuses = async () => [
      (await order('1', viewer)).status,
      (await order('1', bench.vault.admin)).status,
      (await order('1', stranger)).status,
    ]
    expect(await statuses()).toEqual([403, 403, 404])
    expect(await bench.count('transfers')).toBe(before)
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
    // An administrator with the grant may.
    await grant(user(bench.vault.admin), { canTransfer: true })
    expect(await statuses()).toEqual([403, 201, 404])
  })

  it('T47 is refused at the next order after the right was taken back or reduced to viewing', async () => {
    const { id } = await grant(user(grantee), { canTransfer: true })
    expect((await order('1', grantee)).status).toBe(201)
    await grant(user(grantee), { canTransfer: false })
    expect((await order('1', grantee)).status).toBe(403)
    await revoke(id)
    expect((await order('1', grantee)).status).toBe(404)
  })

  it('T47 is refused after leaving the group with the grant', async () => {
    await grant(group(juniorsId), { canTransfer: true })
    expect((await order('1', grantee)).status).toBe(201)
    await bench.vault.admin.delete(`/policy-groups/${juniorsId}/members/${grantee.userId}`)
    expect((await order('1', grantee)).status).toBe(404)
    await bench.vault.admin.post(`/policy-groups/${juniorsId}/members`, { userId: grantee.userId })
    expect((await order('1', grantee)).status).toBe(201)
  })

  it('T39 a viewer of an address may neither vote on transfers from it nor order them', async () => {
    await grant(user(viewer), { canTransfer: true })
    const { body } = await order('200', bench.owner)
    expect(body.status).toBe('awaiting_approval')
    for (const verb of ['approve', 'reject', 'cancel'] as const) {
      expect([verb, (await bench.act(viewer, body.id, verb)).status]).toEqual([verb, 403])
    }
    expect((await bench.read(body.id)).status).toBe('awaiting_approval')
  })
})

describe('a transfer that was ordered before the right was taken back', () => {
  it('stays visible to its initiator, who may cancel it', async () => {
    const { id } = await grant(user(grantee), { canTransfer: true })
    const { body } = await order('200', grantee)
    await revoke(id)
    expect((await grantee.get(`${base}/addresses/${address.id}`)).status).toBe(404)
    expect((await grantee.get(`${base}/transfers/${body.id}`)).body.status).toBe('awaiting_approval')
    expect(await idsOf(grantee, 'transfers')).toContain(body.id)
    expect(await idsOf(grantee, 'history')).toContain(body.id)
    const cancelled = await bench.act(grantee, body.id, 'cancel')
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })

  const takeBack: [name: string, share: () => Promise<() => Promise<unknown>>][] = [
    [
      'the grant was revoked',
      async () => {
        const { id } = await grant(user(grantee), { canTransfer: true })
        return () => revoke(id)
      },
    ],
    [
      'the grant was reduced to viewing',
      async () => {
        await grant(user(grantee), { canTransfer: true })
        return () => grant(user(grantee), { canTransfer: false })
      },
    ],
    [
      'the address was taken out of the folder',
      async () => {
        const folderId = await createFolder(address.id)
        await grant(user(grantee), { canTransfer: true }, `address-groups/${folderId}`)
        return () => bench.owner.delete(`${base}/address-groups/${folderId}/members/${address.id}`)
      },
    ],
    [
      'the folder was deleted',
      async () => {
        const folderId = await createFolder(address.id)
        await grant(group(bench.vault.groups.everyone), { canTransfer: true }, `address-groups/${folderId}`)
        return () => bench.owner.delete(`${base}/address-groups/${folderId}`)
      },
    ],
    [
      'the initiator left the group',
      async () => {
        await grant(group(juniorsId), { canTransfer: true })
        return () => bench.vault.admin.delete(`/policy-groups/${juniorsId}/members/${grantee.userId}`)
      },
    ],
  ]
  it.each(takeBack)('T29 stops when %s meanwhile', async (_, share) => {
    const undo = await share()
    const { body } = await order('200', grantee)
    expect(body.status).toBe('awaiting_approval')
    await undo()
    const last = await approveBoth(body.id)
    expect([last.status, last.body.message]).toEqual([409, 'The initiator may no longer transfer from this address'])
    // The refused vote leaves no trace: with a new grant, the next vote counts.
    expect(await bench.read(body.id)).toMatchObject({
      status: 'awaiting_approval',
      approvalRequirements: [{ approvalsCount: 1 }],
    })
    await bench.vault.admin.post(`/policy-groups/${juniorsId}/members`, { userId: grantee.userId })
    await grant(user(grantee), { canTransfer: true })
    const again = await bench.act(bench.secondApprover, body.id, 'approve')
    expect([again.status, again.body.status]).toEqual([200, 'pending'])
  })

  it('T29 by the owner continues whatever happened to grants', async () => {
    const { id } = await grant(user(bench.vault.admin), { canTransfer: true })
    const { body } = await order('200', bench.owner)
    await revoke(id)
    expect((await approveBoth(body.id)).body.status).toBe('pending')
  })
})

describe('policies by folder', () => {
  const byFolder = (code: string, folderId: string, more: object) =>
    bench.policy({
      code,
      rules: [{ conditionType: 'require', selectors: [{ selectorType: 'addressGroup', value: [folderId] }] }],
      ...more,
    })

  it('read the folders of the address at the time of the order', async () => {
    const folderId = await createFolder()
    const policy = await byFolder('frozen', folderId, { effect: 'block', blockReason: 'The folder is frozen' })
    expect((await order('1', bench.owner)).status).toBe(201)
    await bench.owner.post(`${base}/address-groups/${folderId}/members`, { addressId: address.id })
    const refused = await order('1', bench.owner)
    expect([refused.status, refused.body.message]).toEqual([403, 'The folder is frozen'])
    await bench.owner.delete(`${base}/address-groups/${folderId}/members/${address.id}`)
    expect((await order('1', bench.owner)).status).toBe(201)
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })

  it('T29 block at the last vote a transfer whose address moved into a blocked folder', async () => {
    const folderId = await createFolder()
    const policy = await byFolder('frozen-later', folderId, { effect: 'block', blockReason: 'The folder is frozen' })
    const { body } = await order('200', bench.owner)
    await bench.owner.post(`${base}/address-groups/${folderId}/members`, { addressId: address.id })
    const last = await approveBoth(body.id)
    expect([last.status, last.body.details]).toEqual([409, 'The folder is frozen'])
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })

  it('show in the trace only the folders that a policy names', async () => {
    const [named, private_] = [await createFolder(address.id), await createFolder(address.id)]
    const policy = await byFolder('named', named, { effect: 'requireApproval', approvalThreshold: 1 })
    await grant(user(grantee), { canTransfer: true })
    const { body } = await order('1', grantee)
    const { decision } = (await grantee.get(`${base}/transfers/${body.id}`)).body
    const traced = decision!.trace.find((entry) => entry.policyCode === 'named')
    expect(traced!.rules[0]!.selectors[0]).toEqual({
      selectorType: 'addressGroup',
      matched: true,
      expected: [named],
      observed: [named],
    })
    expect(JSON.stringify(decision)).not.toContain(private_)
    await bench.act(grantee, body.id, 'cancel')
    await bench.vault.admin.delete(`/policies/${policy.id}`)
  })
})

describe('lists of transfers, deposits and history', () => {
  it('hold the member’s own operations, with includeShared also shared operations, and with a folder those of the folder', async () => {
    const reader = await addMember(bench.test, bench.vault, 'reader@example.org')
    const ownAddress = await bench.fundedAddress({ usdt: '10' }, reader)
    const [shared, inFolder, hidden] = [address, await bench.fundedAddress(), await bench.fundedAddress()]
    const folderId = await createFolder(inFolder.id, shared.id)
    await grant(user(reader), {}, `addresses/${shared.id}`)
    const ordered = new Map<string, string>()
    for (const source of [ownAddress, shared, inFolder, hidden]) {
      const { status, body } = await bench.order(source.id, '1', {}, source === ownAddress ? reader : bench.owner)
      expect(status).toBe(201)
      ordered.set(source.id, body.id)
    }
    const transfersOf = (...list: Address[]) => list.map(({ id }) => ordered.get(id)).sort()
    const depositOf = async (recipient: Address) =>
      (await idsOf(bench.vault.admin, `deposits?addressId=${recipient.id}`))[0]
    const depositsOf = async (...list: Address[]) => (await Promise.all(list.map(depositOf))).sort()

    const seen = async (query: string, by = reader) => ({
      transfers: (await idsOf(by, `transfers?limit=100&${query}`)).sort(),
      deposits: (await idsOf(by, `deposits?limit=100&${query}`)).sort(),
      history: (await idsOf(by, `history?limit=100&${query}`)).sort(),
    })
    const about = async (...list: Address[]) => {
      const [transfers, deposits] = [transfersOf(...list), await depositsOf(...list)]
      return { transfers, deposits, history: [...transfers, ...deposits].sort() }
    }
    expect(await seen('')).toEqual(await about(ownAddress))
    expect(await seen('includeShared=false')).toEqual(await about(ownAddress))
    expect(await seen('includeShared=true')).toEqual(await about(ownAddress, shared))
    // The reader may not see the folder, although they see an address in it.
    expect(await seen(`folderId=${folderId}`)).toEqual(await about())

    const { id } = await grant(user(reader), {}, `address-groups/${folderId}`)
    expect(await seen('includeShared=true')).toEqual(await about(ownAddress, shared, inFolder))
    expect(await seen(`folderId=${folderId}`)).toEqual(await about(shared, inFolder))
    expect(await seen(`folderId=${folderId}&includeShared=false`)).toEqual(await about())
    expect(await seen(`folderId=${folderId}`, bench.owner)).toEqual(await about(shared, inFolder))
    expect(await seen(`folderId=${folderId}`, bench.vault.admin)).toEqual(await about(shared, inFolder))
    expect((await reader.get(`${base}/deposits/${await depositOf(inFolder)}`)).status).toBe(200)

    await bench.owner.delete(`${base}/address-groups/${folderId}/members/${shared.id}`)
    expect(await seen(`folderId=${folderId}`)).toEqual(await about(inFolder))
    await revoke(id, `address-groups/${folderId}`)
    expect(await seen('includeShared=true')).toEqual(await about(ownAddress, shared))
    expect((await reader.get(`${base}/deposits/${await depositOf(inFolder)}`)).status).toBe(404)
    await bench.owner.delete(`${base}/address-groups/${folderId}`)
    expect(await seen(`folderId=${folderId}`, bench.owner)).toEqual(await about())
  })
})
