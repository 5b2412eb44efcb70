import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createVaultFixture,
  deposit,
  fixtureRoutes,
  type VaultFixture,
} from '../../../testing/fixtures.ts'
import { deliverDueTransfers } from './deliver.ts'

/** On Bitcoin one transaction may pay several transfers, each with an output of its own. */
let test: TestApp
let vault: VaultFixture
let other: Person
let fromAddressId: string

const sender = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const toAddress = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
const base = '/vaults/main-vault'

beforeAll(async () => {
  test = await createTestApp()
  const network = {
    ...fixtureRoutes.network,
    variants: [{ id: 0, code: 'bitcoin', name: 'Bitcoin' }, ...fixtureRoutes.network.variants],
  }
  vault = await createVaultFixture(test, { routes: { ...fixtureRoutes, network } })
  const coin = { network: 'bitcoin', code: 'BTC', symbol: '₿', name: 'Bitcoin', decimals: 8, contractAddress: null }
  expect((await vault.admin.post('/tokens', coin)).status).toBe(201)
  for (const action of ['create_address', 'transfer']) await allowAll(vault, action)
  other = await addMember(test, vault, 'second.admin@example.org', ['administrators'])
  vault.wallet.answerWithAddress = () => sender
  fromAddressId = (await createAddress(vault.admin, { network: 'bitcoin', token: 'BTC' })).id
  await deposit(test, { network: 'bitcoin', address: sender, amount: '100' })
})
afterAll(() => test.close())
beforeEach(() => {
  vault.wallet.transactions = new Map()
})

const deliver = async () => {
  test.clock.advance(61_000)
  await deliverDueTransfers(test.deps)
}
const read = async (id: string) => (await vault.admin.get(`${base}/transfers/${id}`)).body

/** A transfer of 1 BTC that the wallet service has. */
async function handedOver(): Promise<string> {
  const { status, body } = await vault.admin.post(`${base}/transfers`, { fromAddressId, toAddress, amount: '1' })
  expect([status, body.status]).toEqual([201, 'pending'])
  await deliver()
  return body.id
}

/** The wallet service pays a transfer with an output of a transaction. With `index` null it does not tell the output. */
async function paid(id: string, txHash: string, index: number | null): Promise<void> {
  vault.wallet.confirm(id, { txHash })
  Object.assign(vault.wallet.transfer(id)!, index === null ? {} : { index })
  await deliver()
}

const hashOf = (name: string) => fakeTxHash(name).slice(2)

describe('a transaction that pays several transfers', () => {
  it('has an output for each, which the transfer, its history and its evidence show', async () => {
    const ids = [await handedOver(), await handedOver()]
    const txHash = hashOf('two of one')
    for (const [index, id] of ids.entries()) await paid(id, txHash, index)
    for (const [txIndex, id] of ids.entries()) {
      expect(await read(id)).toMatchObject({ status: 'confirmed', txHash, txIndex })
      const { body } = await vault.admin.get(`${base}/transfers/${id}/evidence`)
      expect(body.transfer).toMatchObject({ txHash, txIndex })
      const confirmed = body.auditRecords.map(({ content }) => JSON.parse(content)).at(-1)
      expect(confirmed).toMatchObject({ action: 'transfer.confirmed', details: { txHash, txIndex } })
    }
    const { body } = await vault.admin.get(`${base}/history?txHash=${txHash}`)
    expect(body.items.map(({ id, txIndex }) => [id, txIndex])).toEqual([
      [ids[1], 1],
      [ids[0], 0],
    ])
  })

  it('T25 with the output of another transfer halts the later one', async () => {
    const ids = [await handedOver(), await handedOver()]
    const txHash = hashOf('one for two')
    await paid(ids[0]!, txHash, 3)
    await paid(ids[1]!, txHash.toUpperCase(), 3)
    expect((await read(ids[0]!)).status).toBe('confirmed')
    expect(await read(ids[1]!)).toMatchObject({
      status: 'pending',
      haltReason: 'The wallet service reports the output of another transfer',
    })
  })

  it('T25 with one output for two transfers, reported at the same moment, halts one of them', async () => {
    const ids = [await handedOver(), await handedOver()]
    const txHash = hashOf('one for two at once')
    for (const id of ids) {
      vault.wallet.confirm(id, { txHash })
      Object.assign(vault.wallet.transfer(id)!, { index: 0 })
    }
    await deliver()
    const transfers = await Promise.all(ids.map(read))
    expect(transfers.map(({ status }) => status).sort()).toEqual(['confirmed', 'pending'])
  })

  it('is followed with its index, which stays when the wallet service reports it no more', async () => {
    const id = await handedOver()
    vault.wallet.broadcast(id, { txHash: hashOf('first variant') })
    Object.assign(vault.wallet.transfer(id)!, { index: 1 })
    await deliver()
    expect(await read(id)).toMatchObject({ txHash: hashOf('first variant'), txIndex: 1 })
    Object.assign(vault.wallet.transfer(id)!, { index: null })
    await deliver()
    expect((await read(id)).txIndex).toBe(1)
    vault.wallet.broadcast(id, { txHash: hashOf('second variant') })
    await deliver()
    expect(await read(id)).toMatchObject({ txHash: hashOf('second variant'), txIndex: null })
    await paid(id, hashOf('second variant'), 0)
    expect(await read(id)).toMatchObject({ status: 'confirmed', txIndex: 0 })
  })

  it('may pay them without a report of their outputs', async () => {
    const ids = [await handedOver(), await handedOver()]
    for (const id of ids) await paid(id, hashOf('not told'), null)
    for (const id of ids) expect(await read(id)).toMatchObject({ status: 'confirmed', txIndex: null })
  })
})

