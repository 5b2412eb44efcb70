import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../../../db/transaction.ts'
import { rawAmountMax } from '../../../lib/limits.ts'
import type { UncreditedEvent } from '../../../testing/answer.ts'

import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import { addMember, createAddress, createVaultFixture, deposit, usdtContract } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyDeposits } from './verify-deposits.ts'

let bench: TransferBench
let hashes = 0

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
afterEach(() => bench.expectSoundLedger())

const newHash = () => fakeTxHash(`deposit of this file ${++hashes}`)
type Tx = Record<string, unknown>
const send = (tx: Tx, event: Record<string, unknown> = { kind: 'TOPUP' }) =>
  bench.test.anonymous.post('//webhooks/wallet', { ...event, tx })
const eventTo = (toAddress: string, more: Tx = {}): Tx => ({
  network: 'ethereum',
  asset: usdtContract,
  amount: '1',
  toAddress,
  txHash: newHash(),
  ...more,
})
const newAddress = () => createAddress(bench.owner, { token: 'USDT' })
const availableOf = async (addressId: string, token = 'USDT'): Promise<string | null> => {
  const { body } = await bench.owner.get(
    `/vaults/main-vault/balances?summary=true&addressId=${addressId}&token=${token}`,
  )
  return body.totals[0]?.availableDecimal ?? null
}
const listOf = async (query: string, by = bench.owner) =>
  (await by.get(`/vaults/main-vault/deposits?${query}`)).body.items
const written = () =>
  Promise.all(['wallet_events', 'deposits', 'operations', 'ledger_entries', 'ledger_accounts'].map(bench.count))

const networkOf = (code: string, name: string, id: number) => ({
  network: { order: 0, name: 'Network', variants: [{ id, code, name }] },
  index: { order: 1, name: 'Index', dynamic: true },
})
/** Returns the network of each event about a transaction, both as found and as sent. */
const networksOf = (txHash: unknown) =>
  bench.sql(
    `select network as found, outcome, body::json #>> '{tx,network}' as sent from wallet_events where body like $1 order by id`,
    [`%${txHash}%`],
  )

describe('the webhook', () => {
  it('credits a deposit and stores the event of the wallet service', async () => {
    const address = await newAddress()
    const txHash = newHash()
    const fromAddress = fakeAddress('a customer')
    const { status, body } = await send(
      eventTo(address.address, {
        amount: '12.345678',
        txHash,
        index: 3,
        fromAddress,
        blockTime: '2026-01-31T09:30:00Z',
        confirmations: 12,
      }),
    )
    expect([status, body]).toEqual([200, { received: true, outcome: 'credited', depositId: body.depositId }])
    const read = await bench.owner.get(`/vaults/main-vault/deposits/${body.depositId}`)
    expect(read.body).toMatchObject({
      addressId: address.id,
      network: 'ethereum',
      asset: 'USDT',
      contractAddress: usdtContract,
      amount: '12345678',
      amountDecimal: '12.345678',
      txHash,
      index: 3,
      fromAddress,
      flowType: 'external',
      blockchainAt: '2026-01-31T09:30:00.000Z',
      outcome: 'credited',
    })
    expect(await availableOf(address.id)).toBe('12.345678')
  })

  it.each([
    ['kind', {}],
    ['type', { type: 'TOPUP' }],
    ['event', { event: 'TOPUP' }],
  ])('reads the type from %s', async (name, event) => {
    const address = await newAddress()
    const { body } = await send(eventTo(address.address), name === 'kind' ? { kind: 'TOPUP' } : event)
    expect(body.outcome).toBe('credited')
  })

  it.each([[undefined], [null], [''], ['native'], [`0x${'0'.repeat(40)}`], [`0X${'0'.repeat(40)}`]])(
    'reads the asset %j as the coin',
    async (asset) => {
      const address = await newAddress()
      const { body } = await send(eventTo(address.address, { asset, amount: '0.000000000000000001' }))
      expect(body.outcome).toBe('credited')
      expect(await availableOf(address.id, 'ETH')).toBe('0.000000000000000001')
    },
  )

  it('ignores unknown fields', async () => {
    const address = await newAddress()
    const { body } = await send(eventTo(address.address, { memo: 'x', nested: { a: [1] } }), {
      kind: 'TOPUP',
      version: 7,
    })
    expect(body.outcome).toBe('credited')
  })

  it('T7 keeps 2^256-1 exactly', async () => {
    const address = await newAddress()
    const decimal = `${rawAmountMax / 1_000_000n}.${rawAmountMax % 1_000_000n}`
    const { body } = await send(eventTo(address.address, { amount: decimal }))
    const read = await bench.owner.get(`/vaults/main-vault/deposits/${body.depositId}`)
    expect([read.body.amount, read.body.amountDecimal]).toEqual([rawAmountMax.toString(), decimal])
    const balances = await bench.owner.get(`/vaults/main-vault/balances?addressId=${address.id}`)
    expect(balances.body.totals[0]!.available).toBe(rawAmountMax.toString())
  })
})

