import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import {
  handOversPerVaultMax,
  handOversPreparedMax,
  questionsPerSecondDefault,
  questionsPerVaultMax,
} from '../../../lib/limits.ts'
import { createGuardedDispatcher } from '../../../outbound/guarded-connect.ts'
import { openDeps } from '../../../start.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createVaultFixture,
  deposit,
  ensureGroup,
  usdtContract,
} from '../../../testing/fixtures.ts'
import { amountRule, createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import { createWalletClient, type WalletClient } from '../../registry/wallet-service/client.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { verifyLedger } from '../verifications/verify-ledger.ts'
import { createDelivery, deliverDueTransfers } from './deliver.ts'
import { postOutstandingFees } from './fees.ts'

let bench: TransferBench
/** A second node on the same database. */
let otherNode: { deps: Deps; close(): Promise<void> }
let address: Address
const dispatcher = createGuardedDispatcher({ allowedHosts: ['127.0.0.1'], connectTimeoutMilliseconds: 1_000 })

beforeAll(async () => {
  bench = await createTransferBench()
  const { config, log, clock } = bench.test.deps
  otherNode = await openDeps(config, bench.test.databaseUrl, log, clock)
})
afterAll(async () => {
  await otherNode.close()
  await dispatcher.close()
  await bench.close()
})
beforeEach(async () => {
  Object.assign(bench.vault.wallet, { down: false, swallow: false, refuse: null, mutateStatus: null })
  address = await bench.fundedAddress()
})
afterEach(() => bench.expectSoundLedger())

async function ordered(amount = '40', more: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await bench.order(address.id, amount, more)
  expect([status, body.status]).toEqual([201, 'pending'])
  return body.id
}

const reserved = { available: '960', reserved: '40' }
const settled = { available: '960', reserved: '0' }
const released = { available: '1000', reserved: '0' }

/** The wallet service behind a client with a short timeout. */
const impatient = async (): Promise<WalletClient> =>
  createWalletClient({
    url: bench.vault.wallet.url,
    secret: bench.vault.wallet.secret,
    dispatcher,
    timeoutMilliseconds: 150,
    backoffMilliseconds: 5,
  })

/** The wallet service behind a client with some of its calls replaced. */
const withCalls = (calls: (honest: WalletClient) => Partial<WalletClient>) => async (deps: Deps, vaultId: string) => {
  const honest = await walletOfVault(deps, vaultId)
  return { ...honest, ...calls(honest) }
}

describe('the time of the hand-over', () => {
  it('is null while it is unknown whether the wallet service has the order, and then the time of the hand-over', async () => {
    const id = await ordered()
    const at = async () => (await bench.read(id)).handedOverAt
    expect(await at()).toBeNull()
    const unreachable = withCalls(() => ({
      submitTransfer: () => Promise.reject(new WalletServiceError('unreachable', 'No connection')),
    }))
    await bench.deliver(unreachable)
    expect(await phaseOf(id)).toBe('queued')
    expect(await bench.sql('select sent_at from transfers where id = $1', [id])).toEqual([{ sent_at: null }])
    bench.vault.wallet.swallow = true
    await bench.deliver(impatient)
    expect(await phaseOf(id)).toBe('submitting')
    expect(await at()).toBeNull()
    const sentAt = (await bench.sql('select sent_at from transfers where id = $1', [id]))[0].sent_at as Date
    bench.vault.wallet.swallow = false
    await bench.deliver()
    expect(await at()).toBe(sentAt.toISOString())
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed', handedOverAt: sentAt.toISOString() })
  })
})

describe('a wallet service that does not answer', () => {
  it('T22 that times out after it took the order leaves the outcome unknown: no release, and one hand-over', async () => {
    const id = await ordered()
    bench.vault.wallet.swallow = true
    await bench.deliver(impatient)
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect((await bench.read(id)).status).toBe('pending')
    expect(await bench.balances(address.id)).toEqual(reserved)

    bench.vault.wallet.swallow = false
    const before = bench.vault.wallet.requests.length
    await bench.deliver(impatient)
    const questions = bench.vault.wallet.requests.slice(before).filter(({ path }) => path.startsWith('/transfers'))
    expect(questions.map(({ method, path }) => `${method} ${path}`)).toEqual([`GET /transfers/${id}`])
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect(await bench.balances(address.id)).toEqual(settled)
  })

  it('T22 that times out before it took the order is asked about it, and gets it again', async () => {
    const id = await ordered()
    await bench.deliver(withCalls(() => ({ submitTransfer: () => Promise.reject(new Error('the line went dead')) })))
    expect(bench.vault.wallet.broadcastCount(id)).toBe(0)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
  })

  it.each(['error', 'refused'] as const)(
    'T22 that is down (%s) gets the order again, and no funds are released',
    async (down) => {
      const id = await ordered()
      bench.vault.wallet.down = down
      for (let round = 0; round < 3; round += 1) {
        await bench.deliver(impatient)
        expect((await bench.read(id)).status).toBe('pending')
        expect(await bench.balances(address.id)).toEqual(reserved)
      }
      bench.vault.wallet.down = false
      await bench.deliver()
      bench.vault.wallet.confirm(id)
      await bench.deliver()
      expect((await bench.read(id)).status).toBe('confirmed')
      expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    },
  )

  it('T22 that was never reached lets a transfer be cancelled; after a possible hand-over it cannot be cancelled', async () => {
    const nowhere = async () => createWalletClient({ url: 'http://127.0.0.1:1', secret: null, dispatcher })
    const unsent = await ordered()
    await bench.deliver(nowhere)
    await bench.deliver(nowhere)
    expect((await bench.act(bench.owner, unsent, 'cancel')).status).toBe(200)
    expect(await bench.balances(address.id)).toEqual(released)

    const maybeSent = await ordered()
    bench.vault.wallet.swallow = true
    await bench.deliver(impatient)
    await bench.deliver(nowhere)
    expect((await bench.act(bench.owner, maybeSent, 'cancel')).status).toBe(409)
    expect(await bench.balances(address.id)).toEqual(reserved)
  })

  it('is queried at growing intervals of at most a minute', async () => {
    const id = await ordered()
    bench.vault.wallet.down = 'error'
    const delays = []
    // The clock stands still: on a busy machine an attempt itself takes a second.
    const { clock } = bench.test.deps
    const now = clock()
    bench.test.deps.clock = () => now
    try {
      for (let round = 0; round < 8; round += 1) {
        await bench.sql('update deliveries set next_attempt_at = $2 where id = $1', [id, now])
        await deliverDueTransfers(bench.test.deps, impatient)
        const [row] = await bench.sql('select next_attempt_at from deliveries where id = $1', [id])
        delays.push(Math.round((new Date(row.next_attempt_at).getTime() - now.getTime()) / 1_000))
      }
    } finally {
      bench.test.deps.clock = clock
    }
    expect(delays).toEqual(delays.toSorted((a, b) => a - b))
    expect([delays[0], delays[7]]).toEqual([1, 60])
  })
})

describe('a wallet service that refuses', () => {
  it('with 400 fails the transfer and releases its funds', async () => {
    const id = await ordered()
    bench.vault.wallet.refuse = 'the recipient is on a list'
    await bench.deliver()
    const transfer = await bench.read(id)
    expect([transfer.status, transfer.failureReason]).toEqual(['failed', 'WALLET_REFUSED: the recipient is on a list'])
    expect(await bench.balances(address.id)).toEqual(released)
    expect(await bench.audited('transfer.failed', id)).toBe(1)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(0)
  })

  it('T22 with 400 for an order that it has leaves the outcome unknown, and no funds are released', async () => {
    const id = await ordered()
    await bench.deliver(
      withCalls((honest) => ({
        submitTransfer: async (order) => {
          await honest.submitTransfer(order)
          return (await createRefusing(honest)).submitTransfer(order)
        },
      })),
    )
    expect((await bench.read(id)).status).toBe('pending')
    expect(await bench.balances(address.id)).toEqual(reserved)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
  })

  it('T25 with 409 because it has another order under the id halts the transfer, and its funds stay reserved', async () => {
    const id = await ordered()
    await bench.deliver(
      withCalls((honest) => ({
        submitTransfer: async (order) => {
          await honest.submitTransfer({ ...order, amount: '1' })
          return honest.submitTransfer(order)
        },
      })),
    )
    await expectHalted(id, 'The wallet service knows this transfer with another order')
  })

  it('after the broadcast fails the transfer, releases its funds and posts the fee of the failure', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.broadcast(id)
    await bench.deliver()
    bench.vault.wallet.fail(id, 'REVERTED: no', '21000')
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({
      status: 'failed',
      failureReason: 'REVERTED: no',
      fee: '21000',
      txHash: fakeTxHash(id),
    })
    expect(await bench.balances(address.id)).toEqual(released)
    expect(await bench.balances(address.id, 'ETH')).toEqual({ available: '0.999999999999979', reserved: '0' })
  })

  it('after the broadcast of a payment of the coin has the fee posted from the released funds', async () => {
    address = await bench.fundedAddress({ usdt: '0', eth: '1' })
    const id = await ordered('1', { token: 'ETH' })
    await bench.deliver()
    bench.vault.wallet.fail(id, 'REVERTED', '21000')
    await bench.deliver()
    expect(await bench.balances(address.id, 'ETH')).toEqual({ available: '0.999999999999979', reserved: '0' })
  })
})

