import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember, allowAll, createVaultFixture } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let address: Address
/** A member with whom the paying address is shared. */
let viewer: Person
const base = '/vaults/main-vault'

beforeAll(async () => {
  bench = await createTransferBench()
  viewer = await addMember(bench.test, bench.vault, 'viewer@example.org')
  // A user who is held in their only vault is signed out.
  const other = await createVaultFixture(bench.test, { code: 'other-vault', isLocked: false })
  for (const { email } of [bench.owner, bench.firstApprover]) await addMember(bench.test, other, email)
  await allowAll(bench.vault, 'counterparty_create')
})
afterAll(() => bench.close())
beforeEach(async () => {
  address = await bench.fundedAddress()
  const grant = { subjectType: 'user', subjectId: viewer.userId, canTransfer: false } as const
  expect((await bench.owner.post(`${base}/addresses/${address.id}/grants`, grant)).status).toBe(201)
})
afterEach(() =>
  bench.sql(
    `update holds set released_at = now(), released_by_id = $1, release_reason = 'end of a test' where released_at is null`,
    [bench.vault.admin.userId],
  ),
)

async function hold(subjectType: string, subjectId: string, reason: string): Promise<string> {
  const { status, body } = await bench.vault.admin.post(`${base}/holds`, { subjectType, subjectId, reason })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

async function waitingFor(toAddress: string): Promise<string> {
  const { body } = await bench.order(address.id, '200', { toAddress })
  expect(body.status).toBe('awaiting_approval')
  return body.id
}

async function read(reader: Person, id: string) {
  const { status, body } = await reader.get(`${base}/transfers/${id}`)
  expect(status).toBe(200)
  return body
}

const enter = async (name: string, at: string) => {
  const entry = { name, kind: 'company', addresses: [{ network: 'ethereum', address: at }] } as const
  const { status, body } = await bench.owner.post(`${base}/counterparties`, entry)
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

const lookAlikeOf = (at: string) => {
  const [start, end] = [at.slice(0, 6), at.slice(-4)]
  return `${start}${'5'.repeat(32)}${end}`.toLowerCase()
}

describe('T28 a transfer that waits is read with the facts of the moment', () => {
  it('names a counterparty that was entered and held after the order, with the reason, the placer and the time', async () => {
    const at = fakeAddress('enters the book after the order')
    const id = await waitingFor(at)
    expect(await read(bench.firstApprover, id)).toMatchObject({ recipient: { counterparty: null }, holds: [] })
    const counterpartyId = await enter('Harbour Trading', at)
    await hold('counterparty', counterpartyId, 'It is on a list of sanctions')
    const shown = await read(bench.firstApprover, id)
    expect(shown.counterparty).toBe(null)
    expect(shown.recipient?.counterparty).toEqual({
      ...{ id: counterpartyId, name: 'Harbour Trading', kind: 'company', isArchived: false },
    })
    const [admin] = await bench.sql(`select coalesce(name, username, id) as name from users where id = $1`, [
      bench.vault.admin.userId,
    ])
    expect(shown.holds).toEqual([
      expect.objectContaining({
        ...{ subjectType: 'counterparty', subjectId: counterpartyId, subjectName: 'Harbour Trading' },
        ...{ origin: 'people', reason: 'It is on a list of sanctions' },
        placedBy: expect.objectContaining({ name: admin!.name }),
        createdAt: expect.stringMatching(/^20\d\d-/),
      }),
    ])
    const refused = await bench.act(bench.firstApprover, id, 'approve')
    expect([refused.status, refused.body.reason]).toEqual([409, 'held'])
  })

  it('shows each reader the part of a hold that they may read', async () => {
    const id = await waitingFor(fakeAddress('ordered by a person who is held'))
    await hold('user', bench.owner.userId, 'Their laptop was stolen')
    const [byAdmin] = (await read(bench.vault.admin, id)).holds!
    expect(byAdmin).toMatchObject({ subjectType: 'user', reason: 'Their laptop was stolen' })
    const hidden = { id: null, subjectId: null, subjectName: null, reason: null, placedBy: null, createdAt: null }
    const origin = 'people'
    expect((await read(bench.firstApprover, id)).holds).toEqual([{ ...hidden, subjectType: 'user', origin }])
    expect((await read(viewer, id)).holds).toEqual([])
  })

  it('names each hold once, oldest first, and no hold after the transfer was cancelled', async () => {
    const at = fakeAddress('held in two ways')
    const counterpartyId = await enter('Two Ways', at)
    const id = await waitingFor(at)
    await hold('counterparty', counterpartyId, 'first')
    await hold('address', address.id, 'second')
    const { holds } = await read(bench.vault.admin, id)
    expect(holds!.map(({ reason }) => reason)).toEqual(['first', 'second'])
    expect((await bench.owner.post(`${base}/transfers/${id}/cancel`, {})).status).toBe(200)
    expect((await read(bench.vault.admin, id)).holds).toEqual([])
  })

  it('shows that its address is exposed', async () => {
    const id = await waitingFor(fakeAddress('paid from an exposed address'))
    const owe = (exposure: number) =>
      bench.sql(`update ledger_accounts set exposure = $2 where address_id = $1 and purpose = 'available'`, [
        address.id,
        exposure,
      ])
    await owe(1)
    expect((await read(bench.firstApprover, id)).isExposed).toBe(true)
    await owe(0)
    expect((await read(bench.firstApprover, id)).isExposed).toBe(false)
  })
})

describe('T21 the addresses that a recipient resembles', () => {
  it('are named to those who decide, as far as they know them', async () => {
    const known = fakeAddress('an entry with a double')
    await enter('Harbour Trading', known)
    const id = await waitingFor(lookAlikeOf(known))
    const lookAlikes = [{ address: known, name: 'Harbour Trading' }]
    for (const reader of [bench.firstApprover, bench.vault.admin])
      expect((await read(reader, id)).recipient).toMatchObject({ isLookAlike: true, lookAlikes })
    expect((await read(bench.owner, id)).recipient).toBe(null)
  })

  it('are hidden from a voter who may not see them, who sees only that the recipient is a look-alike', async () => {
    const hidden = await bench.fundedAddress()
    const id = await waitingFor(lookAlikeOf(hidden.address))
    expect((await read(bench.firstApprover, id)).recipient).toMatchObject({ isLookAlike: true, lookAlikes: [] })
    const [alike] = (await read(bench.vault.admin, id)).recipient!.lookAlikes
    expect(alike?.address).toBe(hidden.address)
  })

  it('are not named for an address of the address book', async () => {
    const known = fakeAddress('one of two entries')
    await enter('First of two', known)
    await enter('Second of two', lookAlikeOf(known))
    const id = await waitingFor(lookAlikeOf(known))
    expect((await read(bench.firstApprover, id)).recipient).toMatchObject({ isLookAlike: false, lookAlikes: [] })
  })
})