describe('a repeated event', () => {
  it('T11 that arrives 100 times at once is one deposit, one credit and 100 answers of 200', async () => {
    const address = await newAddress()
    const event = eventTo(address.address)
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(event)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(answers.filter(({ body }) => body.outcome === 'credited')).toHaveLength(1)
    expect(answers.filter(({ body }) => body.outcome === 'duplicate')).toHaveLength(99)
    expect(new Set(answers.map(({ body }) => body.depositId)).size).toBe(1)
    expect(await availableOf(address.id)).toBe('1')
  })

  it('T11 in another spelling of hash, address and contract is a duplicate', async () => {
    const address = await newAddress()
    const event = eventTo(address.address)
    await send(event)
    const upper = (text: unknown) => String(text).toUpperCase()
    const spellings: Tx[] = [
      { ...event, txHash: upper(event.txHash).replace('0X', '0x') },
      { ...event, txHash: upper(event.txHash) },
      { ...event, toAddress: address.address.toLowerCase() },
      { ...event, toAddress: upper(address.address) },
      { ...event, asset: usdtContract.toLowerCase() },
      { ...event, index: 0, amount: '1.000', fromAddress: fakeAddress('now it is known') },
    ]
    for (const spelling of spellings) expect((await send(spelling)).body.outcome).toBe('duplicate')
    expect(await availableOf(address.id)).toBe('1')
  })

  it('T12 with another index, recipient, asset or hash is another deposit', async () => {
    const [address, other] = [await newAddress(), await newAddress()]
    const event = eventTo(address.address)
    const others: Tx[] = [
      event,
      { ...event, index: 1 },
      { ...event, toAddress: other.address },
      { ...event, asset: null },
      { ...event, txHash: newHash() },
    ]
    for (const event of others) expect((await send(event)).body.outcome).toBe('credited')
    expect([await availableOf(address.id), await availableOf(other.id), await availableOf(address.id, 'ETH')]).toEqual([
      '3',
      '1',
      '1',
    ])
  })

  it('T12 with another amount is quarantined, shown to administrators only, and not summed', async () => {
    const address = await newAddress()
    const event = eventTo(address.address)
    const first = await send(event)
    const second = await send({ ...event, amount: '1000' })
    expect(second.body).toMatchObject({ outcome: 'quarantined', depositId: first.body.depositId })
    expect(await availableOf(address.id)).toBe('1')
    const path = `outcome=quarantined&addressId=${address.id}`
    expect(await listOf(path, bench.vault.admin)).toMatchObject([
      { amountDecimal: '1000', outcome: 'quarantined', txHash: event.txHash, addressId: address.id },
    ])
    expect((await bench.owner.get(`/vaults/main-vault/deposits?${path}`)).status).toBe(403)
    expect(await listOf(`addressId=${address.id}`, bench.vault.admin)).toMatchObject([
      { amountDecimal: '1', outcome: 'credited' },
    ])
  })

  it('T12 in ten contradicting versions at the same moment is credited once', async () => {
    const address = await newAddress()
    const event = eventTo(address.address)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => send({ ...event, amount: `${i + 1}` })))
    const outcomes = answers.map(({ body }) => body.outcome).sort()
    expect(outcomes).toEqual(['credited', ...Array<string>(9).fill('quarantined')])
    expect(await listOf(`outcome=quarantined&addressId=${address.id}`, bench.vault.admin)).toHaveLength(9)
  })

  it('T12 that arrives after its quarantine is quarantined again, as one row', async () => {
    const address = await newAddress()
    const event = eventTo(address.address)
    const { depositId } = (await send(event)).body
    const again = () => send({ ...event, amount: '1000' })
    for (const { body } of [await again(), ...(await Promise.all([again(), again(), again()]))]) {
      expect(body).toEqual({ received: true, outcome: 'quarantined', reason: 'amount_differs', depositId })
    }
    await send({ ...event, amount: '1001' })
    expect(await listOf(`outcome=quarantined&addressId=${address.id}`, bench.vault.admin)).toMatchObject([
      { amountDecimal: '1001' },
      { amountDecimal: '1000' },
    ])
    expect(
      await bench.sql(`select count(*) from wallet_events where outcome = 'quarantined' and deposit_id = $1`, [
        depositId,
      ]),
    ).toEqual([{ count: '2' }])
  })
})