describe('T25 a wallet service that lies', () => {
  it.each([
    ['amount', { amount: '40000001' }],
    ['recipient', { toAddress: fakeAddress('a thief') }],
    ['source', { fromAddress: fakeAddress('a thief') }],
    ['token', { contractAddress: fakeAddress('another token') }],
    ['token', { contractAddress: null }],
    ['network', { network: 'polygon' }],
  ])('T25 about the %s halts the transfer and settles nothing', async (what, lie) => {
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(id)
    bench.vault.wallet.mutateStatus = (transferId, status) => (transferId === id ? { ...status, ...lie } : status)
    await bench.deliver()
    await expectHalted(id, `The wallet service reports another ${what} than ordered`)
  })

  it('T75 with another hash is followed, whichever is mined, and every hash is kept', async () => {
    const id = await ordered()
    const [first, second, third] = ['first', 'second', 'third'].map((name) => fakeTxHash(`${name} of ${id}`))
    await bench.deliver()
    for (const txHash of [first, second, first, third]) {
      bench.vault.wallet.broadcast(id, { txHash: txHash! })
      await bench.deliver()
      expect(await bench.read(id)).toMatchObject({ status: 'pending', txHash, haltReason: null })
    }
    expect((await bench.read(id)).txHashes).toEqual([second, first, third])
    expect(await bench.audited('transfer.replaced', id)).toBe(3)
    expect(await bench.balances(address.id)).toEqual(reserved)
    bench.vault.wallet.confirm(id, { txHash: second! })
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({
      status: 'confirmed',
      txHash: second,
      txHashes: [first, third, second],
    })
    expect(await bench.balances(address.id)).toEqual(settled)
    const { items } = (await bench.owner.get(`/vaults/${bench.vault.code}/history?txHash=${second}`)).body
    expect(items.map((item) => item.id)).toEqual([id])
  })

  it('T75 that was cancelled on chain fails with its fee, and its funds are released', async () => {
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.broadcast(id)
    await bench.deliver()
    const cancelled = fakeTxHash(`cancellation of ${id}`)
    bench.vault.wallet.broadcast(id, { txHash: cancelled })
    bench.vault.wallet.fail(id, 'CANCELLED: nothing moved', '21000')
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'failed', txHash: cancelled, fee: '21000' })
    expect(await bench.balances(address.id)).toEqual(released)
  })

  it('T75 with ever new hashes is halted', async () => {
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.broadcast(id)
    await bench.deliver()
    const many = Array.from({ length: 99 }, (_, number) => fakeTxHash(`${number} of ${id}`))
    await bench.sql('update transfers set replaced_tx_hashes = $2 where id = $1', [id, many])
    bench.vault.wallet.broadcast(id, { txHash: fakeTxHash(`one more of ${id}`) })
    await bench.deliver()
    await expectHalted(id, 'The wallet service reports ever new transaction hashes')
  })

  it('T25 with the earlier hash of another transfer is halted', async () => {
    const first = await ordered('20')
    await bench.deliver()
    bench.vault.wallet.broadcast(first)
    await bench.deliver()
    bench.vault.wallet.broadcast(first, { txHash: fakeTxHash(`replacement of ${first}`) })
    await bench.deliver()
    bench.vault.wallet.confirm(first)
    await bench.deliver()
    address = await bench.fundedAddress()
    const second = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(second, { txHash: fakeTxHash(first) })
    await bench.deliver()
    await expectHalted(second, 'The wallet service reports the transaction hash of another transfer')
  })

  it('T25 with the hash of another transfer is halted, in any spelling', async () => {
    const first = await ordered()
    await bench.deliver()
    bench.vault.wallet.broadcast(first)
    await bench.deliver()
    bench.vault.wallet.confirm(first)
    await bench.deliver()
    address = await bench.fundedAddress()
    const second = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(second, { txHash: fakeTxHash(first).toUpperCase().replace('0X', '0x') })
    await bench.deliver()
    await expectHalted(second, 'The wallet service reports the transaction hash of another transfer')
  })

  it('T25 about two transfers confirmed with one hash at the same moment halts one of them', async () => {
    const ids = [await ordered('20'), await ordered('20')]
    await bench.deliver()
    for (const id of ids) bench.vault.wallet.confirm(id, { txHash: fakeTxHash(`shared ${ids[0]}`) })
    bench.test.clock.advance(61_000)
    await Promise.all([deliverDueTransfers(bench.test.deps), deliverDueTransfers(otherNode.deps)])
    const transfers = await Promise.all(ids.map((id) => bench.read(id)))
    expect(transfers.map(({ status }) => status).sort()).toEqual(['confirmed', 'pending'])
    expect(await bench.balances(address.id)).toEqual({ available: '960', reserved: '20' })
  })

  it('T25 about a confirmation without a hash is halted', async () => {
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(id)
    bench.vault.wallet.mutateStatus = (_id, status) => ({ ...status, txHash: null })
    await bench.deliver()
    await expectHalted(id, 'The wallet service reports a confirmation without a transaction hash')
  })

  it('outside the protocol is ignored: the transfer is queried again, and nothing is settled', async () => {
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(id)
    for (const nonsense of [
      { id: 'another' },
      { fee: '-1' },
      { fee: 1 },
      { fee: '1e3' },
      { status: 'done' },
      { blockTime: 'soon' },
    ]) {
      bench.vault.wallet.mutateStatus = (_id, status) => ({ ...status, ...nonsense })
      await bench.deliver()
      expect(await bench.read(id)).toMatchObject({ status: 'pending', haltReason: null })
    }
    bench.vault.wallet.mutateStatus = null
    await bench.deliver()
    expect((await bench.read(id)).status).toBe('confirmed')
  })

  it('T22 that forgets an order does not get it again, and people are notified', async () => {
    const id = await ordered()
    await bench.deliver()
    const status = bench.vault.wallet.transfer(id)!
    bench.vault.wallet.forget(id)
    for (let round = 0; round < 3; round += 1) await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect(await bench.read(id)).toMatchObject({
      status: 'pending',
      haltReason: 'The wallet service no longer knows this transfer',
    })
    expect(await bench.audited('transfer.halted', id)).toBe(1)
    expect(await bench.balances(address.id)).toEqual(reserved)

    bench.vault.wallet.remember(id, { ...status, status: 'confirmed', txHash: fakeTxHash(id) })
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed', haltReason: null })
  })
})

