import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { judge } from '../../../jobs/watch/checks.ts'
import { readSamples } from '../../../jobs/watch/samples.ts'
import type { Address } from '../../../testing/answer.ts'
import type { FakeEntry } from '../../../testing/fake-wallet.ts'
import { createAddress, deposit, fixtureRoutes, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { compareAccepted, HaltedVaultError, walletComparedMilliseconds } from './compare-accepted.ts'
import { liftHalt, readDifference } from './lift-halt.ts'
import { pickSamples } from './probe-wallet.ts'
import { listUnknown, skippedIndices } from './wallet-marks.ts'
import { walletOfVault } from './wallet-settings.ts'
import { noticeDatabase, watchAccepted } from './watch-accepted.ts'

let bench: TransferBench
let address: Address

beforeAll(async () => {
  bench = await createTransferBench()
  bench.vault.wallet.accepted = []
  address = await bench.fundedAddress()
})
afterAll(() => bench.close())
beforeEach(() => later())
afterEach(async () => {
  await bench.sql('update vaults set halted_at = null, halt_reason = null')
  bench.vault.wallet.answerWithAddress = null
  bench.vault.wallet.swallow = false
  vi.restoreAllMocks()
})

const wallet = () => bench.vault.wallet
const entries = () => wallet().accepted!
const base = () => `/vaults/${bench.vault.code}` as const
const compare = () =>
  compareAccepted(bench.test.deps, bench.vault.id, () => walletOfVault(bench.test.deps, bench.vault.id))

/** Lets the comparisons of this process become old. */
let passed = 0
const realNow = performance.now.bind(performance)
function later() {
  passed += walletComparedMilliseconds + 1
  const by = passed
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + by)
}

const readHalt = async () => (await bench.vault.admin.get(base())).body.halt
const markOf = async () => (await bench.sql('select cursor, entries::int from wallet_marks'))[0]
const create = () =>
  bench.owner.post(`${base()}/addresses`, { network: 'ethereum', segments: { purpose: 'ops' }, token: 'USDT' })
const isRed = async () => {
  const findings = judge(await readSamples({ ...bench.test.deps, clock: bench.test.clock.now }))
  return findings.some(({ check, red }) => check.alert === 'StrongroomVaultHalted' && red.length > 0)
}
const mailsAbout = async (action: string) =>
  (
    await bench.sql(
      `select n.user_id from notifications n join audit_records r on r.id = n.subject_id
       where n.subject_type = 'audit_record' and r.action = $1`,
      [action],
    )
  ).map(({ user_id }) => user_id)

/** Runs `work` while the wallet service has lost all entries except `kept`. */
async function withLostEntries(kept: FakeEntry[], work: () => Promise<void>) {
  const all = [...entries()]
  wallet().accepted = kept
  try {
    await work()
  } finally {
    wallet().accepted = all
  }
}

async function withExtraEntry(extra: FakeEntry, work: () => Promise<void>) {
  entries().push(extra)
  try {
    await work()
  } finally {
    entries().splice(entries().indexOf(extra), 1)
  }
}

const lostTransfer: FakeEntry = { kind: 'transfer', id: 'a-transfer-that-the-books-lost' }