describe('the network of an event', () => {
  it.each(['ethereum', 'Ethereum', 'ETHEREUM', 'Ethereum Mainnet', 'ethereum mainnet'])(
    'is known by its slug, code and name: %s',
    async (network) => {
      await bench.sql(`update networks set name = 'Ethereum Mainnet' where slug = 'ethereum'`)
      const address = await newAddress()
      const event = eventTo(address.address, { network })
      expect((await send(event)).body.outcome).toBe('credited')
      expect((await send({ ...event, network: 'ethereum' })).body.outcome).toBe('duplicate')
      expect(await networksOf(event.txHash)).toEqual([
        { found: 'ethereum', outcome: 'credited', sent: network },
        { found: 'ethereum', outcome: 'duplicate', sent: 'ethereum' },
      ])
    },
  )

  it('is unknown by a name that two networks have; by a slug it is the network with that slug', async () => {
    await createVaultFixture(bench.test, { code: 'gnosis-vault', routes: networkOf('gnosis', 'Twin', 700) })
    await createVaultFixture(bench.test, { code: 'twin-vault', routes: networkOf('chain-twin', 'twin', 19_001) })
    await createVaultFixture(bench.test, { code: 'third-vault', routes: networkOf('other', 'Gnosis', 19_002) })
    const address = await newAddress()
    const answerTo = async (network: string) => {
      const { outcome, reason } = (await send(eventTo(address.address, { network, asset: null }))).body
      return [outcome, reason]
    }
    expect(await answerTo('twin')).toEqual(['ignored', 'unknown_network'])
    expect(await answerTo('Gnosis')).toEqual(['ignored', 'unknown_network'])
    // Neither network has a token. The token is looked up after the network.
    expect(await answerTo('gnosis')).toEqual(['ignored', 'unknown_token'])
    expect(await answerTo('chain-twin')).toEqual(['ignored', 'unknown_token'])
  })
})

