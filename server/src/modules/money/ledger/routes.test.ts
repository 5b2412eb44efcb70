import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { rawAmountMax } from '../../../lib/limits.ts'
import {
  addMember,
  createAddress,
  createVaultFixture,
  deposit,
  profileOf,
  usdtContract,
} from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { expireTransfers } from '../transfers/transfer-votes.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
afterEach(() => bench.expectSoundLedger())

const base = '/vaults/main-vault'
const adjust = (addressId: string, amount: unknown, more: Record<string, unknown> = {}, by = bench.vault.admin) =>
  by.post(`${base}/adjustments`, {
    addressId,
    tokenId: bench.vault.tokens.usdt.id,
    amount,
    reason: 'Opening balance',
    ...more,
  })
const balancesOf = async (addressId: string, by = bench.owner) =>
  (await by.get(`${base}/balances?addressId=${addressId}`)).body

describe('balances', () => {
  it('have the available and reserved amounts per token, and every account', async () => {
    const address = await bench.fundedAddress({ usdt: '1000', eth: '0.5' })
    await bench.order(address.id, '150')
    const body = await balancesOf(address.id)
    expect(body.totals).toEqual([
      {
        token: { code: 'ETH', symbol: 'ETH', decimals: 18 },
        available: '500000000000000000',
        availableDecimal: '0.5',
        reserved: '0',
        reservedDecimal: '0',
        exposure: '0',
        exposureDecimal: '0',
        usdValue: null,
      },
      {
        token: { code: 'USDT', symbol: 'USDT', decimals: 6 },
        available: '850000000',
        availableDecimal: '850',
        reserved: '150000000',
        reservedDecimal: '150',
        exposure: '0',
        exposureDecimal: '0',
        usdValue: null,
      },
    ])
    const accounts = body.accounts!.map((account) => [account.token.code, account.purpose, account.balanceDecimal])
    expect(accounts.sort()).toEqual([
      ['ETH', 'available', '0.5'],
      ['USDT', 'available', '850'],
      ['USDT', 'reserved', '150'],
    ])
    expect(body.nextCursor).toBeNull()
    const [found] = (await bench.owner.get(`${base}/addresses?search=${address.address}`)).body.items
    expect([found!.balance, found!.balanceDecimal]).toEqual(['1000000000', '1000'])
  })

  it('T10 leave out a token without entries, and include a token that is back at zero', async () => {
    const address = await createAddress(bench.owner, { token: 'USDT' })
    expect(await balancesOf(address.id)).toMatchObject({ totals: [], accounts: [] })
    expect((await bench.owner.get(`${base}/addresses/${address.id}`)).body.balances).toEqual([])

    await adjust(address.id, '5')
    await adjust(address.id, '-5')
    const { totals, accounts } = await balancesOf(address.id)
    expect(totals).toMatchObject([{ token: { code: 'USDT' }, available: '0', reserved: '0' }])
    expect(accounts).toMatchObject([{ purpose: 'available', balance: '0' }])
    expect((await bench.owner.get(`${base}/addresses/${address.id}`)).body.balances).toMatchObject([
      { asset: 'USDT', available: '0', availableDecimal: '0', reserved: '0', reservedDecimal: '0' },
    ])
  })

  it('can be filtered by token and purpose, where a purpose does not change the totals, and are read page by page', async () => {
    const address = await bench.fundedAddress({ usdt: '7', eth: '1' })
    const token = await bench.owner.get(`${base}/balances?addressId=${address.id}&token=ETH`)
    expect(token.body.totals).toMatchObject([{ token: { code: 'ETH' } }])
    await bench.order(address.id, '3')
    const purpose = await bench.owner.get(`${base}/balances?addressId=${address.id}&purpose=reserved&token=USDT`)
    expect(purpose.body.totals).toMatchObject([{ availableDecimal: '4', reservedDecimal: '3' }])
    expect(purpose.body.accounts).toMatchObject([{ purpose: 'reserved', balanceDecimal: '3' }])
    const ids = []
    let cursor = ''
    do {
      const { body } = await bench.owner.get(`${base}/balances?addressId=${address.id}&limit=1${cursor}`)
      ids.push(...body.accounts!.map((account) => account.id))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect([ids.length, new Set(ids).size]).toEqual([3, 3])
    const summary = await bench.owner.get(`${base}/balances?summary=true`)
    expect(Object.keys(summary.body).sort()).toEqual(['totals', 'usdComplete', 'usdValue', 'vaultId'])
  })

  it('of the accounts of the vault itself balance all others, and are not shown to members', async () => {
    const { body } = await bench.vault.admin.get(`${base}/balances?token=USDT&limit=100`)
    const sum = body.accounts!.reduce((total, account: { balance: string }) => total + BigInt(account.balance), 0n)
    expect(sum).toBe(0n)
    const external = await bench.vault.admin.get(`${base}/balances?purpose=external`)
    for (const account of external.body.accounts!) expect(account).toMatchObject({ purpose: 'external', address: null })
    for (const purpose of ['external', 'adjustment']) {
      expect((await bench.owner.get(`${base}/balances?purpose=${purpose}`)).status).toBe(403)
    }
    const ownAccounts = (await bench.owner.get(`${base}/balances?limit=100`)).body.accounts
    expect(ownAccounts!.some((account) => account.address === null)).toBe(false)
  })

  it('T40 of the addresses of others are not in the totals and lists of a member', async () => {
    const other = await addMember(bench.test, bench.vault, 'other.owner@example.org', ['treasury'])
    const before = (await bench.owner.get(`${base}/balances`)).body
    const address = await bench.fundedAddress({ usdt: '12345' }, other)
    expect((await bench.owner.get(`${base}/balances`)).body).toEqual(before)
    expect(await balancesOf(address.id)).toMatchObject({ totals: [], accounts: [] })
    expect((await balancesOf(address.id, bench.vault.admin)).totals).toMatchObject([{ availableDecimal: '12345' }])
  })

  it('are refused with 400 for an unknown filter', async () => {
    for (const query of ['asset=USDT', 'purpose=all', 'summary=maybe', 'limit=0', 'limit=101', 'cursor=nonsense']) {
      expect([query, (await bench.owner.get(`${base}/balances?${query}`)).status]).toEqual([query, 400])
    }
  })
})

describe('the statement', () => {
  it('shows every entry of an account with the resulting balance, newest first, page by page', async () => {
    const address = await bench.fundedAddress({ usdt: '1000' })
    const { body: transfer } = await bench.order(address.id, '30')
    await bench.act(bench.owner, transfer.id, 'cancel')
    await adjust(address.id, '-70.5')
    const tokenId = bench.vault.tokens.usdt.id
    const path = `${base}/ledger/entries?addressId=${address.id}&tokenId=${tokenId}` as const
    const all = (await bench.owner.get(path)).body.items
    expect(all.map((entry) => [entry.kind, entry.amountDecimal, entry.balanceDecimal])).toEqual([
      ['adjust', '-70.5', '929.5'],
      ['release', '30', '1000'],
      ['reserve', '-30', '970'],
      ['deposit', '1000', '1000'],
    ])
    const paged = []
    let cursor = ''
    do {
      const { body } = await bench.owner.get(`${path}&limit=1${cursor}`)
      paged.push(...body.items)
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(paged).toEqual(all)
    const reserved = (await bench.owner.get(`${path}&purpose=reserved`)).body.items
    expect(reserved.map((entry) => [entry.kind, entry.balanceDecimal])).toEqual([
      ['release', '0'],
      ['reserve', '30'],
    ])
    const { createdAt } = all[2]!
    const bounded = (await bench.owner.get(`${path}&from=${createdAt}&to=${createdAt}`)).body.items
    expect(bounded.map((entry) => entry.createdAt)).toContain(createdAt)
    expect((await bench.owner.get(`${path}&to=2020-01-01`)).body.items).toEqual([])
  })

  it('of an address of another user, or of a token without entries, is a 404; wrong bounds and cursors are a 400', async () => {
    const address = await bench.fundedAddress()
    const { usdt, eth } = bench.vault.tokens
    const path = (tokenId: string) => `${base}/ledger/entries?addressId=${address.id}&tokenId=${tokenId}` as const
    expect((await bench.firstApprover.get(path(usdt.id))).status).toBe(404)
    expect((await bench.vault.admin.get(path(usdt.id))).status).toBe(200)
    expect((await bench.owner.get(path(eth.id))).status).toBe(404)
    for (const query of [
      'from=yesterday',
      'from=2026-02-30',
      'from=2026-02-02&to=2026-02-01',
      'cursor=x',
      'kind=fee',
    ]) {
      expect([query, (await bench.owner.get(`${path(usdt.id)}&${query}`)).status]).toEqual([query, 400])
    }
    expect((await bench.owner.get(`${base}/ledger/entries`)).status).toBe(400)
  })

  it('with a cursor forged to the largest number does not fail', async () => {
    const address = await bench.fundedAddress()
    const forged = Buffer.from(`${new Date().toISOString()} c${'z'.repeat(24)}`).toString('base64url')
    const { status } = await bench.owner.get(
      `${base}/ledger/entries?addressId=${address.id}&tokenId=${bench.vault.tokens.usdt.id}&cursor=${forged}`,
    )
    expect([200, 400]).toContain(status)
  })
})

describe('the balance at a time', () => {
  const balanceAt = async (addressId: string, at: string | null, more = '', by = bench.owner) => {
    const key = `addressId=${addressId}&tokenId=${bench.vault.tokens.usdt.id}`
    return by.get(`${base}/ledger/balance?${key}${at === null ? '' : `&at=${encodeURIComponent(at)}`}${more}`)
  }

  it('is the resulting balance of the newest entry until then, to the millisecond', async () => {
    const address = await bench.fundedAddress({ usdt: '1000' })
    const steps = ['-70.5', '0.5', '-930']
    for (const amount of steps) {
      bench.test.clock.advance(3_600_000)
      expect((await adjust(address.id, amount)).status).toBe(201)
    }
    const path = `${base}/ledger/entries?addressId=${address.id}&tokenId=${bench.vault.tokens.usdt.id}` as const
    const entries: { id: string; createdAt: string; balance: string; balanceDecimal: string }[] = (
      await bench.owner.get(path)
    ).body.items
    expect(entries.map((entry) => entry.balanceDecimal)).toEqual(['0', '930', '929.5', '1000'])
    for (const [i, entry] of entries.entries()) {
      const at = new Date(entry.createdAt).getTime()
      const left = { balance: entry.balance, balanceDecimal: entry.balanceDecimal, entryId: entry.id }
      expect((await balanceAt(address.id, entry.createdAt)).body).toMatchObject({ ...left, at: entry.createdAt })
      expect((await balanceAt(address.id, new Date(at + 1).toISOString())).body).toMatchObject(left)
      const before = entries[i + 1] ?? { balance: '0', id: null }
      expect((await balanceAt(address.id, new Date(at - 1).toISOString())).body).toMatchObject({
        balance: before.balance,
        entryId: before.id,
      })
    }
    expect((await balanceAt(address.id, null)).body).toMatchObject({
      asset: 'USDT',
      balance: '0',
      entryId: entries[0]!.id,
    })
    const [oldest] = entries.slice(-1)
    const day = new Date(new Date(oldest!.createdAt).getTime() - 86_400_000).toISOString().slice(0, 10)
    expect((await balanceAt(address.id, day)).body).toMatchObject({ at: `${day}T23:59:59.999Z`, balance: '0' })
  })

  it('is available for reserved funds too', async () => {
    const address = await bench.fundedAddress({ usdt: '1000' })
    const { body: transfer } = await bench.order(address.id, '30')
    bench.test.clock.advance(1_000)
    await bench.act(bench.owner, transfer.id, 'cancel')
    const read = async (at: string | null) => (await balanceAt(address.id, at, '&purpose=reserved')).body.balanceDecimal
    expect([await read(transfer.createdAt), await read(null)]).toEqual(['30', '0'])
  })

  it('T40 of an address of another user is a 404, an invalid moment a 400', async () => {
    const address = await bench.fundedAddress()
    expect((await balanceAt(address.id, null, '', bench.firstApprover)).status).toBe(404)
    expect((await balanceAt(address.id, null, '', bench.vault.admin)).status).toBe(200)
    for (const at of ['yesterday', '2026-02-30', '2026-02-01T10:00:00', '']) {
      const { status, body } = await balanceAt(address.id, at)
      expect([at, status, body.details[0]!.field]).toEqual([at, 400, 'at'])
    }
  })
})

describe('adjustments', () => {
  it('add and take exact amounts, with an audit record', async () => {
    const address = await createAddress(bench.owner)
    const answer = await adjust(address.id, '2.000001')
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      amount: '2000001',
      amountDecimal: '2.000001',
      createdById: bench.vault.admin.userId,
      createdBy: profileOf(bench.vault.admin),
    })
    expect((await adjust(address.id, '-2')).body).toMatchObject({ amount: '-2000000', amountDecimal: '-2' })
    expect(await bench.balances(address.id)).toEqual({ available: '0.000001', reserved: '0' })
    expect(await bench.audited('ledger.adjusted', address.id)).toBe(2)
  })

  it('T1 are refused with 409 when the balance would be below zero or above the maximum', async () => {
    const address = await bench.fundedAddress({ usdt: '1' })
    expect((await adjust(address.id, '-1.000001')).status).toBe(409)
    const never = await createAddress(bench.owner)
    expect((await adjust(never.id, '-0.000001')).status).toBe(409)
    expect(await balancesOf(never.id)).toMatchObject({ accounts: [] })
    const all = `${rawAmountMax / 1_000_000n}.${rawAmountMax % 1_000_000n}`
    const statuses = []
    for (const amount of [all, '0.000001', all, '-0.000001', '0.000002', '0.000001', `-${all}`]) {
      statuses.push((await adjust(never.id, amount)).status)
    }
    expect(statuses).toEqual([201, 409, 409, 201, 409, 201, 201])
  })

  it('T7 are refused with 400, which names the field, for an inexact amount', async () => {
    const address = await createAddress(bench.owner)
    const bad = [
      '0',
      '-0',
      '0.000000',
      '+1',
      '1e18',
      '-1e3',
      '0x1',
      'NaN',
      '',
      ' 1',
      '1 ',
      '--1',
      '01',
      '0.0000001',
      '-0.0000001',
      `${2n ** 256n}`,
      1,
      -1,
      null,
    ]
    for (const amount of bad) {
      const { status, body } = await adjust(address.id, amount)
      expect([amount, status, body.details?.[0]?.field]).toEqual([amount, 400, 'amount'])
    }
    expect((await adjust(address.id, '1', { reason: ' ' })).status).toBe(400)
    expect((await adjust(address.id, '1', { tokenId: 'cmi8h2k1p0a1b2c3d4e5f6g7h' })).body.details[0]!.field).toBe(
      'tokenId',
    )
    expect((await adjust('cmi8h2k1p0a1b2c3d4e5f6g7h', '1')).status).toBe(404)
    expect((await adjust(address.id, '1', { memo: 'x' })).status).toBe(400)
  })

  it('T39 are for administrators of that vault', async () => {
    const address = await bench.fundedAddress()
    expect((await adjust(address.id, '1', {}, bench.owner)).status).toBe(403)
    const other = await createVaultFixture(bench.test, {
      code: 'other-vault',
      adminEmail: 'other.operator@example.org',
    })
    expect((await adjust(address.id, '1', {}, other.admin)).status).toBe(403)
    const body = { addressId: address.id, tokenId: bench.vault.tokens.usdt.id, amount: '1', reason: 'Theft' }
    expect((await other.admin.post('/vaults/other-vault/adjustments', body)).status).toBe(404)
  })
})