describe('T54 a wallet service that hangs', () => {
  it('delays only the transfers of its own vault', async () => {
    const spared = await createVaultFixture(bench.test, { code: 'spared-vault', adminEmail: 'spared@example.org' })
    for (const action of ['create_address', 'transfer']) await allowAll(spared, action)
    const source = await createAddress(spared.admin, { vault: spared.code, token: 'USDT' })
    await deposit(bench.test, { address: source.address, asset: usdtContract, amount: '5' })
    const held = await ordered()
    const order = { fromAddressId: source.id, toAddress: bench.recipient, amount: '1' }
    const { body: moving } = await spared.admin.post(`/vaults/${spared.code}/transfers`, order)

    bench.vault.wallet.swallow = true
    bench.test.clock.advance(61_000)
    const delivery = createDelivery(bench.test.deps)
    await delivery.round()
    await expect.poll(() => phaseOf(moving.id)).toBe('submitted')
    spared.wallet.confirm(moving.id)
    await expect.poll(() => delivery.underWay()).toEqual([bench.vault.id])
    bench.test.clock.advance(2_000)
    await delivery.round()
    await expect.poll(() => phaseOf(moving.id)).toBe('done')
    expect(await phaseOf(held)).toBe('submitting')
    expect(delivery.underWay()).toEqual([bench.vault.id])

    await delivery.finish()
    bench.vault.wallet.swallow = false
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(held)).toBe(1)
  })
})