describe('an event without a credit', () => {
  it('T18 of another type, network, token or address changes nothing, and is answered with 200', async () => {
    const address = await newAddress()
    const before = (await written()).slice(1)
    const cases: [object, Tx, Record<string, unknown>?][] = [
      [{ outcome: 'ignored', reason: 'unknown_kind' }, eventTo(address.address), { kind: 'WITHDRAWAL' }],
      [{ outcome: 'ignored', reason: 'unknown_kind' }, eventTo(address.address), { kind: 'topup' }],
      [{ outcome: 'ignored', reason: 'unknown_network' }, eventTo(address.address, { network: 'nowhere' })],
      [
        { outcome: 'ignored', reason: 'unknown_token' },
        eventTo(address.address, { asset: fakeAddress('a token that nobody registered') }),
      ],
      [{ outcome: 'unmatched' }, eventTo(fakeAddress('somebody else'))],
    ]
    for (const [answer, tx, event] of cases) {
      const { status, body } = await send(tx, event)
      expect([status, body]).toEqual([200, { received: true, ...answer }])
    }
    expect((await written()).slice(1)).toEqual(before)
  })

  it('T15 for the right address on the wrong network, or with the contract of another network, credits nothing', async () => {
    const other = await createVaultFixture(bench.test, {
      code: 'polygon-vault',
      routes: {
        network: { order: 0, name: 'Network', variants: [{ id: 966, code: 'polygon', name: 'Polygon' }] },
        index: { order: 1, name: 'Index', dynamic: true },
      },
    })
    const foreign = fakeAddress('a token of polygon')
    for (const token of [
      { code: 'MATIC', contractAddress: null, decimals: 18 },
      { code: 'USDT', contractAddress: foreign, decimals: 6 },
    ]) {
      const answer = await other.admin.post('/tokens', {
        network: 'polygon',
        symbol: token.code,
        name: token.code,
        ...token,
      })
      expect(answer.status).toBe(201)
    }
    const address = await newAddress()
    expect((await send(eventTo(address.address, { network: 'polygon', asset: null }))).body.outcome).toBe('unmatched')
    expect((await send(eventTo(address.address, { network: 'polygon', asset: foreign }))).body.outcome).toBe(
      'unmatched',
    )
    expect((await send(eventTo(address.address, { network: 'polygon' }))).body.outcome).toBe('ignored')
    expect((await send(eventTo(address.address, { asset: foreign }))).body.outcome).toBe('ignored')
    expect(await availableOf(address.id)).toBeNull()
  })

  it('T18 for a disabled token credits nothing, and existing balances stay', async () => {
    const address = await bench.fundedAddress({ usdt: '5' })
    const { admin, tokens } = bench.vault
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: false })
    const event = eventTo(address.address)
    expect((await send(event)).body).toEqual({ received: true, outcome: 'ignored', reason: 'disabled_token' })
    expect(await availableOf(address.id)).toBe('5')
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: true })
    expect((await send(event)).body.outcome).toBe('credited')
  })

  it('T19 around the kill switch is credited whole or not at all, and not after the answer of the switch', async () => {
    const { admin, tokens } = bench.vault
    const address = await newAddress()
    for (let round = 0; round < 4; round += 1) {
      let isOff = false
      const before = Number((await availableOf(address.id)) ?? '0')
      const late: ReturnType<typeof send>[] = []
      const sent = Array.from({ length: 20 }, () => send(eventTo(address.address)))
      const flip = async () => {
        await Promise.all(sent.slice(0, 5 * round))
        await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: false })
        isOff = true
        for (let i = 0; i < 5; i += 1) late.push(send(eventTo(address.address)))
      }
      const [answers] = await Promise.all([Promise.all(sent), flip()])
      expect(isOff).toBe(true)
      for (const answer of await Promise.all(late)) expect(answer.body.outcome).toBe('ignored')
      const credited = answers.filter(({ body }) => body.outcome === 'credited')
      for (const { body } of answers) expect(['credited', 'ignored']).toContain(body.outcome)
      expect(Number((await availableOf(address.id)) ?? '0') - before).toBe(credited.length)
      expect(
        await bench.sql(`select count(*) from operations where id = any($1)`, [
          credited.map(({ body }) => body.depositId),
        ]),
      ).toEqual([{ count: `${credited.length}` }])
      await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: true })
    }
  })

  it('T20 whose credit fails leaves no row, and can arrive again', async () => {
    const address = await newAddress()
    const event = eventTo(address.address)
    const before = await written()
    await bench.sql('revoke insert on ledger_entries from strongroom_app')
    expect((await send(event)).status).toBe(500)
    await bench.sql('grant insert on ledger_entries to strongroom_app')
    expect(await written()).toEqual(before)
    await bench.sql('revoke insert on wallet_events from strongroom_app')
    expect((await send(event)).status).toBe(500)
    await bench.sql('grant insert on wallet_events to strongroom_app')
    expect(await written()).toEqual(before)
    expect((await send(event)).body.outcome).toBe('credited')
    expect(await availableOf(address.id)).toBe('1')
  })
})

