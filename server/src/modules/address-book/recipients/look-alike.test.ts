import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import { createCostMeter } from '../../../testing/feed-cost.ts'
import { addMember, allowAll, createAddress, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { findRecipientSigns } from './queries.ts'

let bench: TransferBench
let stranger: Person
let count = 0

beforeAll(async () => {
  bench = await createTransferBench()
  await allowAll(bench.vault, 'counterparty_create')
  stranger = await addMember(bench.test, bench.vault, 'stranger@example.org', ['treasury'])
})
afterAll(() => bench.close())

/** Another address with the same first and last four characters. */
function lookAlikeOf(address: string): string {
  const middle = fakeTxHash(`poison ${++count}`).slice(2, 34)
  return `0x${address.slice(2, 6)}${middle}${address.slice(-4)}`.toLowerCase()
}
const depositFrom = async (toAddress: string, fromAddress: string, amount = '1'): Promise<string> => {
  const tx = {
    network: 'ethereum',
    asset: usdtContract,
    amount,
    toAddress,
    fromAddress,
    txHash: fakeTxHash(`t21 ${++count}`),
  }
  const { body } = await bench.test.anonymous.post('//webhooks/wallet', { kind: 'TOPUP', tx })
  expect(body.outcome).toBe('credited')
  return body.depositId
}
const inHistory = async (id: string, by = bench.owner): Promise<string[]> => {
  const { body } = await by.get('/vaults/main-vault/history?limit=100')
  return body.items.find((item) => item.id === id)!.warnings
}
const previewed = async (fromAddressId: string, toAddress: string, by = bench.owner): Promise<string[]> => {
  const order = { fromAddressId, toAddress, amount: '1' }
  const { status, body } = await by.post('/vaults/main-vault/transfers/preview', order)
  expect([status, body.message]).toEqual([200, undefined])
  return body.warnings
}
const supplier = async (address = fakeAddress(`supplier ${++count}`)): Promise<string> => {
  const addresses = [{ network: 'ethereum', address }]
  const { status } = await bench.owner.post('/vaults/main-vault/counterparties', {
    name: `Supplier ${count}`,
    kind: 'company',
    addresses,
  })
  expect(status).toBe(201)
  return address
}

it.each([
  ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8', '709979c8'],
  ['0x7099000000000000000000000000000000 0079c8'.replace(' ', ''), '709979c8'],
  ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'qar05mdq'],
  ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '1A1zvfNa'],
  ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'TR7NLj6t'],
  ['abc', 'abcabc'],
])('T21 the part of %s that people compare is %s', async (key, alike) => {
  expect(await bench.sql('select look_alike_of($1) as alike', [key])).toEqual([{ alike }])
})

describe('T21 an address that looks like a known one', () => {
  it('T21 of the address book is marked where it sent something and where it is about to be paid', async () => {
    const address = await bench.fundedAddress()
    const known = await supplier()
    const poison = lookAlikeOf(known)
    expect(await inHistory(await depositFrom(address.address, poison))).toEqual(['look_alike'])
    expect(await previewed(address.id, poison)).toEqual(['look_alike'])
    expect(await inHistory(await depositFrom(address.address, known))).toEqual([])
    expect(await previewed(address.id, known)).toEqual([])
    expect(await previewed(address.id, fakeAddress('like nobody'))).toEqual([])
  })

  it('T21 is in no list that recipients are chosen from, however much it sent', async () => {
    const address = await bench.fundedAddress()
    const poison = lookAlikeOf(await supplier())
    await depositFrom(address.address, poison)
    for (const list of ['counterparties', 'addresses?access=all']) {
      const { status, body } = await bench.owner.get(
        `/vaults/main-vault/${list}${list.includes('?') ? '&' : '?'}limit=100`,
      )
      expect(status).toBe(200)
      expect(JSON.stringify(body).toLowerCase()).not.toContain(poison)
    }
    const found = await bench.owner.get(`/vaults/main-vault/counterparties?search=${poison.slice(0, 12)}`)
    expect(found.body.items).toEqual([])
  })

  it('T21 of an address of the vault is marked for its owner and administrators only', async () => {
    const [hidden, address] = [await bench.fundedAddress(), await bench.fundedAddress({}, stranger)]
    const poison = lookAlikeOf(hidden.address)
    const id = await depositFrom(address.address, poison)
    expect([await inHistory(id, stranger), await previewed(address.id, poison, stranger)]).toEqual([[], []])
    expect(await inHistory(id, bench.vault.admin)).toEqual(['look_alike'])
    expect(await previewed(hidden.id, poison)).toEqual(['look_alike'])
    const shared = await bench.owner.post(`/vaults/main-vault/addresses/${hidden.id}/grants`, {
      subjectType: 'user',
      subjectId: stranger.userId,
      canView: true,
    })
    expect(shared.status).toBe(201)
    expect([await inHistory(id, stranger), await previewed(address.id, poison, stranger)]).toEqual([
      ['look_alike'],
      ['look_alike'],
    ])
  })

  it('T21 of a recipient is marked once the recipient was paid, for the payers and administrators', async () => {
    const [mine, theirs] = [await bench.fundedAddress({ eth: '1' }), await bench.fundedAddress({}, stranger)]
    const paid = fakeAddress(`paid ${++count}`)
    const poison = lookAlikeOf(paid)
    const ordered = await bench.order(mine.id, '10', { toAddress: paid })
    expect(ordered.status).toBe(201)
    expect(await previewed(mine.id, poison)).toEqual([])
    await bench.deliver()
    bench.vault.wallet.confirm(ordered.body.id)
    await bench.deliver()
    expect((await bench.read(ordered.body.id)).status).toBe('confirmed')
    expect(await previewed(mine.id, poison)).toEqual(['look_alike'])
    expect(await previewed(mine.id, paid)).toEqual([])
    expect(await inHistory(ordered.body.id)).toEqual([])
    expect(await previewed(theirs.id, poison, stranger)).toEqual([])
    const id = await depositFrom(theirs.address, poison)
    expect([await inHistory(id, stranger), await inHistory(id, bench.vault.admin)]).toEqual([[], ['look_alike']])
  })
})