describe('the lanes of a vault', () => {
  const answers = () => {
    const open: (() => void)[] = []
    const held = withCalls((honest) => ({
      submitTransfer: async (order) => {
        await new Promise<void>((resolve) => open.push(resolve))
        return honest.submitTransfer(order)
      },
    }))
    return { open, held }
  }

  it(`let ${handOversPerVaultMax} orders be handed over at a time, and the next one after one ends`, async () => {
    const claimedMax = handOversPerVaultMax + handOversPreparedMax
    const ids = await Promise.all(Array.from({ length: claimedMax + 2 }, () => ordered('1')))
    bench.test.clock.advance(61_000)
    const { open, held } = answers()
    let places = 0
    const delivery = createDelivery(bench.test.deps, held, (milliseconds) => {
      if (milliseconds === 0) places += 1
    })
    const due = async () =>
      (
        await bench.sql('select id from deliveries where id = any($1) and next_attempt_at <= $2', [
          ids,
          bench.test.clock.now(),
        ])
      ).length
    await delivery.round()
    await expect.poll(() => open.length).toBe(handOversPerVaultMax)
    await delivery.round()
    expect(await due()).toBe(2)
    open.shift()!()
    await expect.poll(() => places).toBe(1)
    await delivery.round()
    expect(await due()).toBe(1)
    await expect.poll(() => open.length).toBe(handOversPerVaultMax)
    let most = 0
    const answering = setInterval(() => {
      most = Math.max(most, open.length)
      for (const answer of open.splice(0)) answer()
    }, 5)
    await delivery.finish()
    clearInterval(answering)
    expect(most).toBe(handOversPerVaultMax)
    await bench.deliver()
    expect(ids.map((id) => bench.vault.wallet.broadcastCount(id))).toEqual(ids.map(() => 1))
    for (const id of ids) bench.vault.wallet.confirm(id)
    await bench.deliver()
  })

  it('are filled again until no order waits, however many hand-overs end at once', async () => {
    const ids = await Promise.all(Array.from({ length: 3 * handOversPerVaultMax }, () => ordered('1')))
    bench.test.clock.advance(61_000)
    let isWanted = true
    const delivery = createDelivery(bench.test.deps, undefined, (milliseconds) => {
      isWanted ||= milliseconds === 0
    })
    while (isWanted) {
      isWanted = false
      await delivery.round()
      await expect.poll(() => isWanted || delivery.underWay().length === 0).toBe(true)
    }
    expect(ids.map((id) => bench.vault.wallet.broadcastCount(id))).toEqual(ids.map(() => 1))
    for (const id of ids) bench.vault.wallet.confirm(id)
    await bench.deliver()
  })

  it('ask as often as the vault permits, without delaying hand-overs', async () => {
    const perSecond = 3
    const set = (rate: number) => bench.vault.admin.patch('/vaults/main-vault', { walletQuestionsPerSecond: rate })
    expect((await set(perSecond)).status).toBe(200)
    const ids = await Promise.all(Array.from({ length: 8 }, () => ordered('1')))
    const delivery = createDelivery(bench.test.deps)
    // All are handed over.
    expect((await delivery.round()).claimed).toBe(ids.length)
    await delivery.finish()
    const claimed: number[] = []
    for (let second = 0; second < 3; second += 1) {
      bench.test.clock.advance(second === 0 ? 61_000 : 1_000)
      claimed.push((await delivery.round()).claimed)
      await delivery.finish()
      claimed.push((await delivery.round()).claimed)
      await delivery.finish()
    }
    expect(claimed).toEqual([perSecond, 0, perSecond, 0, perSecond, 0])
    expect((await set(questionsPerSecondDefault)).status).toBe(200)
    for (const id of ids) bench.vault.wallet.confirm(id)
    await bench.deliver()
  })

  it('let an order be handed over while questions wait for answers, and ask no faster than permitted', async () => {
    const ids = await Promise.all(Array.from({ length: questionsPerSecondDefault + 5 }, () => ordered('1')))
    await bench.deliver()
    bench.test.clock.advance(61_000)
    const open: (() => void)[] = []
    const silent = withCalls((honest) => ({
      getTransfer: async (id) => {
        await new Promise<void>((resolve) => open.push(resolve))
        return honest.getTransfer(id)
      },
    }))
    const delivery = createDelivery(bench.test.deps, silent)
    expect((await delivery.round()).claimed).toBe(questionsPerVaultMax)
    await expect.poll(() => open.length).toBe(questionsPerVaultMax)
    const late = await ordered('1')
    expect((await delivery.round()).claimed).toBe(1)
    await expect.poll(() => phaseOf(late)).toBe('submitted')
    for (const answer of open.splice(0)) answer()
    await expect.poll(() => delivery.underWay()).toEqual([])
    // The clock of the lane stands still: the rest of the quota of this second is used now, and more questions follow later.
    const { claimed, nextAt } = await delivery.round()
    expect(claimed).toBeLessThanOrEqual(questionsPerSecondDefault)
    expect(nextAt === null || nextAt > bench.test.clock.now()).toBe(true)
    await expect.poll(() => open.length).toBe(claimed)
    for (const answer of open.splice(0)) answer()
    await delivery.finish()
    for (const id of [...ids, late]) bench.vault.wallet.confirm(id)
    await bench.deliver()
    await bench.deliver()
  })

  it('ask about a transfer one second after its hand-over, then after growing pauses of at most half a minute', async () => {
    const id = await ordered()
    const { clock } = bench.test.deps
    const now = clock()
    bench.test.deps.clock = () => now
    const pauses: number[] = []
    try {
      for (let round = 0; round < 10; round += 1) {
        await bench.sql('update deliveries set next_attempt_at = $2 where id = $1', [id, now])
        await deliverDueTransfers(bench.test.deps)
        const [row] = await bench.sql('select next_attempt_at from deliveries where id = $1', [id])
        pauses.push((new Date(row.next_attempt_at).getTime() - now.getTime()) / 1_000)
      }
    } finally {
      bench.test.deps.clock = clock
    }
    const longest = [1, 2, 4, 8, 16, 30, 30, 30, 30, 30]
    for (const [round, pause] of pauses.entries()) {
      expect(pause).toBeLessThanOrEqual(longest[round]!)
      expect(pause).toBeGreaterThanOrEqual(longest[round]! * 0.74)
    }
    expect(new Set(pauses.slice(-4)).size).toBeGreaterThan(1)
    bench.vault.wallet.confirm(id)
    await bench.deliver()
  })

  it('write the row of a transfer only when a column changes', async () => {
    const id = await ordered()
    await bench.deliver()
    await bench.deliver()
    const version = async () =>
      (await bench.sql('select xmin::text as version from transfers where id = $1', [id]))[0].version
    const before = await version()
    for (let question = 0; question < 3; question += 1) await bench.deliver()
    expect(await version()).toBe(before)
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect(await phaseOf(id)).toBe('done')
    expect(await version()).not.toBe(before)
    expect(await bench.sql('select from deliveries where id = $1', [id])).toEqual([])
  })
})

describe('T22 a database that fails while the wallet service is asked', () => {
  it('T22 does not end the process: transfers are due again when their claims end, and are sent once', async () => {
    const id = await ordered()
    bench.test.clock.advance(61_000)
    const away = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/away', onError: () => {} })
    const deps = { ...bench.test.deps }
    const delivery = createDelivery(deps, async () => {
      deps.db = away.db
      throw new Error('The database is away')
    })
    // An unhandled rejection would end the process.
    const unhandled: unknown[] = []
    const note = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', note)
    await delivery.round()
    await expect.poll(delivery.underWay).toEqual([])
    await new Promise(setImmediate)
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
    expect(await phaseOf(id)).toBe('submitting')
    await away.db.destroy()
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect(await phaseOf(id)).toBe('submitted')
  })
})

