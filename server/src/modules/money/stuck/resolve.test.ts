import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyTransfers } from '../transfers/compare-order.ts'

let bench: TransferBench
let other: Person
let address: Address

beforeAll(async () => {
  bench = await createTransferBench()
  other = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators'])
})
afterAll(() => bench.close())
beforeEach(async () => {
  Object.assign(bench.vault.wallet, { mutateStatus: null, down: false, transactions: new Map() })
  address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
})
afterEach(async () => {
  await bench.expectSoundLedger()
  expect((await verifyTransfers(bench.test.deps.db)).differences).toEqual([])
})

const usdt = (changes: object = {}) => ({
  index: 0,
  fromAddress: address.address,
  toAddress: bench.recipient,
  contractAddress: usdtContract,
  amount: '40000000',
  ...changes,
})

/** A transfer of 40 USDT that the wallet service has. */
async function handedOver(amount = '40'): Promise<string> {
  const { status, body } = await bench.order(address.id, amount)
  expect([status, body.status]).toEqual([201, 'pending'])
  await bench.deliver()
  return body.id
}

/** Returns a transfer that is halted because the wallet service contradicts itself. */
async function halted(): Promise<string> {
  const id = await handedOver()
  bench.vault.wallet.mutateStatus = (_id, status) => ({ ...status, amount: '1' })
  await bench.deliver()
  bench.vault.wallet.mutateStatus = null
  expect((await bench.read(id)).haltReason).toBe('The wallet service reports another amount than ordered')
  return id
}

/** Returns a transfer that the wallet service has forgotten. */
async function forgotten(): Promise<string> {
  const id = await handedOver()
  bench.vault.wallet.forget(id)
  await bench.deliver()
  expect((await bench.read(id)).haltReason).toBe('The wallet service no longer knows this transfer')
  return id
}

const path = (id: string) => `/vaults/${bench.vault.code}/transfers/${id}/resolve` as const
const ask = (id: string, body: object, by: Person = bench.vault.admin) =>
  by.post(path(id), { reason: 'It cannot stay so', ...body })
const vote = (requestId: string, by: Person = other) =>
  by.post(`/vaults/${bench.vault.code}/approval-requests/${requestId}/approve`, {})

/** Resolves a transfer with both administrators. */
async function resolved(id: string, body: object) {
  const response = await ask(id, body)
  expect([response.status, response.body.details]).toEqual([202, undefined])
  const voted = await vote(response.body.request.id)
  expect([voted.status, voted.body.status, voted.body.details]).toEqual([200, 'applied', undefined])
  return response.body.request
}

const released = { available: '1000', reserved: '0' }
const reserved = { available: '960', reserved: '40' }
const settled = { available: '960', reserved: '0' }
const phaseOf = async (id: string) => (await bench.sql('select phase from transfers where id = $1', [id]))[0].phase