it('the signs of a recipient are read along indexes, however many others were paid', async () => {
  await bench.sql(
    `insert into paid_recipients (vault_id, user_id, address_key)
     select $1, 'payer' || i % 50, '0x' || encode(sha256(i::text::bytea), 'hex') from generate_series(1, 20000) i`,
    [bench.vault.id],
  )
  await bench.sql('analyze paid_recipients')
  const key = `0x${'ab'.repeat(20)}`
  await bench.sql('insert into paid_recipients (vault_id, user_id, address_key) values ($1, $2, $3)', [
    bench.vault.id,
    stranger.userId,
    key,
  ])
  const meter = createCostMeter(bench.test.databaseUrl)
  try {
    for (const readsAll of [false, true]) {
      const viewer = { userId: stranger.userId, readsAll, groupIds: [], vault: { id: bench.vault.id } }
      const { result, cost } = await meter.measure((db) => findRecipientSigns(db, visibleScopeOf(viewer), key))
      expect(result).toEqual({ isLookAlike: false, isFirstPayment: false })
      expect([cost.statements, cost.seqScans.includes('paid_recipients')]).toEqual([1, false])
      for (const [index, rows] of Object.entries(cost.rowsOf)) {
        if (index.startsWith('paid_recipients')) expect([index, rows <= 5]).toEqual([index, true])
      }
      expect(Object.keys(cost.rowsOf).some((index) => index.startsWith('paid_recipients'))).toBe(true)
    }
  } finally {
    await meter.close()
  }
})

describe('T21 dust', () => {
  const setLimit = (dustLimit: string | null) =>
    bench.vault.admin.patch(`/tokens/${bench.vault.tokens.usdt.id}`, { dustLimit })

  it('T21 is an incoming amount below the limit of its token', async () => {
    const address = await createAddress(bench.owner, { token: 'USDT' })
    const [below, at] = [
      await depositFrom(address.address, fakeAddress('a duster'), '0.009999'),
      await depositFrom(address.address, fakeAddress('a customer'), '0.01'),
    ]
    const isDust = async (id: string) => (await bench.owner.get(`/vaults/main-vault/deposits/${id}`)).body.isDust
    expect([await isDust(below), await inHistory(below)]).toEqual([false, []])
    const changed = await setLimit('0.01')
    expect([changed.status, changed.body.dustLimit]).toEqual([200, '0.01'])
    expect([await isDust(below), await inHistory(below)]).toEqual([true, ['dust']])
    expect([await isDust(at), await inHistory(at)]).toEqual([false, []])
    const { body } = await bench.owner.get(`/vaults/main-vault/deposits?addressId=${address.id}`)
    expect(body.items.map((item) => 'isDust' in item && item.isDust)).toEqual([false, true])
    const known = await supplier()
    expect(await inHistory(await depositFrom(address.address, lookAlikeOf(known), '0.000001'))).toEqual([
      'look_alike',
      'dust',
    ])
    expect((await setLimit(null)).body.dustLimit).toBeNull()
    expect(await isDust(below)).toBe(false)
  })

  it('T7 has an exact limit above zero', async () => {
    for (const limit of ['0', '0.0000001', '-1', '1e3', `${2n ** 256n}`]) {
      const { status, body } = await setLimit(limit)
      expect([limit, status, body.details?.[0]?.field]).toEqual([limit, 400, 'dustLimit'])
    }
    const token = { network: 'ethereum', code: 'DUSTY', symbol: 'D', name: 'Dusty', decimals: 2 }
    const created = await bench.vault.admin.post('/tokens', {
      ...token,
      contractAddress: fakeAddress('dusty'),
      dustLimit: '1.50',
    })
    expect([created.status, created.body.dustLimit]).toEqual([201, '1.5'])
  })
})