describe('T23 a node', () => {
  const never = () => new Promise<never>(() => {})

  it('T23 that dies after the claim and before the hand-over lets another node send the transfer, once', async () => {
    const id = await ordered()
    bench.test.clock.advance(61_000)
    void deliverDueTransfers(bench.test.deps, never)
    await expect.poll(() => phaseOf(id)).toBe('submitting')
    await deliverDueTransfers(otherNode.deps)
    expect(bench.vault.wallet.broadcastCount(id)).toBe(0)
    bench.test.clock.advance(61_000)
    await deliverDueTransfers(otherNode.deps)
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect(await phaseOf(id)).toBe('submitted')
  })

  it('T23 that dies after the hand-over and before its record lets another node ask, and no node sends again', async () => {
    const id = await ordered()
    bench.test.clock.advance(61_000)
    void deliverDueTransfers(
      bench.test.deps,
      withCalls((honest) => ({ submitTransfer: (order) => honest.submitTransfer(order).then(never) })),
    )
    await expect.poll(() => bench.vault.wallet.broadcastCount(id)).toBe(1)
    const posts = () =>
      bench.vault.wallet.requests.filter(
        ({ method, path, body }) => method === 'POST' && path === '/transfers' && body.id === id,
      ).length
    bench.test.clock.advance(61_000)
    await deliverDueTransfers(otherNode.deps)
    expect([posts(), await phaseOf(id)]).toEqual([1, 'submitted'])
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    expect(await bench.balances(address.id)).toEqual(settled)
  })

  it('T24 that wakes up after the end of its lease changes nothing: one broadcast, one resolution', async () => {
    const id = await ordered()
    let wake = () => {}
    const asleep = new Promise<void>((resolve) => {
      wake = resolve
    })
    bench.test.clock.advance(61_000)
    let isAsleep = false
    const sleeper = deliverDueTransfers(
      bench.test.deps,
      withCalls((honest) => ({
        submitTransfer: (order) => {
          isAsleep = true
          return asleep.then(() => honest.submitTransfer(order))
        },
      })),
    )
    // It claims the transfer before it sends the request to the wallet service.
    await expect.poll(() => isAsleep).toBe(true)
    expect(await phaseOf(id)).toBe('submitting')
    bench.test.clock.advance(61_000)
    await deliverDueTransfers(otherNode.deps)
    bench.vault.wallet.confirm(id)
    bench.test.clock.advance(61_000)
    await deliverDueTransfers(otherNode.deps)
    wake()
    await sleeper
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect(await bench.balances(address.id)).toEqual(settled)
    expect(await bench.audited('transfer.confirmed', id)).toBe(1)
  })

  it.each([
    ['before it opened the wallet service', 'connect'],
    ['after it asked the wallet service', 'getTransfer'],
  ])('T24 asleep %s, awake after the release of the funds, sends nothing', async (_when, where) => {
    const id = await ordered()
    await bench.deliver(withCalls(() => ({ submitTransfer: () => Promise.reject(new Error('the line went dead')) })))
    let wake = () => {}
    const asleep = new Promise<void>((resolve) => {
      wake = resolve
    })
    bench.test.clock.advance(61_000)
    const unfinished = await bench.sql(`select from transfers where phase in ('submitting', 'submitted', 'broadcast')`)
    let asleepCount = 0
    const fallAsleep = <T>(value: T): Promise<T> => {
      asleepCount += 1
      return asleep.then(() => value)
    }
    const connect: Parameters<typeof deliverDueTransfers>[1] =
      where === 'connect'
        ? (deps, vaultId) => fallAsleep(null).then(() => walletOfVault(deps, vaultId))
        : withCalls((honest) => ({ getTransfer: (sought) => honest.getTransfer(sought).then(fallAsleep) }))
    const sleeper = deliverDueTransfers(bench.test.deps, connect)
    // A vault's wallet service is opened once for all that is due, of earlier tests too, maybe before the last of it is claimed.
    await expect.poll(() => asleepCount).toBe(where === 'connect' ? 1 : unfinished.length)
    const due = 'select from deliveries where next_attempt_at <= $1'
    await expect.poll(() => bench.sql(due, [bench.test.deps.clock()])).toEqual([])
    bench.test.clock.advance(61_000)
    bench.vault.wallet.refuse = 'not now'
    await deliverDueTransfers(otherNode.deps)
    expect((await bench.read(id)).status).toBe('failed')
    bench.vault.wallet.refuse = null
    wake()
    await sleeper
    expect(bench.vault.wallet.broadcastCount(id)).toBe(0)
    expect(await bench.balances(address.id)).toEqual(released)
  })

  it.each([
    ['finds no connection', () => new WalletServiceError('unreachable', 'No connection')],
    ['is refused', () => new WalletServiceError('refused', 'The authority has changed')],
  ])(
    'T24 asleep until its own attempt %s does not release funds of a transfer that another node sent',
    async (_why, fault) => {
      const id = await ordered()
      let wake = () => {}
      const asleep = new Promise<void>((resolve) => {
        wake = resolve
      })
      let isAsleep = false
      bench.test.clock.advance(61_000)
      const sleeper = deliverDueTransfers(
        bench.test.deps,
        withCalls((honest) => ({
          submitTransfer: (order) => {
            if (order.id !== id) return honest.submitTransfer(order)
            isAsleep = true
            return asleep.then(() => Promise.reject(fault()))
          },
          getTransfer: (transferId) => (transferId === id ? Promise.resolve(null) : honest.getTransfer(transferId)),
        })),
      )
      await expect.poll(() => isAsleep).toBe(true)
      bench.test.clock.advance(61_000)
      const lineDied = () => Promise.reject(new Error('the line went dead'))
      await deliverDueTransfers(
        otherNode.deps,
        withCalls((honest) => ({
          submitTransfer: (order) =>
            order.id === id ? honest.submitTransfer(order).then(lineDied) : honest.submitTransfer(order),
        })),
      )
      expect([bench.vault.wallet.broadcastCount(id), await phaseOf(id)]).toEqual([1, 'submitting'])
      wake()
      await sleeper
      expect([await phaseOf(id), (await bench.act(bench.owner, id, 'cancel')).status]).toEqual(['submitting', 409])
      expect(await bench.balances(address.id)).toEqual(reserved)
      bench.vault.wallet.confirm(id)
      bench.test.clock.advance(61_000)
      await bench.deliver()
      expect(await bench.balances(address.id)).toEqual(settled)
    },
  )

  it('T23 beside another node claims each transfer once', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => ordered('10')))
    bench.test.clock.advance(61_000)
    const nodes = [bench.test.deps, otherNode.deps, bench.test.deps, otherNode.deps]
    await Promise.all(nodes.map((deps) => deliverDueTransfers(deps)))
    for (const id of ids) bench.vault.wallet.confirm(id)
    bench.test.clock.advance(61_000)
    await Promise.all(nodes.map((deps) => deliverDueTransfers(deps)))
    expect(ids.map((id) => bench.vault.wallet.broadcastCount(id))).toEqual(ids.map(() => 1))
    const submitted = bench.vault.wallet.requests.filter(
      ({ method, path }) => method === 'POST' && path === '/transfers',
    )
    expect(ids.map((id) => submitted.filter(({ body }) => body.id === id).length)).toEqual(ids.map(() => 1))
    expect(await bench.balances(address.id)).toEqual({ available: '880', reserved: '0' })
    for (const id of ids) expect(await bench.audited('transfer.confirmed', id)).toBe(1)
  })

  it('T23 leaves a locked transfer alone, and delays no other transfer', async () => {
    const [busy, free] = [await ordered('10'), await ordered('20')]
    await bench.rolledBack(async (query) => {
      await query('select from transfers join deliveries using (vault_id, id) where id = $1 for update', [busy])
      bench.test.clock.advance(61_000)
      const round = deliverDueTransfers(bench.test.deps)
      // A round that waited for the locked transfer would end only after this transaction, and so would never end.
      await round
    })
    expect([busy, free].map((id) => bench.vault.wallet.broadcastCount(id))).toEqual([0, 1])
  })

  it('T4 hands a transfer over or lets it be cancelled, never both', async () => {
    for (let round = 0; round < 8; round += 1) {
      const id = await ordered('1')
      bench.test.clock.advance(61_000)
      const [, cancelled] = await Promise.all([
        deliverDueTransfers(otherNode.deps),
        bench.act(bench.owner, id, 'cancel'),
      ])
      expect(bench.vault.wallet.broadcastCount(id)).toBe(cancelled.status === 200 ? 0 : 1)
      expect([200, 409]).toContain(cancelled.status)
    }
  })

  it('T4 resolves a transfer once beside another node: its reservation is used once', async () => {
    for (let round = 0; round < 6; round += 1) {
      address = await bench.fundedAddress()
      const id = await ordered()
      await bench.deliver()
      bench.vault.wallet.confirm(id)
      const opposite = withCalls((honest) => ({
        getTransfer: async (transferId) => ({ ...(await honest.getTransfer(transferId))!, status: 'failed' as const }),
      }))
      await bench.sql(`update deliveries set next_attempt_at = now() where id = $1`, [id])
      // The claim keeps two nodes apart. Here both nodes have it, as after a lease that ended too early.
      const first = deliverDueTransfers(
        bench.test.deps,
        withCalls((honest) => ({
          getTransfer: async (transferId) => {
            await bench.sql(`update deliveries set next_attempt_at = now() where id = $1`, [id])
            await deliverDueTransfers(otherNode.deps, opposite)
            return honest.getTransfer(transferId)
          },
        })),
      )
      await first
      const status = (await bench.read(id)).status
      expect(['confirmed', 'failed']).toContain(status)
      expect(await bench.balances(address.id)).toEqual(status === 'confirmed' ? settled : released)
    }
  })
})