describe('reconciliation', () => {
  it('compares the books with the chain, per token', async () => {
    const address = await bench.fundedAddress({ usdt: '25' })
    const { wallet, admin, tokens } = bench.vault
    const ask = async () => {
      const { status, body } = await admin.get(`${base}/ledger/reconciliation`)
      expect(status).toBe(200)
      return {
        differences: body.differences,
        usdt: body.tokens.find((row) => row.token.id === tokens.usdt.id),
      }
    }
    const first = await ask()
    expect(first.differences).toEqual([])
    expect(first.usdt!.sumOfPostings).toBe('0')
    expect(first.usdt!.recomputed).toBe(first.usdt!.cached)
    wallet.balances.set(`${address.address} ${usdtContract}`.toLowerCase(), '24000000')
    const second = await ask()
    expect([second.usdt!.onChain, second.usdt!.difference]).toEqual([
      '24000000',
      (24_000_000n - BigInt(second.usdt!.cached)).toString(),
    ])
    wallet.down = 'error'
    expect((await ask()).usdt).toMatchObject({ onChain: null, difference: null })
    wallet.down = false
    await bench.sql(`update ledger_accounts set balance = balance + 1 where address_id = $1`, [address.id])
    expect((await ask()).differences).toMatchObject([{ kind: 'cached balance' }, { kind: 'total of a vault' }])
    await bench.sql(`update ledger_accounts set balance = balance - 1 where address_id = $1`, [address.id])
    expect((await bench.owner.get(`${base}/ledger/reconciliation`)).status).toBe(403)
  })

  it('T54 asks a hanging wallet service once, whatever the number of tokens', async () => {
    await bench.fundedAddress({ usdt: '25', eth: '1' })
    const { wallet, admin } = bench.vault
    wallet.requests.length = 0
    wallet.delayMilliseconds = 60_000
    const { status, body } = await admin.get(`${base}/ledger/reconciliation`)
    wallet.delayMilliseconds = 0
    expect(status).toBe(200)
    expect(body.tokens.length).toBeGreaterThan(1)
    expect(body.tokens.map(({ onChain }) => onChain)).toEqual(body.tokens.map(() => null))
    const contracts = wallet.requests.map(({ path }) => new URL(path, wallet.url).searchParams.get('contract'))
    expect(new Set(contracts).size).toBe(1)
  })
})