describe('settle', () => {
  it('ends a halted transfer as paid, with a transaction that the server has looked up', async () => {
    const id = await halted()
    const txHash = fakeTxHash('by hand')
    bench.vault.wallet.mine({ hash: txHash, from: address.address, payments: [usdt()] })
    const request = await resolved(id, { outcome: 'settle', txHash })
    expect(request).toMatchObject({ action: 'transfer_resolve', targetType: 'transfer', targetId: id })
    expect(request.payload).toMatchObject({
      outcome: 'settle',
      txHash,
      reason: 'It cannot stay so',
      evidence: {
        proof: 'paid',
        difference: null,
        haltReason: 'The wallet service reports another amount than ordered',
        order: { amount: '40000000', toAddress: bench.recipient },
        wallet: { transaction: { hash: txHash, status: 'mined' } },
      },
    })
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed', txHash, haltReason: null, fee: '21000' })
    expect(await bench.balances(address.id)).toEqual(settled)
    expect((await bench.balances(address.id, 'ETH')).available).toBe('0.999999999999979')
    expect(await bench.audited('transfer.confirmed', id)).toBe(1)
  })

  it('refuses a transaction that another transfer of the vault has', async () => {
    const paid = await handedOver()
    const txHash = fakeTxHash('the one payment')
    bench.vault.wallet.confirm(paid, { txHash })
    await bench.deliver()
    const id = await forgotten()
    bench.vault.wallet.mine({ hash: txHash, from: address.address, payments: [usdt()] })
    const { status, body } = await ask(id, { outcome: 'settle', txHash })
    const found = 'Another transfer of the vault has this transaction'
    expect([status, body.reason, body.details]).toEqual([409, 'not_proven', found])
    expect((await bench.read(id)).status).toBe('pending')
  })

  it('accepts a transaction for only one of two transfers', async () => {
    const ids = [await forgotten(), await forgotten()]
    const txHash = fakeTxHash('one payment for two')
    bench.vault.wallet.mine({ hash: txHash, from: address.address, payments: [usdt()] })
    const responses = []
    for (const id of ids) responses.push(await ask(id, { outcome: 'settle', txHash }))
    const votes = await Promise.all(responses.map(({ body }) => vote(body.request.id)))
    expect(votes.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const statuses = await Promise.all(ids.map(async (id) => (await bench.read(id)).status))
    expect(statuses.toSorted()).toEqual(['confirmed', 'pending'])
  })

  it('returns the finding in place of a proof, and opens no request', async () => {
    const id = await halted()
    const txHash = fakeTxHash('something else')
    const before = await bench.count('approval_requests')
    const refusal = async () => {
      const { status, body } = await ask(id, { outcome: 'settle', txHash })
      return [status, body.reason, body.details]
    }
    const found = (words: string) => [409, 'not_proven', expect.stringContaining(words)]
    expect(await refusal()).toEqual(found('does not know the transaction'))
    bench.vault.wallet.mine({ hash: txHash, from: address.address, payments: [usdt({ amount: '1' })] })
    expect(await refusal()).toEqual(found('another amount'))
    bench.vault.wallet.mine({ hash: txHash, from: fakeAddress('somebody'), payments: [usdt()] })
    expect(await refusal()).toEqual(found('sender is another'))
    bench.vault.wallet.mine({ hash: txHash, from: address.address, payments: [usdt()], status: 'pending' })
    expect(await refusal()).toEqual(found('as pending'))
    bench.vault.wallet.transactions = null
    expect(await refusal()).toEqual(found('or does not tell'))
    expect(await bench.count('approval_requests')).toBe(before)
  })

  it('is decided again with the last vote, and refused after a reorganisation of the chain', async () => {
    const id = await halted()
    const txHash = fakeTxHash('reorganised')
    bench.vault.wallet.mine({ hash: txHash, from: address.address, payments: [usdt()] })
    const response = await ask(id, { outcome: 'settle', txHash })
    bench.vault.wallet.transactions?.delete(txHash)
    const voted = await vote(response.body.request.id)
    expect([voted.status, voted.body.reason]).toEqual([409, 'not_applied'])
    expect(await bench.balances(address.id)).toEqual(reserved)
    const { body } = await other.get(`/vaults/${bench.vault.code}/approval-requests/${response.body.request.id}`)
    expect(body.status).toBe('failed')
  })
})

describe('release', () => {
  it('ends a halted transfer that the wallet service reports as failed', async () => {
    const id = await halted()
    bench.vault.wallet.fail(id, 'REVERTED: so it is')
    await resolved(id, { outcome: 'release' })
    expect(await bench.read(id)).toMatchObject({ status: 'failed', failureReason: 'RELEASED: REVERTED: so it is' })
    expect(await bench.balances(address.id)).toEqual(released)
    expect(await phaseOf(id)).toBe('done')
  })

  it('accepts the proof that another transaction used the nonce, which the server looks up', async () => {
    const id = await halted()
    bench.vault.wallet.broadcast(id)
    const hash = fakeTxHash('cancelled by hand')
    bench.vault.wallet.mutateStatus = (_id, status) => ({ ...status, replacedBy: { hash } })
    expect((await ask(id, { outcome: 'release' })).body.reason).toBe('not_proven')
    bench.vault.wallet.mine({ hash, from: address.address, payments: [] })
    const { payload } = await resolved(id, { outcome: 'release' })
    expect(payload).toMatchObject({
      evidence: { proof: 'nonce_used', wallet: { replacement: { hash, status: 'mined' } } },
    })
    expect(await bench.balances(address.id)).toEqual(released)
  })

  it('is refused for a transfer that the wallet service has forgotten, or still has', async () => {
    const lost = await forgotten()
    expect((await ask(lost, { outcome: 'release' })).body.details).toContain('does not prove')
    const held = await halted()
    expect((await ask(held, { outcome: 'release' })).body.details).toContain('as queued')
    expect((await bench.read(lost)).status).toBe('pending')
  })

  it('is a 502 while the wallet service does not answer', async () => {
    const id = await halted()
    bench.vault.wallet.down = 'error'
    const { status, body } = await ask(id, { outcome: 'release' })
    expect([status, body.reason]).toEqual([502, 'wallet_service_failed'])
  })
})

describe('resume', () => {
  it('asks again about a transfer that the wallet service now reports correctly', async () => {
    const id = await halted()
    await resolved(id, { outcome: 'resume' })
    expect(await phaseOf(id)).toBe('submitted')
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect((await bench.read(id)).status).toBe('confirmed')
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect(await bench.balances(address.id)).toEqual(settled)
  })

  it('hands a forgotten transfer over again, under the same id', async () => {
    const id = await forgotten()
    await resolved(id, { outcome: 'resume' })
    expect(await phaseOf(id)).toBe('submitting')
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(2)
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect((await bench.read(id)).status).toBe('confirmed')
  })

  it('is refused while the wallet service still contradicts the order', async () => {
    const id = await halted()
    bench.vault.wallet.mutateStatus = (_id, status) => ({ ...status, toAddress: fakeAddress('a thief') })
    const { body } = await ask(id, { outcome: 'resume' })
    expect(body.details).toBe('It would be halted again: The wallet service reports another recipient than ordered')
  })

  it('is outdated when the transfer has continued by itself', async () => {
    const id = await forgotten()
    const response = await ask(id, { outcome: 'resume' })
    const { body } = await bench.vault.admin.get(`/vaults/${bench.vault.code}/transfers/${id}`)
    bench.vault.wallet.remember(id, {
      id,
      status: 'confirmed',
      txHash: fakeTxHash('remembered'),
      fee: null,
      feePaidBy: null,
      confirmations: 9,
      blockTime: null,
      failureReason: null,
      network: body.fromAddress.network,
      fromAddress: address.address,
      toAddress: bench.recipient,
      contractAddress: usdtContract,
      amount: '40000000',
    })
    await bench.deliver()
    const voted = await vote(response.body.request.id)
    expect([voted.status, voted.body.reason]).toEqual([409, 'not_applied'])
    expect((await bench.read(id)).status).toBe('confirmed')
  })
})

describe('T56 a row that differs from its record', () => {
  const tampered = async (amount: string) => {
    const { body } = await bench.order(address.id, amount)
    const thief = fakeAddress('a thief')
    await bench.sql('update operations set amount = 900000000 where id = $1', [body.id])
    await bench.sql('update transfers set to_address = $2 where id = $1', [body.id, thief])
    await bench.deliver()
    return body.id
  }

  it('is settled by the recorded order, never by the row', async () => {
    const id = await tampered('40')
    expect(await phaseOf(id)).toBe('halted')
    const txHash = fakeTxHash('to the thief')
    const thief = fakeAddress('a thief')
    const stolen = usdt({ toAddress: thief, amount: '900000000' })
    bench.vault.wallet.mine({ hash: txHash, from: address.address, payments: [stolen] })
    expect((await ask(id, { outcome: 'settle', txHash })).body.reason).toBe('not_proven')
    bench.vault.wallet.mine({ hash: txHash, from: address.address, payments: [usdt()] })
    const { payload } = await resolved(id, { outcome: 'settle', txHash })
    expect(payload).toMatchObject({
      evidence: { difference: 'its amount was changed', order: { amount: '40000000' } },
    })
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed', amount: '40000000', toAddress: bench.recipient })
    expect(await bench.balances(address.id)).toEqual(settled)
  })

  it('continues as it was recorded', async () => {
    const id = await tampered('40')
    await resolved(id, { outcome: 'resume' })
    await bench.deliver()
    expect(bench.vault.wallet.transfer(id)).toMatchObject({ amount: '40000000', toAddress: bench.recipient })
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect(await bench.balances(address.id)).toEqual(settled)
  })

  it('that waits for votes is released by the recorded amount', async () => {
    const { body } = await bench.order(address.id, '200')
    await bench.sql('update operations set amount = 1 where id = $1', [body.id])
    expect((await bench.act(bench.firstApprover, body.id, 'approve')).status).toBe(409)
    await resolved(body.id, { outcome: 'release' })
    expect(await bench.read(body.id)).toMatchObject({ status: 'cancelled', amount: '200000000' })
    expect(await bench.balances(address.id)).toEqual(released)
  })

  it('that was made to wait again after its end is only restored', async () => {
    const id = await handedOver()
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    await bench.sql(`update operations set status = 'pending' where id = $1`, [id])
    await bench.sql(`update transfers set phase = 'halted', halt_reason = 'x' where id = $1`, [id])
    bench.vault.wallet.fail(id, 'REVERTED: says a liar')
    expect((await ask(id, { outcome: 'release' })).body.details).toContain('is already confirmed')
    await resolved(id, { outcome: 'resume' })
    expect(await phaseOf(id)).toBe('done')
    expect(await bench.balances(address.id)).toEqual(settled)
  })
})

describe('the permission to resolve a transfer', () => {
  it('does not suffice for one administrator alone, and other members do not have it', async () => {
    const id = await halted()
    bench.vault.wallet.fail(id, 'REVERTED: so it is')
    const requests = bench.vault.wallet.requests.length
    const denied = await ask(id, { outcome: 'release' }, bench.owner)
    expect([denied.status, denied.body.reason]).toEqual([403, 'no_policy_allows'])
    expect(bench.vault.wallet.requests.length).toBe(requests)
    const response = await ask(id, { outcome: 'release' })
    const ownVote = await vote(response.body.request.id, bench.vault.admin)
    expect([ownVote.status, ownVote.body.reason]).toEqual([403, 'not_an_approver'])
    expect(await bench.balances(address.id)).toEqual(reserved)
    expect((await vote(response.body.request.id)).status).toBe(200)
  })

  it('does not apply to a transfer that is not stuck', async () => {
    const id = await handedOver()
    const { status, body } = await ask(id, { outcome: 'resume' })
    expect([status, body.reason]).toEqual([409, 'wrong_state'])
  })

  it.each([
    [{ outcome: 'settle' }, 'txHash'],
    [{ outcome: 'release', txHash: fakeTxHash('x') }, 'txHash'],
    [{ outcome: 'settle', txHash: 'a b' }, 'txHash'],
    [{ outcome: 'forget' }, 'outcome'],
    [{ outcome: 'resume', reason: '' }, 'reason'],
    [{ outcome: 'resume', reason: ' \t\n ' }, 'reason'],
  ])('refuses %j', async (body, field) => {
    const id = await halted()
    const answer = await ask(id, body)
    expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, field])
  })
})