describe('the fee', () => {
  it('above the coins of the address stays outstanding, and is posted when there are enough', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '0.000000000000020999' })
    const before = await outstandingFees()
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(id, { fee: '21000' })
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed', fee: '21000' })
    expect(await bench.balances(address.id, 'ETH')).toEqual({ available: '0.000000000000020999', reserved: '0' })
    await bench.expectSoundLedger()
    expect((await outstandingFees()) - before).toBe(21000n)

    await postOutstandingFees(bench.test.deps)
    expect((await bench.balances(address.id, 'ETH')).available).toBe('0.000000000000020999')
    await deposit(bench.test, { address: address.address, amount: '0.000000000000000001' })
    await Promise.all([postOutstandingFees(bench.test.deps), postOutstandingFees(otherNode.deps)])
    expect((await bench.balances(address.id, 'ETH')).available).toBe('0')
  })

  it('of an address without any coin stays outstanding, too', async () => {
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(id, { fee: '7' })
    await bench.deliver()
    const { body } = await bench.owner.get(`/vaults/main-vault/balances?summary=true&addressId=${address.id}`)
    expect(body.totals.map((total) => total.token.code)).toEqual(['USDT'])
    await deposit(bench.test, { address: address.address, amount: '1' })
    await postOutstandingFees(bench.test.deps)
    expect((await bench.balances(address.id, 'ETH')).available).toBe('0.999999999999999993')
  })

  it('that another account paid is not posted', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(id)
    bench.vault.wallet.mutateStatus = (_id, status) => ({ ...status, feePaidBy: fakeAddress('a gas station') })
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed', fee: null })
    expect((await bench.balances(address.id, 'ETH')).available).toBe('1')
  })

  /** Confirms a transfer whose fee another address of the vault paid. */
  async function paidBy(payer: { address: string }, fee: string): Promise<string> {
    const id = await ordered()
    await bench.deliver()
    bench.vault.wallet.confirm(id, { fee })
    bench.vault.wallet.mutateStatus = (_id, status) => ({ ...status, feePaidBy: payer.address.toLowerCase() })
    await bench.deliver()
    bench.vault.wallet.mutateStatus = null
    return id
  }

  it('that another address of the vault paid is posted to that address', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    const payer = await bench.fundedAddress({ eth: '2' })
    const id = await paidBy(payer, '7')
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed', fee: '7' })
    expect((await bench.balances(address.id, 'ETH')).available).toBe('1')
    expect((await bench.balances(payer.id, 'ETH')).available).toBe('1.999999999999999993')
    const entries = await bench.sql('select kind from ledger_entries where operation_id = $1 order by sequence', [id])
    expect(entries.map(({ kind }) => kind)).toEqual(['reserve', 'settle', 'fee'])
    expect((await verifyLedger(bench.test.deps.db)).differences).toEqual([])
  })

  it('that another address of the vault owes is posted when that address has enough of the coin', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    const payer = await bench.fundedAddress({ usdt: '1' })
    const before = await outstandingFees()
    await paidBy(payer, '7')
    expect((await outstandingFees()) - before).toBe(7n)
    await postOutstandingFees(bench.test.deps)
    expect((await bench.balances(address.id, 'ETH')).available).toBe('1')
    await deposit(bench.test, { address: payer.address, amount: '1' })
    await postOutstandingFees(bench.test.deps)
    expect(await outstandingFees()).toBe(before)
    expect((await bench.balances(payer.id, 'ETH')).available).toBe('0.999999999999999993')
    expect((await bench.balances(address.id, 'ETH')).available).toBe('1')
    expect((await verifyLedger(bench.test.deps.db)).differences).toEqual([])
  })
})