describe('T26 books that were restored to an earlier time', () => {
  it('hand nothing over and make no address, and everybody sees it', async () => {
    await compare()
    const { body: queued } = await bench.order(address.id, '1')
    await withExtraEntry(lostTransfer, async () => {
      await bench.deliver()
      expect(wallet().broadcastCount(queued.id)).toBe(0)
      expect(await bench.read(queued.id)).toMatchObject({ status: 'pending', handedOverAt: null })
      expect(await create()).toMatchObject({ status: 409, body: { reason: 'vault_halted' } })
      expect(await readHalt()).toEqual({ since: expect.any(String), reason: 'books_behind' })
      expect(await isRed()).toBe(true)
      expect(await mailsAbout('vault.halted')).toContain(bench.vault.admin.userId)
      const [record] = await bench.sql(`select content from audit_records where action = 'vault.halted'`)
      expect(JSON.parse(record.content).details).toEqual({
        reason: 'books_behind',
        unknown: [lostTransfer],
        unknownCount: 1,
      })
      await bench.deliver()
      expect(wallet().broadcastCount(queued.id)).toBe(0)
      expect(await bench.audited('vault.halted', bench.vault.id)).toBe(1)
    })
    await bench.sql('update vaults set halted_at = null, halt_reason = null')
    later()
    await bench.deliver()
    expect(wallet().broadcastCount(queued.id)).toBe(1)
    expect(await readHalt()).toBeNull()
    expect(await isRed()).toBe(false)
  })

  it('notice an event and a transaction on a network that they lost', async () => {
    const place = { network: 'a-lost-network', txHash: `0x${'ab'.repeat(32)}` }
    const to = { toAddress: address.address, asset: null, index: 0, occurrence: 0, isOrphan: false }
    const event: FakeEntry = { kind: 'event', id: 'a-lost-event', ...place, ...to }
    const transaction: FakeEntry = {
      kind: 'transaction',
      ...place,
      fromAddress: address.address,
      fee: '1',
      payments: [],
    }
    await compare()
    for (const lost of [event, transaction]) {
      await withExtraEntry(lost, async () => {
        later()
        await expect(compare()).rejects.toThrow(HaltedVaultError)
      })
      await bench.sql('update vaults set halted_at = null, halt_reason = null')
    }
    // An event that was told before is known, though the registry never had its network.
    await bench.sql(
      `insert into wallet_events (id, received_at, body, network, outcome, reason)
       values ('told-on-a-lost-network', now(), $1, $2, 'ignored', 'unknown_network')`,
      [JSON.stringify(event), place.network],
    )
    expect(await listUnknown(bench.test.deps.db, bench.vault.id, [event, transaction])).toEqual([transaction])
  })

  it('notice an address that they lost before it is given to a second person', async () => {
    await compare()
    const path = (n: number) => address.derivationPath.replace(/\d+$/, String(n))
    const [{ next }] = await bench.sql('select max(path_index)::int + 1 as next from addresses')
    const lost: FakeEntry = { kind: 'address', network: 'ethereum', derivationPath: path(next), address: '0x1' }
    await withExtraEntry(lost, async () => {
      expect(await create()).toMatchObject({ status: 409, body: { reason: 'vault_halted' } })
      expect(await bench.sql('select from addresses where derivation_path = $1', [path(next)])).toEqual([])
    })
  })

  it('notice a transfer that they have, and that was not handed over as far as they know', async () => {
    const { body: queued } = await bench.order(address.id, '1')
    await compare()
    await withExtraEntry({ kind: 'transfer', id: queued.id }, async () => {
      await expect(compare()).rejects.toThrow(HaltedVaultError)
    })
    await bench.act(bench.owner, queued.id, 'cancel')
  })

  it('notice a deposit that they lost, and know those that they credited, kept or took back', async () => {
    const of = { kind: 'event', network: 'ethereum', asset: null, toAddress: address.address, index: 0 } as const
    const txHash = `0x${'ab'.repeat(32)}`
    const event = { ...of, id: 'evt_1', txHash, occurrence: 0, isOrphan: false }
    await compare()
    entries().push(event)
    await expect(compare()).rejects.toThrow(HaltedVaultError)
    await bench.sql('update vaults set halted_at = null, halt_reason = null')
    await deposit(bench.test, { address: address.address, amount: '1', txHash })
    await compare()
    for (const unknown of [
      { ...event, id: 'evt_2', index: 1 },
      { ...event, id: 'evt_3', isOrphan: true },
      { ...event, id: 'evt_4', occurrence: 1 },
      { ...event, id: 'evt_5', asset: usdtContract },
    ]) {
      await withExtraEntry(unknown, async () => {
        await expect(compare(), unknown.id).rejects.toThrow(HaltedVaultError)
        await bench.sql('update vaults set halted_at = null, halt_reason = null')
      })
    }
    const elsewhere = { ...event, id: 'evt_6', toAddress: bench.recipient, txHash: `0x${'cd'.repeat(32)}` }
    await deposit(bench.test, { address: bench.recipient, amount: '1', txHash: elsewhere.txHash })
    entries().push(elsewhere)
    await compare()
  })
})