describe('a transaction that is not final', () => {
  it.each<[string, Tx]>([
    ['unconfirmed', { confirmations: 0 }],
    ['unconfirmed', { status: 'pending', confirmations: 3 }],
    ['failed', { status: 'failed' }],
    ['failed', { status: 'REVERTED', confirmations: 12 }],
    ['failed', { success: false, confirmations: 12 }],
    ['failed', { status: '0x0' }],
  ])('T16 is not credited, but kept with the reason %s and credited when it is final: %j', async (reason, tx) => {
    const address = await newAddress()
    const event = eventTo(address.address)
    for (let i = 0; i < 2; i += 1) {
      const { status, body } = await send({ ...event, ...tx })
      expect([status, body]).toEqual([200, { received: true, outcome: 'ignored', reason }])
    }
    expect(await availableOf(address.id)).toBeNull()
    expect(await listOf(`outcome=ignored&addressId=${address.id}`, bench.vault.admin)).toMatchObject([
      { outcome: 'ignored', reason, txHash: event.txHash, toAddress: address.address, amountDecimal: '1' },
      { outcome: 'ignored', reason },
    ])
    expect((await send({ ...event, amount: '2', confirmations: 12, status: 'confirmed' })).body.outcome).toBe(
      'credited',
    )
    expect((await send({ ...event, ...tx })).body.outcome).toBe('ignored')
    expect(await availableOf(address.id)).toBe('2')
  })

  it('T16 before its address exists is not credited when the address is created', async () => {
    const toAddress = fakeAddress(`${bench.vault.wallet.secret}m/44/60/2/0`)
    const event = eventTo(toAddress)
    expect((await send({ ...event, confirmations: 0 })).body).toMatchObject({
      outcome: 'ignored',
      reason: 'unconfirmed',
    })
    const address = await createAddress(bench.owner, { token: 'USDT', segments: { purpose: 'payroll' } })
    expect([address.address, await availableOf(address.id)]).toEqual([toAddress, null])
    expect((await send({ ...event, confirmations: 1 })).body.outcome).toBe('credited')
  })
})

describe('an amount that the account cannot hold', () => {
  const most = `${rawAmountMax / 1_000_000n}.${rawAmountMax % 1_000_000n}`

  it('is quarantined with 200, listed once when repeated, and credited when the account can hold it', async () => {
    const address = await newAddress()
    await send(eventTo(address.address, { amount: most }))
    const event = eventTo(address.address, { amount: '0.000001', fromAddress: fakeAddress('a giver') })
    const before = (await written()).slice(1)
    for (const answer of [await send(event), ...(await Promise.all([1, 2, 3].map(() => send(event))))]) {
      expect([answer.status, answer.body]).toEqual([
        200,
        { received: true, outcome: 'quarantined', reason: 'overflow' },
      ])
    }
    expect((await written()).slice(1)).toEqual(before)
    expect(await availableOf(address.id)).toBe(most)
    expect(await listOf(`outcome=quarantined&addressId=${address.id}`, bench.vault.admin)).toMatchObject([
      {
        outcome: 'quarantined',
        reason: 'overflow',
        amount: '1',
        txHash: event.txHash,
        fromAddress: event.fromAddress,
        addressId: address.id,
      },
    ])
    const adjusted = await bench.vault.admin.post('/vaults/main-vault/adjustments', {
      addressId: address.id,
      tokenId: bench.vault.tokens.usdt.id,
      amount: '-1',
      reason: 'Room for more',
    })
    expect(adjusted.status).toBe(201)
    expect((await send(event)).body.outcome).toBe('credited')
  })

  it('does not prevent the creation of its address', async () => {
    const toAddress = fakeAddress(`${bench.vault.wallet.secret}m/44/60/2/1`)
    const [first, second] = [eventTo(toAddress, { amount: most }), eventTo(toAddress, { amount: most })]
    for (const event of [first, second, second, eventTo(toAddress, { asset: null })]) {
      expect((await send(event)).body.outcome).toBe('unmatched')
    }
    const address = await createAddress(bench.owner, { token: 'USDT', segments: { purpose: 'payroll' } })
    expect(address.address).toBe(toAddress)
    expect([await availableOf(address.id), await availableOf(address.id, 'ETH')]).toEqual([most, '1'])
    expect(await listOf(`outcome=quarantined&addressId=${address.id}`, bench.vault.admin)).toMatchObject([
      { reason: 'overflow', txHash: second.txHash },
    ])
  })

  it('is refused for an adjustment, too', async () => {
    const address = await newAddress()
    await send(eventTo(address.address, { amount: most }))
    const { status } = await bench.vault.admin.post('/vaults/main-vault/adjustments', {
      addressId: address.id,
      tokenId: bench.vault.tokens.usdt.id,
      amount: '1',
      reason: 'One too many',
    })
    expect(status).toBe(409)
  })
})