async function outstandingFees(): Promise<bigint> {
  const { body } = await bench.vault.admin.get('/vaults/main-vault/ledger/reconciliation')
  return BigInt(body.tokens.find((row) => row.token.code === 'ETH')!.outstandingFees)
}

describe('T29 the kill switch at the hand-over', () => {
  const setEnabled = (enabled: boolean) => bench.vault.admin.patch(`/tokens/${bench.vault.tokens.usdt.id}`, { enabled })

  it('T29 stops transfers that were not sent, which may be cancelled, and releases them later', async () => {
    const [later, cancelled] = [await ordered('30'), await ordered('10')]
    await setEnabled(false)
    for (let round = 0; round < 2; round += 1) await bench.deliver()
    expect((await bench.act(bench.owner, cancelled, 'cancel')).status).toBe(200)
    expect([later, cancelled].map((id) => bench.vault.wallet.broadcastCount(id))).toEqual([0, 0])
    await setEnabled(true)
    await bench.deliver()
    expect([later, cancelled].map((id) => bench.vault.wallet.broadcastCount(id))).toEqual([1, 0])
  })

  it('T29 does not send a transfer again that may have been sent, and settles sent transfers', async () => {
    const [lost, taken] = [await ordered('30'), await ordered('10')]
    await bench.deliver(
      withCalls((honest) => ({
        submitTransfer: async (order) => {
          if (order.id === taken) await honest.submitTransfer(order)
          throw new Error('the line went dead')
        },
      })),
    )
    await setEnabled(false)
    await bench.deliver()
    expect((await bench.act(bench.owner, lost, 'cancel')).status).toBe(409)
    bench.vault.wallet.confirm(taken)
    await bench.deliver()
    expect([lost, taken].map((id) => bench.vault.wallet.broadcastCount(id))).toEqual([0, 1])
    expect((await bench.read(taken)).status).toBe('confirmed')
    await setEnabled(true)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(lost)).toBe(1)
  })
})