describe('T26 a wallet service that was restored to an earlier time', () => {
  it('gets nothing, also after it has accepted as much again', async () => {
    await createAddress(bench.owner, { vault: bench.vault.code, token: 'USDT' })
    await compare()
    const { body: queued } = await bench.order(address.id, '1')
    const kept = entries().slice(0, -1)
    later()
    await withLostEntries(kept, async () => {
      await bench.deliver()
      expect(wallet().broadcastCount(queued.id)).toBe(0)
      expect(await readHalt()).toMatchObject({ reason: 'wallet_behind' })
      expect(await create()).toMatchObject({ status: 409, body: { reason: 'vault_halted' } })
    })
    await bench.sql('update vaults set halted_at = null, halt_reason = null')
    const others: FakeEntry[] = [1, 2, 3].map((n) => ({ kind: 'transfer', id: `another-${n}` }))
    await withLostEntries([...kept, ...others], async () => {
      await expect(compare()).rejects.toThrow(HaltedVaultError)
      expect(await readHalt()).toMatchObject({ reason: 'wallet_behind' })
    })
    await bench.act(bench.owner, queued.id, 'cancel')
  })
})

describe('T26 a wallet service that lost an address that no comparison has seen', () => {
  it('gets nothing', async () => {
    await compare()
    const kept = [...entries()]
    await createAddress(bench.owner, { vault: bench.vault.code, token: 'USDT' })
    await withLostEntries(kept, async () => {
      await expect(compare()).rejects.toThrow(HaltedVaultError)
      expect(await readHalt()).toMatchObject({ reason: 'wallet_behind' })
    })
  })
})

describe('no false alarm', () => {
  it('when the answer to an order is lost', async () => {
    const { body } = await bench.order(address.id, '1')
    wallet().swallow = true
    await bench.deliver(async (deps, vaultId) => {
      const client = await walletOfVault(deps, vaultId)
      return {
        ...client,
        submitTransfer: async (order) => {
          void client.submitTransfer(order).catch(() => {})
          await vi.waitFor(() => expect(wallet().broadcastCount(order.id)).toBe(1))
          throw new Error('the connection was lost')
        },
      }
    })
    await compare()
    expect(entries()).toContainEqual({ kind: 'transfer', id: body.id })
    expect(await readHalt()).toBeNull()
  })

  it('when the answer with an address is lost, and the same address is made afterwards', async () => {
    wallet().answerWithAddress = () => 'nonsense'
    expect((await create()).status).toBe(502)
    const entry = entries().at(-1)
    await compare()
    wallet().answerWithAddress = null
    const { status, body } = await create()
    expect(status).toBe(201)
    expect(entry).toMatchObject({ kind: 'address', derivationPath: body.derivationPath })
    await compare()
    expect(await bench.sql('select from asked_paths')).toEqual([])
  })

  it('while orders and addresses are accepted and compared at the same time', async () => {
    const ids = await Promise.all(Array.from({ length: 24 }, async () => (await bench.order(address.id, '1')).body.id))
    let isOver = false
    const comparisons = (async () => {
      let count = 0
      while (!isOver) {
        await compare()
        count += 1
      }
      return count
    })()
    await Promise.all([bench.deliver(), ...Array.from({ length: 12 }, create)])
    isOver = true
    expect(await comparisons).toBeGreaterThan(3)
    expect(await readHalt()).toBeNull()
    for (const id of ids) expect(wallet().broadcastCount(id)).toBe(1)
    await compare()
    expect(await markOf()).toMatchObject({ entries: entries().length })
  })

  it('when two nodes compare at once', async () => {
    await Promise.all(Array.from({ length: 8 }, compare))
    expect(await markOf()).toMatchObject({ entries: entries().length })
  })

  it('when the vault gets another secret, after which the comparison begins anew', async () => {
    // A wallet service is not replaced while transfers are in flight.
    wallet().swallow = false
    for (let round = 1; round <= 3; round += 1) {
      for (const { id, status } of wallet().transfers())
        if (status === 'queued') wallet().fail(id, 'GONE: for the test')
      await bench.deliver()
    }
    await compare()
    const { status } = await bench.vault.admin.patch(base(), { walletServiceSecret: wallet().secret })
    expect(status).toBe(200)
    expect(await markOf()).toMatchObject({ cursor: null, entries: 0 })
    await compare()
    expect(await markOf()).toMatchObject({ entries: entries().length })
  })
})