describe('events that arrive before their address', () => {
  /** The address that the wallet service will derive for the next creation with the purpose `payroll`. */
  let next = 2
  const nextAddress = () => fakeAddress(`${bench.vault.wallet.secret}m/44/60/2/${next++}`)
  const create = () => createAddress(bench.owner, { token: 'USDT', segments: { purpose: 'payroll' } })

  it('are credited once when the address is created, and contradictions are quarantined', async () => {
    const toAddress = nextAddress()
    const event = eventTo(toAddress)
    for (const change of [
      event,
      event,
      { ...event, amount: '77' },
      eventTo(toAddress, { amount: '2' }),
      eventTo(toAddress, { asset: null }),
    ]) {
      expect((await send(change)).body.outcome).toBe('unmatched')
    }
    const address = await create()
    expect(address.address).toBe(toAddress)
    expect([await availableOf(address.id), await availableOf(address.id, 'ETH')]).toEqual(['3', '1'])
    expect(await listOf(`addressId=${address.id}`)).toHaveLength(3)
    const quarantined = await bench.vault.admin.get(
      `/vaults/main-vault/deposits?outcome=quarantined&addressId=${address.id}`,
    )
    expect([quarantined.status, quarantined.body.items.map((item) => item.amountDecimal)]).toEqual([200, ['77']])
    expect((await send(event)).body.outcome).toBe('duplicate')
    expect(
      await bench.sql(`select count(*) from wallet_events where outcome = 'unmatched' and address_key = lower($1)`, [
        toAddress,
      ]),
    ).toEqual([{ count: '0' }])
  })

  it('stay on the network that was found by its name, even if another network has the name later', async () => {
    await bench.sql(`update networks set name = 'Main chain' where slug = 'ethereum'`)
    const toAddress = nextAddress()
    const event = eventTo(toAddress, { network: 'MAIN CHAIN', amount: '7' })
    expect((await send(event)).body.outcome).toBe('unmatched')
    expect(await networksOf(event.txHash)).toEqual([{ found: 'ethereum', outcome: 'unmatched', sent: 'MAIN CHAIN' }])
    await createVaultFixture(bench.test, { code: 'late-vault', routes: networkOf('late', 'Main chain', 19_003) })
    const address = await create()
    expect([address.address, await availableOf(address.id)]).toEqual([toAddress, '7'])
    const [deposit] = await listOf(`addressId=${address.id}`)
    const { differences } = await inTransaction(bench.test.deps.db, (trx) =>
      verifyDeposits(trx, bench.test.clock.now()),
    )
    expect(differences.filter(({ targetId }) => targetId === deposit!.id)).toEqual([])
  })

  it('or at the same moment are neither lost nor credited twice', async () => {
    for (let round = 0; round < 8; round += 1) {
      const toAddress = nextAddress()
      const events = Array.from({ length: 3 }, () => eventTo(toAddress))
      const [address, ...answers] = await Promise.all([create(), ...[...events, ...events].map((event) => send(event))])
      for (const answer of answers) expect(answer.status).toBe(200)
      expect([round, await availableOf(address.id)]).toEqual([round, '3'])
    }
  })

  it('wait for a creation in progress', async () => {
    const event = eventTo(nextAddress())
    const [address, received] = await bench
      .rolledBack(async (query) => {
        await query('lock table addresses in share mode')
        const created = create()
        await untilSessionsWait(bench.test.deps.db)
        const sent = send(event)
        await Promise.race([sent, untilSessionsWait(bench.test.deps.db, 2)])
        return [created, sent] as const
      })
      .then((both) => Promise.all(both))
    expect(received.body.outcome).toBe('credited')
    expect(await availableOf(address.id)).toBe('1')
  })

  it('make the creation wait while they are being stored', async () => {
    const event = eventTo(nextAddress())
    const [received, address] = await bench
      .rolledBack(async (query) => {
        await query('lock table wallet_events in exclusive mode')
        const sent = send(event)
        await untilSessionsWait(bench.test.deps.db)
        const created = create()
        await Promise.race([created, untilSessionsWait(bench.test.deps.db, 2)])
        return [sent, created] as const
      })
      .then((both) => Promise.all(both))
    expect(received.body.outcome).toBe('unmatched')
    expect(await availableOf(address.id)).toBe('1')
  })
})