describe('concurrency', () => {
  it('T1 lets exactly the affordable transfers of many simultaneous transfers succeed', async () => {
    const address = await bench.fundedAddress({ usdt: '100' })
    const answers = await Promise.all(Array.from({ length: 24 }, () => bench.order(address.id, '9')))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array<number>(11).fill(201), ...Array<number>(13).fill(409)])
    expect(await bench.balances(address.id)).toEqual({ available: '1', reserved: '99' })
  })

  it('T3 makes no transfer, release, settlement, fee or deposit between two addresses fail or be repeated', async () => {
    const query = vi.spyOn(pg.Client.prototype, 'query')
    const pair = [
      await bench.fundedAddress({ usdt: '5000', eth: '5000' }),
      await bench.fundedAddress({ usdt: '5000', eth: '5000' }),
    ]
    const other = (i: number) => pair[1 - (i % 2)]!
    const statuses: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const orders = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          bench.order(pair[i % 2]!.id, i % 3 === 0 ? '101' : '1', {
            toAddress: other(i).address,
            token: i % 4 === 1 ? 'ETH' : 'USDT',
          }),
        ),
      )
      statuses.push(...orders.map(({ status }) => status))
      const made = orders.filter(({ status }) => status === 201).map(({ body }) => body)
      await bench.deliver()
      for (const { id, status } of made)
        if (status === 'pending' && bench.vault.wallet.transfer(id) !== null) bench.vault.wallet.confirm(id)
      bench.test.clock.advance(61_000)
      const answers = await Promise.all([
        ...made
          .filter(({ status }) => status === 'awaiting_approval')
          .map(({ id }, i) =>
            i % 2 === 0 ? bench.act(bench.firstApprover, id, 'reject') : bench.act(bench.owner, id, 'cancel'),
          ),
        ...pair.map((address) => deposit(bench.test, { address: address.address, amount: '0.1' })),
        ...pair.map((address) => adjust(address.id, '-0.5')),
        ...Array.from({ length: 6 }, (_, i) => bench.order(pair[i % 2]!.id, '1', { toAddress: other(i).address })),
        bench.deliver().then(() => ({ status: 200 })),
        expireTransfers(bench.test.deps).then(() => ({ status: 200 })),
      ])
      statuses.push(...answers.map(({ status }) => status))
    }
    expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([])
    // A transaction that met a deadlock is retried, which would hide the deadlock here.
    const failures = query.mock.settledResults.flatMap(({ type, value }) => (type === 'rejected' ? value.code : []))
    expect(failures.filter((code) => code === '40P01' || code === '40001')).toEqual([])
  })
})