it('a wallet service that offers no list is used as before, and one that offered a list must go on to offer it', async () => {
  const listed = wallet().accepted
  await bench.sql('delete from wallet_marks')
  wallet().accepted = null
  await compare()
  wallet().accepted = listed
  await compare()
  later()
  wallet().accepted = null
  const { body: queued } = await bench.order(address.id, '1')
  await bench.deliver()
  expect(wallet().broadcastCount(queued.id)).toBe(0)
  expect(await bench.read(queued.id)).toMatchObject({ status: 'pending' })
  expect((await create()).status).toBe(502)
  expect(await readHalt()).toBeNull()
  wallet().accepted = listed
  later()
  await bench.deliver()
  expect(wallet().broadcastCount(queued.id)).toBe(1)
})

it('the first comparison burns unknown paths, whose indices are not used, and halts for unknown transfers', async () => {
  await bench.sql('delete from wallet_marks')
  const [{ next }] = await bench.sql('select max(path_index)::int + 1 as next from addresses')
  const path = (n: number) => address.derivationPath.replace(/\d+$/, String(n))
  entries().push({ kind: 'address', network: 'ethereum', derivationPath: path(next), address: '0x1' })
  await compare()
  expect((await create()).body).toMatchObject({ derivationPath: path(next + 1) })
  await bench.sql('delete from wallet_marks')
  await withExtraEntry(lostTransfer, async () => {
    await expect(compare()).rejects.toThrow(HaltedVaultError)
  })
})

it('a first comparison of many pages is lenient until its end, and later ones are strict', async () => {
  await bench.sql('delete from wallet_marks')
  const path = (n: number) => address.derivationPath.replace(/\d+$/, String(n))
  const listed = wallet().accepted!
  wallet().accepted = [
    ...Array.from({ length: 1_000 }, () => listed[0]!),
    { kind: 'address', network: 'ethereum', derivationPath: path(90_000), address: '0x1' },
  ]
  await compare()
  expect(await markOf()).toMatchObject({ entries: 1_001 })
  entries().push({ kind: 'address', network: 'ethereum', derivationPath: path(90_001), address: '0x1' })
  await expect(compare()).rejects.toThrow(HaltedVaultError)
  await bench.sql('delete from wallet_marks')
  wallet().accepted = listed
})

it('the task of every node halts vaults without orders', async () => {
  await compare()
  await withExtraEntry(lostTransfer, async () => {
    await watchAccepted(bench.test.deps)
    expect(await readHalt()).toMatchObject({ reason: 'books_behind' })
  })
})

describe('T26 a transaction that the wallet service has no record of', () => {
  const found = (txHash: string): FakeEntry => ({
    kind: 'transaction',
    network: 'ethereum',
    txHash,
    fromAddress: address.address,
    fee: '21000',
    payments: [{ toAddress: bench.recipient, contractAddress: null, amount: '5' }],
  })

  it('halts the vault, unless it is that of a transfer in the books', async () => {
    const { body } = await bench.order(address.id, '1')
    await bench.deliver()
    wallet().confirm(body.id)
    await bench.deliver()
    const { txHash } = await bench.read(body.id)
    await compare()
    entries().push(found(txHash!.toUpperCase().replace('0X', '0x')))
    await compare()
    await withExtraEntry(found(`0x${'fe'.repeat(32)}`), async () => {
      await expect(compare()).rejects.toThrow(HaltedVaultError)
      expect(await readHalt()).toMatchObject({ reason: 'books_behind' })
    })
  })
})