describe('T29 the decision at the hand-over', () => {
  const nowhere = async () => createWalletClient({ url: 'http://127.0.0.1:1', secret: null, dispatcher })
  const everybody = () => [bench.vault.admin.userId, bench.owner.userId].toSorted()
  const notified = async (id: string) =>
    (await bench.sql(`select user_id from notifications where subject_id = $1 and kind = 'stopped'`, [id]))
      .map((row) => row.user_id)
      .toSorted()

  it('T29 fails a transfer that a policy blocks now: its funds are released, it is never sent, and people are notified', async () => {
    const id = await ordered()
    const rules = amountRule({ op: 'between', min: '40', max: '40' })
    const policy = await bench.policy({ code: 'stop', effect: 'block', blockReason: 'Closed', rules })
    await bench.deliver()
    await bench.vault.admin.delete(`/policies/${policy.id}`)
    await expectRefused(id, 'A policy blocks this transfer now: Closed')
    expect(await notified(id)).toEqual(everybody())
    expect(await bench.balances(address.id)).toEqual(released)
  })

  it('T29 refuses an initiator who left the vault, was disabled, or lost the right', async () => {
    const { test, vault } = bench
    const leaver = await addMember(test, vault, 'leaver@example.org', ['treasury'])
    const disabled = await addMember(test, vault, 'disabled@example.org', ['treasury'])
    const grantee = await addMember(test, vault, 'grantee@example.org', ['treasury'])
    const grants = `/vaults/main-vault/addresses/${address.id}/grants` as const
    const granted = await bench.owner.post(grants, {
      subjectType: 'user',
      subjectId: grantee.userId,
      canTransfer: true,
    })
    const orderOf = async (by: Person, from: string) => {
      const { status, body } = await bench.order(from, '40', {}, by)
      expect([status, body.status]).toEqual([201, 'pending'])
      return body.id
    }
    const left = await orderOf(leaver, (await bench.fundedAddress({}, leaver)).id)
    const stopped = await orderOf(disabled, (await bench.fundedAddress({}, disabled)).id)
    const revoked = await orderOf(grantee, address.id)
    expect(
      (await vault.admin.delete(`/policy-groups/${await ensureGroup(vault, 'treasury')}/members/${leaver.userId}`))
        .status,
    ).toBe(204)
    await bench.sql('update users set disabled_at = now() where id = $1', [disabled.userId])
    expect((await bench.owner.delete(`${grants}/${granted.body.id}`)).status).toBe(204)
    await bench.deliver()
    await expectRefused(left, 'The initiator is disabled or no longer a member of the vault')
    await expectRefused(stopped, 'The initiator is disabled or no longer a member of the vault')
    await expectRefused(revoked, 'The initiator may no longer transfer from this address')
  })

  it('T29 refuses a vault that is not locked, and a waiver for a former administrator', async () => {
    const toUnlocked = await ordered('10')
    await bench.sql('update vaults set locked_at = null where id = $1', [bench.vault.id])
    await bench.deliver()
    await bench.sql('update vaults set locked_at = now() where id = $1', [bench.vault.id])
    await expectRefused(toUnlocked, 'The vault is not locked')

    const waiving = await bench.policy({
      code: 'waived',
      effect: 'requireApproval',
      approvalThreshold: 1,
      adminBypass: true,
      rules: amountRule({ op: 'between', min: '33', max: '33' }),
    })
    const second = await addMember(bench.test, bench.vault, 'second.admin@example.org', ['administrators', 'treasury'])
    const ownAddress = await bench.fundedAddress({}, second)
    const waived = (await bench.order(ownAddress.id, '33', {}, second)).body
    expect(waived.status).toBe('pending')
    const { administrators } = bench.vault.groups
    expect((await bench.vault.admin.delete(`/policy-groups/${administrators}/members/${second.userId}`)).status).toBe(
      204,
    )
    await bench.deliver()
    await bench.vault.admin.delete(`/policies/${waiving.id}`)
    await expectRefused(waived.id, 'A vote was waived for an administrator, and the initiator no longer is one')
  })

  it('T29 never fails a transfer that may have been sent: it waits with its funds while there is an objection', async () => {
    const id = await ordered()
    await bench.deliver(withCalls(() => ({ submitTransfer: () => Promise.reject(new Error('the line went dead')) })))
    const rules = amountRule({ op: 'between', min: '40', max: '40' })
    const policy = await bench.policy({ code: 'stop', effect: 'block', rules })
    for (let round = 0; round < 2; round += 1) await bench.deliver()
    expect(await bench.read(id)).toMatchObject({
      status: 'pending',
      haltReason: 'Not sent again: A policy blocks this transfer now',
    })
    expect(await bench.balances(address.id)).toEqual(reserved)
    expect(bench.vault.wallet.broadcastCount(id)).toBe(0)
    expect(await bench.audited('transfer.halted', id)).toBe(1)

    await bench.vault.admin.delete(`/policies/${policy.id}`)
    await bench.deliver()
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    expect(await bench.read(id)).toMatchObject({ status: 'pending', haltReason: null })
  })

  it('T29 is not repeated after the wallet service has the transfer', async () => {
    const id = await ordered()
    await bench.deliver()
    const rules = amountRule({ op: 'between', min: '40', max: '40' })
    const policy = await bench.policy({ code: 'stop', effect: 'block', rules })
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    await bench.vault.admin.delete(`/policies/${policy.id}`)
    expect((await bench.read(id)).status).toBe('confirmed')
  })

  it('T29 does not stop a transfer for a velocity limit that it met at the order', async () => {
    const windowSeconds = 60
    const value = { op: 'gt', value: '1', windowSeconds, per: 'sourceAddress' }
    const policy = await bench.policy({
      code: 'slowly',
      effect: 'block',
      rules: [{ conditionType: 'require', selectors: [{ selectorType: 'velocityCount', value }] }],
    })
    const first = await ordered('10')
    await bench.deliver(nowhere)
    bench.test.clock.advance(windowSeconds * 1_000)
    const second = await ordered('10')
    await bench.deliver()
    await bench.vault.admin.delete(`/policies/${policy.id}`)
    expect([first, second].map((id) => bench.vault.wallet.broadcastCount(id))).toEqual([1, 1])
  })

  it('T29 is made later when a node dies between claim and check: the transfer stays in the queue and may be cancelled', async () => {
    const [blocked, cancelled] = [await ordered('41'), await ordered('10')]
    bench.test.clock.advance(61_000)
    const never = () => ({ execute: () => new Promise<never>(() => {}) })
    const bound = (target: object, name: string | symbol) => {
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    }
    const db = new Proxy(bench.test.deps.db, {
      get: (target, name) => (name === 'transaction' ? never : bound(target, name)),
    })
    void deliverDueTransfers({ ...bench.test.deps, db })
    const claimed = () =>
      bench.sql('select phase from transfers join deliveries using (id) where id = any($1) and next_attempt_at > $2', [
        [blocked, cancelled],
        bench.test.clock.now(),
      ])
    await expect.poll(claimed).toEqual([{ phase: 'queued' }, { phase: 'queued' }])
    expect((await bench.act(bench.owner, cancelled, 'cancel')).status).toBe(200)
    const rules = amountRule({ op: 'between', min: '41', max: '41' })
    const policy = await bench.policy({ code: 'stop', effect: 'block', rules })
    await bench.deliver()
    await bench.vault.admin.delete(`/policies/${policy.id}`)
    await expectRefused(blocked, 'A policy blocks this transfer now')
    expect(bench.vault.wallet.broadcastCount(cancelled)).toBe(0)
  })

  async function expectRefused(id: string, reason: string): Promise<void> {
    const transfer = await bench.read(id, bench.vault.admin)
    expect([transfer.status, transfer.failureReason]).toEqual(['failed', expect.stringContaining(reason)])
    expect(transfer.failureReason).toMatch(/^NO_LONGER_ALLOWED: /)
    expect(bench.vault.wallet.transfer(id)).toBeNull()
    expect(await bench.audited('transfer.failed', id)).toBe(1)
  }
})

describe('internal transfers', () => {
  it('leave the sender and arrive by the webhook, marked internal on both sides', async () => {
    const target = await createAddress(bench.owner, { token: 'USDT' })
    const id = await ordered('40', { toAddress: target.address })
    await bench.deliver()
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    const received = await deposit(bench.test, {
      address: target.address,
      asset: bench.vault.tokens.usdt.contractAddress,
      amount: '40',
      txHash: fakeTxHash(id),
      fromAddress: address.address,
    })
    const deposited = await bench.owner.get(`/vaults/main-vault/deposits/${received.body.depositId}`)
    expect([(await bench.read(id)).flowType, deposited.body.flowType]).toEqual(['internal', 'internal'])
    expect(await bench.balances(address.id)).toEqual(settled)
    expect(await bench.balances(target.id)).toEqual({ available: '40', reserved: '0' })
  })
})

async function expectHalted(id: string, reason: string): Promise<void> {
  for (let round = 0; round < 2; round += 1) await bench.deliver()
  expect(await bench.read(id)).toMatchObject({ status: 'pending', haltReason: reason })
  expect((await bench.balances(address.id)).reserved).toBe('40')
  expect(await bench.audited('transfer.halted', id)).toBe(1)
  expect(bench.vault.wallet.broadcastCount(id)).toBeLessThanOrEqual(1)
  expect((await bench.act(bench.owner, id, 'cancel')).status).toBe(409)
}

async function phaseOf(id: string): Promise<string> {
  return (await bench.sql('select phase from transfers where id = $1', [id]))[0].phase
}

/** The honest service, which refuses every order. */
async function createRefusing(honest: WalletClient): Promise<WalletClient> {
  return {
    ...honest,
    submitTransfer: async (order) => {
      bench.vault.wallet.refuse = 'not this one'
      try {
        return await honest.submitTransfer({ ...order, id: `${order.id}x` })
      } finally {
        bench.vault.wallet.refuse = null
      }
    },
  }
}