describe('a halted transfer that an output of a transaction pays', () => {
  const payment = (index: number) => ({ index, toAddress, contractAddress: null, amount: '100000000' })
  const mine = (hash: string, indexes: number[]) =>
    vault.wallet.mine({
      hash,
      from: null,
      nonce: null,
      payments: indexes.map(payment),
      spent: [{ txHash: 'a1'.repeat(32), index: 0, address: sender, amount: '300000000' }],
    })
  async function halted(): Promise<string> {
    const id = await handedOver()
    vault.wallet.mutateStatus = (_id, status) => ({ ...status, amount: '1' })
    await deliver()
    vault.wallet.mutateStatus = null
    return id
  }
  const settle = (id: string, txHash: string) =>
    vault.admin.post(`${base}/transfers/${id}/resolve`, { outcome: 'settle', txHash, reason: 'It was paid' })

  it('is settled with the output that no other transfer has', async () => {
    const txHash = hashOf('three outputs')
    await paid(await handedOver(), txHash, 1)
    mine(txHash, [1, 2])
    const id = await halted()
    const request = await settle(id, txHash)
    expect([request.status, request.body.details]).toEqual([202, undefined])
    const voted = await other.post(`${base}/approval-requests/${request.body.request.id}/approve`, {})
    expect([voted.status, voted.body.status]).toEqual([200, 'applied'])
    expect(await read(id)).toMatchObject({ status: 'confirmed', txHash, txIndex: 2 })
    const again = await settle(await halted(), txHash)
    expect([again.status, again.body.details]).toEqual([409, 'Another transfer of the vault has this transaction'])
  })

  it('is not settled with a transaction that pays another transfer with an unknown output', async () => {
    const txHash = hashOf('unknown output')
    await paid(await handedOver(), txHash, null)
    mine(txHash, [0, 1])
    expect((await settle(await halted(), txHash)).status).toBe(409)
  })
})

describe('a transfer that builds on a transaction whose place another one took', () => {
  const anchor = { txHash: hashOf('replaced parent'), index: 1 }
  const below = { txHash: 'a1'.repeat(32), index: 4 }
  const spending = (...spent: { txHash: string; index: number }[]) =>
    spent.map((output) => ({ ...output, address: sender, amount: '300000000' }))
  const release = (id: string) =>
    vault.admin.post(`${base}/transfers/${id}/resolve`, { outcome: 'release', reason: 'Its parent is gone' })

  /** The wallet service names the transaction that took the place, and the outputs that lead to the output that it spent. */
  async function passed(hash: string, outputs: object[]): Promise<string> {
    const id = await handedOver()
    vault.wallet.broadcast(id, { txHash: hashOf(`of ${id}`) })
    await deliver()
    expect((await read(id)).haltReason).toBe(null)
    vault.wallet.mutateStatus = (transferId, status) =>
      transferId === id ? { ...status, anchor, replacedBy: { hash, outputs } } : status
    await deliver()
    const haltReason = `The wallet service names the transaction that took its place: ${hash}`
    expect(await read(id)).toMatchObject({ status: 'pending', haltReason })
    return id
  }

  it('is released by two people, also if the other transaction pays the same amount to the same recipient for its transfer', async () => {
    const parent = await handedOver()
    const hash = hashOf('mined parent')
    await paid(parent, hash, 0)
    const payments = [{ index: 0, toAddress, contractAddress: null, amount: '100000000' }]
    vault.wallet.mine({ hash, from: null, nonce: null, payments, spent: spending(below) })
    const id = await passed(hash, [anchor, below])
    const request = await release(id)
    expect([request.status, request.body.details]).toEqual([202, undefined])
    expect(request.body.request.payload).toMatchObject({
      evidence: { proof: 'nonce_used', wallet: { lost: [], paidToOthers: [0], replacement: { hash } } },
    })
    await deliver()
    const voted = await other.post(`${base}/approval-requests/${request.body.request.id}/approve`, {})
    expect([voted.status, voted.body.status, voted.body.details]).toEqual([200, 'applied', undefined])
    expect(await read(id)).toMatchObject({
      status: 'failed',
      failureReason: `RELEASED: REPLACED: an output that it builds on was spent by the transaction ${hash}`,
    })
    vault.wallet.mutateStatus = null
  })

  it('is not released while the chain has its parent, or when the other transaction pays its order with a free output', async () => {
    const hash = hashOf('no rival')
    const free = [{ index: 2, toAddress, contractAddress: null, amount: '100000000' }]
    vault.wallet.mine({ hash, from: null, nonce: null, payments: free, spent: spending(below) })
    expect((await release(await passed(hash, [anchor, below]))).body.details).toContain('pays what was ordered')
    vault.wallet.mine({ hash, from: null, nonce: null, payments: [], spent: spending(below) })
    vault.wallet.mine({ hash: anchor.txHash, from: null, nonce: null, payments: [], spent: spending(below) })
    expect((await release(await passed(hash, [anchor, below]))).body.details).toContain('as broadcast')
    vault.wallet.mutateStatus = null
  })
})