describe('T26 books and wallet service that work with other databases', () => {
  const floors = async () => (await bench.sql('select index_floors::text[] as floors from wallet_marks'))[0].floors
  const indexOf = (derivationPath: string) => Number(derivationPath.split('/').at(-1))
  const move = () => bench.sql(`update wallet_marks set books_database = 'before'`)
  const next = async () => {
    later()
    const { status, body } = await create()
    expect(status).toBe(201)
    return indexOf(body.derivationPath)
  }
  afterEach(() => {
    wallet().database = null
  })

  it('are named when the vault is locked, before it has an address', async () => {
    wallet().database = 'first'
    const { url: walletServiceUrl, secret: walletServiceSecret } = wallet()
    const { status } = await bench.vault.admin.post('/vaults', {
      vault: { code: 'named-vault', name: 'Named', walletServiceUrl, walletServiceSecret },
      routes: fixtureRoutes,
    })
    expect(status).toBe(201)
    expect((await bench.vault.admin.post('/vaults/named-vault/lock')).status).toBe(200)
    const named = await bench.sql(`
      select wallet_database as wallet, books_database = database_mark() as "isBooks"
      from wallet_marks m join vaults v on v.id = m.vault_id where v.code = 'named-vault'`)
    expect(named).toEqual([{ wallet: 'first', isBooks: true }])
    await bench.sql(`delete from wallet_marks where vault_id = (select id from vaults where code = 'named-vault')`)
  })

  it('skip indices, because neither knows which addresses were made meanwhile', async () => {
    wallet().database = 'first'
    const last = await next()
    await move()
    wallet().database = 'second'
    expect(await next()).toBe(last + skippedIndices)
    expect(await next()).toBe(last + skippedIndices + 1)
    expect(await floors()).toEqual([String(last + skippedIndices)])
    // Samples have addresses from both sides of the gap.
    const sampled = new Set<boolean>()
    for (let round = 0; round < 20; round += 1)
      for (const { derivationPath } of await pickSamples(bench.test.deps.db, bench.vault.id))
        sampled.add(indexOf(derivationPath) < skippedIndices)
    expect([...sampled].toSorted()).toEqual([false, true])
  })

  it('burn a path that was asked for and has no address, when the books work with another database', async () => {
    wallet().answerWithAddress = () => 'nonsense'
    later()
    expect((await create()).status).toBe(502)
    wallet().answerWithAddress = null
    const lost = entries().at(-1)!
    await move()
    later()
    const { status, body } = await create()
    expect(status).toBe(201)
    expect(lost).toMatchObject({
      kind: 'address',
      derivationPath: body.derivationPath.replace(/\d+$/, (n: string) => String(Number(n) - 1)),
    })
  })

  it.each([
    ['of the books alone, as after a failover', 'same', 'same'],
    ['of a wallet service that does not name its database', null, null],
    ['of a wallet service that names its database from now on', null, 'named'],
  ])('go on with the next index after a change %s', async (_what, before, after) => {
    wallet().database = before
    const last = await next()
    await move()
    wallet().database = after
    expect(await next()).toBe(last + 1)
  })

  it('skip indices also when the vault was halted and is recovered', async () => {
    wallet().database = 'third'
    const last = await next()
    await move()
    wallet().database = 'fourth'
    await withExtraEntry(lostTransfer, async () => {
      await expect(compare()).rejects.toThrow(HaltedVaultError)
    })
    const difference = await readDifference(
      bench.test.deps.db,
      await walletOfVault(bench.test.deps, bench.vault.id),
      bench.vault.id,
    )
    const { unknown: _, ...place } = difference
    await liftHalt(bench.test.deps.db, bench.vault.id, { ...place, operator: 'root', recovered: {}, now: new Date() })
    expect(await next()).toBe(last + skippedIndices)
  })
})

it('T26 a database that is another one than before starts the comparison of all vaults', async () => {
  await noticeDatabase(bench.test.deps)
  await compare()
  await withExtraEntry(lostTransfer, async () => {
    await noticeDatabase(bench.test.deps)
    expect(await readHalt()).toBeNull()
    await bench.sql(`create or replace function database_mark() returns text language sql as $$ select 'promoted' $$`)
    await noticeDatabase(bench.test.deps)
    expect(await readHalt()).toMatchObject({ reason: 'books_behind' })
  })
})
