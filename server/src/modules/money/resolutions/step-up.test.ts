import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import type { Authenticator } from '../../../testing/authenticator.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, deposit, usdtContract } from '../../../testing/fixtures.ts'
import { acceptRequest, addPasskey, confirmationOf, confirmed, type Write } from '../../../testing/passkeys.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

/** A protected vault of two administrators with passkeys, with a halted transfer and a quarantined event from before. */
let bench: TransferBench
let admin: Person
let second: Person
let key: Authenticator
let secondKey: Authenticator
let transferId: string
let eventId: string
const base = () => `/vaults/${bench.vault.code}` as const

beforeAll(async () => {
  bench = await createTransferBench()
  admin = bench.vault.admin
  second = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
  key = await addPasskey(admin)
  secondKey = await addPasskey(second)
  transferId = await haltedTransfer()
  eventId = await quarantinedEvent()
  const write: Write = { method: 'put', url: `${base()}/protection`, body: { protection: 'votes' } }
  expect((await confirmed(admin, key, write)).status).toBe(200)
})
afterAll(() => bench.close())

async function haltedTransfer(): Promise<string> {
  const address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  const { body } = await bench.order(address.id, '40')
  await bench.deliver()
  bench.vault.wallet.forget(body.id)
  await bench.deliver()
  expect((await bench.read(body.id)).haltReason).toBe('The wallet service no longer knows this transfer')
  return body.id
}

async function quarantinedEvent(): Promise<string> {
  const address = await bench.fundedAddress({ usdt: '0' })
  const of = { address: address.address, asset: usdtContract, txHash: fakeTxHash('twice') }
  await deposit(bench.test, { ...of, amount: '100' })
  await deposit(bench.test, { ...of, amount: '150' })
  const { body } = await admin.get(`${base()}/deposits?outcome=quarantined&addressId=${address.id}`)
  return body.items[0]!.id
}

const outcome = ({ status, body }: Answer<{ reason: string }>) => [status, body?.reason]
const write = <Url extends string>(url: Url, body: object) => ({ method: 'post' as const, url, body })
const required = [403, 'passkey_required']
const requests = async (action: string) =>
  (await admin.get(`${base()}/approval-requests?action=${action}`)).body.items.length

describe.each(['transfer_resolve', 'event_resolve'])('%s in a protected vault', (action) => {
  const ask = (changes: object = {}) => {
    const reason = { reason: 'It cannot stay so', ...changes }
    return action === 'transfer_resolve'
      ? write(`${base()}/transfers/${transferId}/resolve`, { outcome: 'resume', ...reason })
      : write(`${base()}/wallet-events/${eventId}/resolve`, { outcome: 'dismiss', ...reason })
  }

  it('cannot be requested with a session alone, or with a passkey that signed something else', async () => {
    const bare = (headers = {}, by = admin) => by.post(ask().url, ask().body, headers)
    expect(outcome(await bare())).toEqual(required)
    const others = [
      await confirmationOf(admin, key, ask({ reason: 'Another reason' })),
      await confirmationOf(admin, key, { ...ask(), url: `${base()}/holds` }),
      await confirmationOf(admin, secondKey, ask()),
      await confirmationOf(second, secondKey, ask()),
    ]
    for (const headers of others) expect(outcome(await bare(headers))).toEqual(required)
    expect(await requests(action)).toBe(0)
  })

  it('is requested with a passkey, once, and decided by a signed vote', async () => {
    const headers = await confirmationOf(admin, key, ask())
    const response = await admin.post(ask().url, ask().body, headers)
    expect([response.status, response.body.details]).toEqual([202, undefined])
    expect(outcome(await admin.post(ask().url, ask().body, headers))).toEqual(required)
    const { request } = response.body
    expect(request).toMatchObject({ action, status: 'pending' })
    const unsigned = await second.post(`${base()}/approval-requests/${request.id}/approve`, {})
    expect(outcome(unsigned)).toEqual([403, 'signature_required'])
    const voted = await acceptRequest({ admin: second, key: secondKey, url: base() }, request)
    expect([voted.status, voted.body.status, voted.body.details]).toEqual([200, 'applied', undefined])
  })
})