describe('malformed events', () => {
  it.each<[string, string, unknown]>([
    ['kind', 'kind', { tx: {} }],
    ['kind', 'kind', { kind: 7, tx: {} }],
    ['body', 'body', []],
    ['body', 'body', 'TOPUP'],
    ['tx', 'tx', { kind: 'TOPUP' }],
    ['tx', 'tx', { kind: 'TOPUP', tx: 'x' }],
  ])('%s: 400 with the field %s', async (_what, field, body) => {
    const before = await written()
    const answer = await bench.test.anonymous.post('//webhooks/wallet', JSON.stringify(body))
    expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, field])
    expect(await written()).toEqual(before)
  })

  it('T7 with inexact amounts or fields of the wrong form are a 400 with the field and write nothing', async () => {
    const address = await newAddress()
    const before = await written()
    const bad: Record<string, unknown[]> = {
      amount: [
        '0',
        '0.0',
        '-1',
        '+1',
        '1e18',
        '0x1',
        'NaN',
        'Infinity',
        '',
        ' 1',
        '1 ',
        '1,5',
        '01',
        '.5',
        '1.',
        '0.0000001',
        `${2n ** 256n}`,
        1,
        1.5,
        null,
        undefined,
      ],
      network: ['', 7, null, 'a\tb', 'x'.repeat(201), '\u0000'],
      toAddress: ['', 7, null, 'a b', 'x'.repeat(129), 'a\u0000b'],
      txHash: ['', 7, null, 'a b', 'x'.repeat(129), 'a\u0000b'],
      asset: [7, {}, 'x'.repeat(129), '\u0000', 'a b'],
      index: [-1, 1.5, '1', 2 ** 31, 1e300],
      fromAddress: ['', 7, 'a\u0000b'],
      confirmations: [-1, 1.5, 'many', '', {}, true],
      status: ['perhaps', '', {}, []],
      success: ['perhaps', 2],
      blockTime: ['yesterday', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-31', '2026-01-31T09:30:00', 7],
    }
    for (const [name, values] of Object.entries(bad)) {
      for (const value of values) {
        const answer = await send(eventTo(address.address, { [name]: value }))
        expect([name, value, answer.status, answer.body.details?.[0]?.field]).toEqual([name, value, 400, `tx.${name}`])
      }
    }
    expect(await written()).toEqual(before)
  })

  it('T51 without JSON, with ambiguous JSON, or not in UTF-8 are a 400; another content type is a 415', async () => {
    const before = await written()
    for (const text of ['', '{', '{"kind":"TOPUP","kind":"OTHER"}', 'null', '[1,2', `${'['.repeat(5_000)}`]) {
      const answer = await bench.test.anonymous.post('//webhooks/wallet', text)
      expect([text.slice(0, 20), answer.status]).toEqual([text.slice(0, 20), 400])
    }
    const latin = await bench.test.app.inject({
      method: 'POST',
      url: '/webhooks/wallet',
      headers: { 'content-type': 'application/json' },
      payload: Buffer.from([0x22, 0xe9, 0x22]),
    })
    expect(latin.statusCode).toBe(400)
    expect(
      (
        await bench.test.anonymous.post('//webhooks/wallet', 'kind=TOPUP', {
          'content-type': 'application/x-www-form-urlencoded',
        })
      ).status,
    ).toBe(415)
    expect(await written()).toEqual(before)
  })
})

describe('the visibility of events', () => {
  it('T39 limits uncredited events to administrators, and those of a vault to its addresses', async () => {
    const address = await newAddress()
    const { admin } = bench.vault
    await send(eventTo(address.address, { status: 'failed' }))
    const lost = eventTo(fakeAddress('nobody at all'))
    await send(lost)
    const outcomes = ['quarantined', 'ignored', 'unmatched']
    for (const outcome of outcomes) {
      expect((await bench.owner.get(`/vaults/main-vault/deposits?outcome=${outcome}`)).status).toBe(403)
    }
    const foreign = await createVaultFixture(bench.test, { code: 'nosy-vault', adminEmail: 'nosy@example.org' })
    await bench.sql('update users set is_platform_admin = false where id = $1', [foreign.admin.userId])
    for (const outcome of outcomes) {
      const { body } = await foreign.admin.get(`/vaults/nosy-vault/deposits?outcome=${outcome}`)
      expect([outcome, body.items]).toEqual([outcome, []])
    }
    expect(await listOf('outcome=unmatched', admin)).toEqual([])
    expect((await foreign.admin.get('/wallet-events?outcome=unmatched')).status).toBe(403)
    const ofNobody = await admin.get('/wallet-events?outcome=unmatched')
    expect([ofNobody.status, ofNobody.body.items[0]]).toEqual([
      200,
      expect.objectContaining({ vaultId: null, outcome: 'unmatched', reason: null, txHash: lost.txHash }),
    ])
    const hashes = (items: UncreditedEvent[]) => items.map(({ txHash }) => txHash)
    expect(hashes((await admin.get('/wallet-events?outcome=ignored&limit=100')).body.items)).not.toContain(
      (await listOf(`outcome=ignored&addressId=${address.id}`, admin))[0]!.txHash,
    )
    const other = await newAddress()
    expect(await listOf(`outcome=ignored&addressId=${other.id}`, admin)).toEqual([])
  })

  it('lets only administrators use userId: others get a 403, unless they name themselves', async () => {
    const lister = await addMember(bench.test, bench.vault, 'lister@example.org', ['treasury'])
    const address = await createAddress(lister, { token: 'USDT' })
    await deposit(bench.test, { address: address.address, asset: usdtContract, amount: '4' })
    expect(await listOf(`userId=${lister.userId}`, bench.vault.admin)).toMatchObject([{ addressId: address.id }])
    expect(await listOf(`userId=${lister.userId}`, lister)).toHaveLength(1)
    expect((await bench.owner.get(`/vaults/main-vault/deposits?userId=${lister.userId}`)).status).toBe(403)
  })

  it('pages through the list without gaps and refuses unknown filters', async () => {
    const address = await newAddress()
    const made: string[] = []
    for (let i = 0; i < 5; i += 1) made.unshift((await send(eventTo(address.address))).body.depositId)
    const ids: string[] = []
    let cursor = ''
    do {
      const { body } = await bench.owner.get(`/vaults/main-vault/deposits?addressId=${address.id}&limit=2${cursor}`)
      ids.push(...body.items.map((item) => item.id))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(ids).toEqual(made)
    for (const query of ['outcome=lost', 'limit=0', 'cursor=x', 'asset=USDT']) {
      expect([query, (await bench.owner.get(`/vaults/main-vault/deposits?${query}`)).status]).toEqual([query, 400])
    }
  })
})
