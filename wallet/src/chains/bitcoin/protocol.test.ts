import { createHash, createPublicKey, verify } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HDKey } from '@scure/bip32'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pinAuthority } from '../../authority/protection.ts'
import { AuthorityStore } from '../../authority/store.ts'
import { findClientByName } from '../../clients.ts'
import type { TransferStatus } from '../../protocol.ts'
import { type RunningWallet, startWallet } from '../../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { type LitecoinNode, litecoinProgram, startLitecoinNode } from '../../testing/litecoin-node.ts'
import { authority } from '../../testing/signing.ts'
import { openUtxoFaucet } from '../../testing/utxo-faucet.ts'
import { utxoConfigOf } from '../../testing/utxo-wallet.ts'
import { call, otherVaultToken, testConfig, vaultToken, waitFor } from '../../testing/wallet-client.ts'
import { hasValidSignature, startWebhookReceiver } from '../../testing/webhook-receiver.ts'
import { addressOf } from './addresses.ts'
import { bitcoin, litecoin } from './parameters.ts'

const parametersOf = { bitcoin, litecoin }
const witness = {
  bitcoin: 'bc1qq5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg94a749m',
  litecoin: 'ltc1qq5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg93py3at',
}
const publicHash = {
  bitcoin: '1TYPjCiGbKiwP6r12cdkmVjySbQryonEV',
  litecoin: 'LKgVewWYMFZnCBo1BAbw2nZWBexh42rz2o',
}
/** Addresses of other networks, in mixed case, with a wrong checksum, and with a taproot program that is not a point. */
const wrongAddresses = {
  bitcoin: [
    witness.litecoin,
    publicHash.litecoin,
    'tb1qq5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg9lm9x7g',
    witness.bitcoin.replace('bc1qq', 'bc1QQ'),
    witness.bitcoin.replace(/m$/, 'n'),
    'bc1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpqqenm',
    '0x000000000000000000000000000000000000dEaD',
  ],
  litecoin: [
    witness.bitcoin,
    publicHash.bitcoin,
    // P2SH of Bitcoin, which nodes of Litecoin know as well.
    '329ZKGh9pVe72YoH88HEBPrg7xt8Q5QoBr',
    'tltc1qq5zs2pg9q5zs2pg9q5zs2pg9q5zs2pg9xn8cwp',
    witness.litecoin.replace('ltc1qq', 'ltc1QQ'),
    witness.litecoin.replace(/t$/, 'v'),
    'ltc1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzywff7',
  ],
}

type Faulty = { details: { field: string; message: string }[] }
type Refused = { details: string }

// The tests of a node are counted as skipped where its program is not installed (Debian: litecoind).
describe.skipIf(litecoinProgram === null).each(['bitcoin', 'litecoin'] as const)('%s over HTTP', (type) => {
  const parameters = parametersOf[type]
  const { coinType } = parameters
  let node: LitecoinNode
  let database: TestDatabase
  let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
  let faucet: Awaited<ReturnType<typeof openUtxoFaucet>>
  let directory: string
  /** Two processes on one database. */
  let wallets: RunningWallet[] = []
  let account = 0

  beforeAll(async () => {
    ;[node, database, receiver, directory] = await Promise.all([
      startLitecoinNode(type),
      createTestDatabase(),
      startWebhookReceiver(),
      mkdtemp(join(tmpdir(), 'utxo-authorities-')),
    ])
    faucet = await openUtxoFaucet(node, parameters)
    const chains = { [type]: await utxoConfigOf(type, node) }
    const place = { databaseUrl: database.url, rpcUrl: node.url, authorityDir: directory }
    const config = testConfig({ ...place, chains, webhookUrl: receiver.url })
    wallets = [await startWallet(config), await startWallet(config)]
  }, 60_000)

  afterAll(async () => {
    await Promise.all(wallets.map((wallet) => wallet.stop()))
    await receiver?.stop()
    await node?.stop()
    await database?.drop()
    await rm(directory, { recursive: true, force: true })
  })

  const ask = <T = Record<string, unknown>>(path: string, body?: unknown, token = vaultToken) =>
    call<T>(wallets[0]!.url, path, { token, ...(body === undefined ? {} : { body }) })
  const stateOf = async (id: string) => (await ask<TransferStatus>(`/transfers/${id}`)).body

  async function derive(derivationPath: string, token = vaultToken): Promise<string> {
    const { body } = await ask<{ address: string }>('/addresses', { network: type, coinType, derivationPath }, token)
    return body.address
  }

  const eventsOf = (toAddress: string) =>
    receiver.received.filter(({ event }) => event.tx.toAddress === toAddress).map(({ event }) => event)

  /** Returns a sender with a reported deposit of each amount. */
  async function fund(...amounts: bigint[]) {
    account += 1
    const derivationPath = `m/44/${coinType}/0/${account}`
    const fromAddress = await derive(derivationPath)
    for (const amount of amounts) await faucet.pay(fromAddress, amount)
    await faucet.mine(2)
    await waitFor('the deposits', async () => eventsOf(fromAddress).length === amounts.length)
    return { network: type, coinType, derivationPath, fromAddress, contractAddress: null }
  }

  async function order(
    id: string,
    from: Awaited<ReturnType<typeof fund>>,
    change: { toAddress: string; amount: string },
  ) {
    const answer = await ask<TransferStatus>('/transfers', { id, ...from, ...change })
    expect(answer.status).toBe(202)
    return await waitFor(`the broadcast of ${id}`, async () => {
      const state = await stateOf(id)
      return state.status === 'broadcast' && state
    })
  }

  const settle = (id: string) =>
    waitFor(`${id} to settle`, async () => {
      await faucet.mine(1)
      const state = await stateOf(id)
      return (state.status === 'confirmed' || state.status === 'failed') && state
    })

  const balanceOf = async (address: string) =>
    (await ask<{ balance: string }>(`/balances?network=${type}&address=${address}`)).body.balance

  /** Waits, because passes that read the newest blocks may still run. */
  const untilBooksAreRight = (address: string) =>
    waitFor(
      `the balance of ${address}`,
      async () => (await balanceOf(address)) === (await faucet.balanceOf(address)).toString(),
      20_000,
    )

  test('health names the type of the network and what it can do', async () => {
    const { body } = await call(wallets[0]!.url, '/healthz', { token: null })
    const replacement = type === 'bitcoin' ? 'fee' : 'child'
    const features = { derives: true, signsAddresses: false, replacement, feePayer: false, shared: false }
    expect(body).toMatchObject({ networks: [{ network: type, type, features }] })
  })

  test('an address follows from the key of its account, which is shown with its script', async () => {
    const challenge = 'A'.repeat(43)
    const derivationPath = `m/44/${coinType}/0`
    type Shown = { xpub: string; script: string; key: string; signature: string }
    const { body } = await ask<Shown>(`/xpub?${new URLSearchParams({ network: type, derivationPath, challenge })}`)
    expect(body.script).toBe('p2wpkh')
    const text = ['strongroom account key 2', type, derivationPath, 'p2wpkh', body.xpub, challenge].join('\n')
    const signer = createPublicKey({ key: Buffer.from(body.key, 'base64url'), format: 'der', type: 'spki' })
    expect(verify(null, Buffer.from(text), signer, Buffer.from(body.signature, 'base64url'))).toBe(true)
    const parent = HDKey.fromExtendedKey(body.xpub)
    for (const index of [7, 8, 2 ** 31 - 1])
      expect(await derive(`${derivationPath}/${index}`)).toBe(
        addressOf(parent.deriveChild(index).publicKey!, parameters),
      )
    expect(await derive(`${derivationPath}/7`, otherVaultToken)).not.toBe(await derive(`${derivationPath}/7`))
  })

  test.each([
    [{ coinType: 60, derivationPath: 'm/44/60/0/0' }, 'coinType'],
    [{ derivationPath: 'm/44/60/0/0' }, 'derivationPath'],
    [{ derivationPath: `m/44'/${parametersOf[type].coinType}'/0'/0` }, 'derivationPath'],
  ])('an address of %j is refused with a 400 that names %s', async (change, field) => {
    const place = { network: type, coinType, derivationPath: `m/44/${coinType}/0/0` }
    const { status, body } = await ask<Faulty>('/addresses', { ...place, ...change })
    expect([status, body.details[0]!.field]).toEqual([400, field])
  })

  test('an order and a preview with an address of another network are refused with the name of the field', async () => {
    const from = await fund(1_000_000n)
    const { network, fromAddress } = from
    for (const toAddress of wrongAddresses[type]) {
      const orders = await ask<Faulty>('/transfers', { id: 'wrong-1', ...from, toAddress, amount: '50000' })
      const question = { network, fromAddress, toAddress, contractAddress: null, amount: '50000' }
      const fees = await ask<Faulty>('/fees', question)
      for (const { status, body } of [orders, fees])
        expect([toAddress, status, body.details?.[0]?.field]).toEqual([toAddress, 400, 'toAddress'])
    }
    expect((await ask('/transfers/wrong-1')).status).toBe(404)
  })

  test.each([
    [{ contractAddress: '0x000000000000000000000000000000000000dEaD' }, 'contractAddress', 'must be null'],
    [{ amount: '293' }, 'amount', `must be ${type === 'bitcoin' ? 294 : 2_940} or more`],
    [{ fromAddress: publicHash[type] }, 'fromAddress', 'is not a P2WPKH address'],
    [{ toAddress: 'sender' }, 'toAddress', 'is the sender'],
  ])('an order with %j and its preview are refused with a 400 that names %s', async (change, field, message) => {
    const from = await fund(1_000_000n)
    const changed = { toAddress: faucet.recipient(1), amount: '50000', ...change }
    const sent = { ...from, ...changed, ...(changed.toAddress === 'sender' ? { toAddress: from.fromAddress } : {}) }
    const { coinType: _, derivationPath: __, ...question } = sent
    for (const answer of [
      await ask<Faulty>('/transfers', { id: 'wrong-2', ...sent }),
      await ask<Faulty>('/fees', question),
    ]) {
      expect(answer.status).toBe(400)
      expect(answer.body.details[0]).toMatchObject({ field, message: expect.stringContaining(message) })
    }
  })

  test.each([
    [`/balances?network=${type}&address=${publicHash[type]}`, 'address'],
    [`/balances?network=${type}&address=${'f'.repeat(40)}`, 'address'],
    [`/transactions/0x${'0'.repeat(64)}?network=${type}`, 'hash'],
    [`/xpub?network=${type}&derivationPath=m/44/60/0&challenge=${'A'.repeat(43)}`, 'derivationPath'],
  ])('%s is refused with a 400 that names %s', async (path, field) => {
    const { status, body } = await ask<Faulty>(path)
    expect([status, body.details[0]!.field]).toEqual([400, field])
  })

  test('recipients of every kind are paid: P2PKH, in capitals, and taproot', async () => {
    const from = await fund(2_000_000n)
    const capitals = faucet.recipient(2).toUpperCase()
    for (const [position, toAddress] of [publicHash[type], capitals].entries()) {
      const state = await order(`kinds-${position}`, from, { toAddress, amount: '50000' })
      expect(state.toAddress).toBe(position === 0 ? toAddress : faucet.recipient(2))
    }
    expect(await settle('kinds-1')).toMatchObject({ status: 'confirmed' })
  })

  test('a deposit is reported once by a signed webhook, with the output as its index', async () => {
    const address = await derive(`m/44/${coinType}/1/0`)
    const hash = await faucet.pay(address, 123_456_789n)
    await faucet.mine(2)
    const events = await waitFor('the deposit', async () => eventsOf(address).length > 0 && eventsOf(address))
    expect(events).toMatchObject([
      {
        kind: 'TOPUP',
        tx: { network: type, asset: null, amount: '1.23456789', toAddress: address, txHash: hash, index: 0 },
      },
    ])
    expect(receiver.received.every(hasValidSignature)).toBe(true)
    expect(await balanceOf(address)).toBe('123456789')
    const unknown = await ask<Refused>(`/balances?network=${type}&address=${faucet.recipient(3)}`)
    expect(unknown.status).toBe(404)
  })

  test('the preview is exact, and the status names output, anchor, fee and payer', async () => {
    const from = await fund(700_000n, 800_000n)
    const { network, fromAddress } = from
    const toAddress = faucet.recipient(10)
    const question = { network, fromAddress, toAddress, contractAddress: null, amount: '1200000' }
    const preview = (await ask<{ fee: string; maxFee: string }>('/fees', question)).body
    const state = await order('exact', from, { toAddress, amount: '1200000' })
    expect(state).toMatchObject({ index: 0, anchor: { index: 0 }, fee: null, feePaidBy: null })
    const paid = await settle('exact')
    expect(paid).toMatchObject({ status: 'confirmed', fee: preview.fee, feePaidBy: fromAddress, anchor: state.anchor })
    const { body } = await ask<{ spent: { address: string; amount: string; txHash: string; index: number }[] }>(
      `/transactions/${paid.txHash}?network=${type}`,
    )
    expect(body).toMatchObject({
      hash: paid.txHash,
      status: 'mined',
      from: null,
      nonce: null,
      fee: preview.fee,
      payments: [{ index: 0, fromAddress, toAddress, contractAddress: null, amount: '1200000' }],
    })
    expect(body.spent.map(({ amount }) => amount).sort()).toEqual(['700000', '800000'])
    expect(body.spent[0]).toMatchObject({ ...state.anchor, address: fromAddress })
    const rest = 1_500_000n - 1_200_000n - BigInt(preview.fee)
    expect(await balanceOf(fromAddress)).toBe(rest.toString())
    // Its change is not a deposit.
    expect(eventsOf(fromAddress)).toHaveLength(2)
  })

  test('changes have output and anchor, too', async () => {
    const begin = (await ask<{ cursor: string }>('/transfers/changes')).body.cursor
    const from = await fund(900_000n)
    const { anchor } = await order('told', from, { toAddress: faucet.recipient(11), amount: '50000' })
    const { body } = await ask<{ changes: TransferStatus[] }>(`/transfers/changes?after=${begin}`)
    expect(body.changes.find(({ id }) => id === 'told')).toMatchObject({ status: 'broadcast', index: 0, anchor })
    await settle('told')
  })

  test('an amount that the address does not have is previewed with a typical fee, and its order fails', async () => {
    const from = await fund(100_000n)
    const { network, fromAddress, contractAddress } = from
    const change = { toAddress: faucet.recipient(12), amount: '900000000000' }
    const preview = await ask<{ fee: string }>('/fees', { network, fromAddress, contractAddress, ...change })
    expect([preview.status, Number(preview.body.fee) > 100]).toEqual([200, true])
    await ask('/transfers', { id: 'unaffordable', ...from, ...change })
    const failed = await settle('unaffordable')
    expect(failed).toMatchObject({
      status: 'failed',
      fee: null,
      failureReason: expect.stringMatching(/^INSUFFICIENT_FUNDS: /),
    })
    expect(failed).not.toHaveProperty('anchor')
  })

  test('a waiting payment is sped up, by replacement or by a child, and is paid once', async () => {
    const from = await fund(3_000_000n)
    const toAddress = faucet.recipient(13)
    const first = await order('faster', from, { toAddress, amount: '1000000' })
    const quote = (await ask<{ speedUp: { maxFee: string } }>('/transfers/faster/replacement')).body
    const sped = await ask<TransferStatus>('/transfers/faster/speed-up', { txHash: first.txHash })
    expect(sped.status).toBe(202)
    const isReplaced = type === 'bitcoin'
    expect(sped.body.txHash === first.txHash).toBe(!isReplaced)
    expect(sped.body).toMatchObject({
      anchor: first.anchor,
      txHashes: isReplaced ? [first.txHash, sped.body.txHash] : [first.txHash],
    })
    // A repetition, as after a lost answer, signs nothing.
    const again = await ask<TransferStatus>('/transfers/faster/speed-up', { txHash: first.txHash })
    expect([again.status, again.body.txHashes]).toEqual([202, sped.body.txHashes])
    await waitFor('all to be sent', async () => {
      const pool = (await node.rpc.call('getrawmempool')) as string[]
      return isReplaced ? pool.includes(sped.body.txHash!) : pool.length === 2
    })
    expect(await settle('faster')).toMatchObject({ status: 'confirmed', fee: quote.speedUp.maxFee, index: 0 })
    expect(await faucet.balanceOf(toAddress)).toBe(1_000_000n)
  })

  test('a waiting payment is cancelled where nodes replace transactions, and refused elsewhere with the reason', async () => {
    const from = await fund(3_000_000n)
    const toAddress = faucet.recipient(14)
    const first = await order('taken-back', from, { toAddress, amount: '1000000' })
    const cancelled = await ask<TransferStatus & Refused>('/transfers/taken-back/cancel-on-chain', {
      txHash: first.txHash,
    })
    if (type === 'litecoin') {
      expect([cancelled.status, cancelled.body.details]).toEqual([409, expect.stringMatching(/^NOT_REPLACEABLE: /)])
      expect(await settle('taken-back')).toMatchObject({ status: 'confirmed' })
      return
    }
    expect(cancelled.body).toMatchObject({ index: null, anchor: first.anchor })
    await waitFor('it to be sent', async () =>
      ((await node.rpc.call('getrawmempool')) as string[]).includes(cancelled.body.txHash!),
    )
    const ended = await settle('taken-back')
    expect(ended).toMatchObject({ status: 'failed', failureReason: expect.stringMatching(/^CANCELLED: /), index: null })
    expect(await faucet.balanceOf(toAddress)).toBe(0n)
    expect(await balanceOf(from.fromAddress)).toBe((3_000_000n - BigInt(ended.fee!)).toString())
    const { body } = await ask<{ payments: unknown[] }>(`/transactions/${ended.txHash}?network=${type}`)
    expect(body.payments).toEqual([])
  })

  test('a payment whose change a later payment spends is not replaced, and neither is a payment without change', async () => {
    const from = await fund(3_000_000n)
    const change = { toAddress: faucet.recipient(15), amount: '100000' }
    const { txHash } = await order('earlier', from, change)
    await order('later', from, change)
    const refused = await ask<Refused>('/transfers/earlier/speed-up', { txHash })
    expect([refused.status, refused.body.details]).toEqual([409, expect.stringMatching(/^LATER_FIRST: later spends/)])
    await settle('later')
    const whole = await fund(1_000_000n)
    const all = await order('whole', whole, { ...change, amount: '999500' })
    const without = await ask<Refused>('/transfers/whole/speed-up', { txHash: all.txHash })
    expect([without.status, without.body.details]).toEqual([409, expect.stringMatching(/^NO_CHANGE: /)])
    await settle('whole')
  })

  test('a deposit that a reorganisation removes is reported as orphaned, and is mined again like a payment', async () => {
    const from = await fund(2_000_000n)
    await order('goes-back', from, { toAddress: faucet.recipient(16), amount: '500000' })
    await settle('goes-back')
    const address = await derive(`m/44/${coinType}/1/1`)
    await faucet.pay(address, 400_000n)
    await faucet.mine(2)
    await waitFor('the deposit', async () => eventsOf(address).length === 1)
    const height = (await node.rpc.call('getblockcount')) as number
    await node.rpc.call('invalidateblock', [await node.rpc.call('getblockhash', [height - 3])])
    // The new branch leaves out what the old one had.
    for (let count = 0; count < 6; count += 1) await node.mineOnly(faucet.stranger, [])
    const lost = await waitFor(
      'the orphan',
      async () => eventsOf(address).find(({ kind }) => kind === 'DEPOSIT_ORPHANED') ?? null,
    )
    expect(lost.tx).toMatchObject({ amount: '0.004', occurrence: 0 })
    expect(await balanceOf(address)).toBe('0')
    await faucet.mine(2)
    const back = await waitFor(
      'its return',
      async () => eventsOf(address).find(({ tx }) => tx.occurrence === 1) ?? null,
    )
    expect(back).toMatchObject({ kind: 'TOPUP', tx: { amount: '0.004' } })
    expect(await faucet.balanceOf(faucet.recipient(16))).toBe(500_000n)
    await untilBooksAreRight(from.fromAddress)
  })

  test('two processes on one database pay each order once', async () => {
    const from = await fund(2_000_000n, 2_000_000n)
    const toAddress = faucet.recipient(17)
    const ids = Array.from({ length: 8 }, (_, position) => `both-${position}`)
    const answers = await Promise.all(
      ids.flatMap((id) =>
        wallets.map(({ url }) => call(url, '/transfers', { body: { id, ...from, toAddress, amount: '100000' } })),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    for (const id of ids) expect(await settle(id)).toMatchObject({ status: 'confirmed' })
    expect(await faucet.balanceOf(toAddress)).toBe(800_000n)
    await untilBooksAreRight(from.fromAddress)
  })

  test('the transaction of a miner has no fee and spends nothing', async () => {
    const block = (await node.rpc.call('getblock', [await node.rpc.call('getblockhash', [1])])) as { tx: string[] }
    const { body } = await ask(`/transactions/${block.tx[0]}?network=${type}`)
    expect(body).toMatchObject({ status: 'mined', fee: '0', payments: [{ index: 0, fromAddress: null }] })
    expect(body).not.toHaveProperty('spent')
    const unknown = createHash('sha256').update('unknown').digest('hex')
    expect((await ask(`/transactions/${unknown}?network=${type}`)).status).toBe(404)
  })

  test('a protected vault pays nothing here, also when somebody writes an order into the database', async () => {
    const pool = new pg.Pool({ connectionString: database.url })
    try {
      const clientId = (await findClientByName(pool, 'other'))!
      const derivationPath = `m/44/${coinType}/3/0`
      const fromAddress = await derive(derivationPath, otherVaultToken)
      await pinAuthority(pool, new AuthorityStore(directory), clientId, { ...authority, vaultId: 'vault-other' })
      const toAddress = faucet.recipient(18)
      const sent = {
        network: type,
        coinType,
        derivationPath,
        fromAddress,
        toAddress,
        contractAddress: null,
        amount: '50000',
      }
      for (const authorization of [undefined, { order: {}, votes: [] }]) {
        const { status, body } = await ask<Refused>(
          '/transfers',
          { id: 'guarded', ...sent, authorization },
          otherVaultToken,
        )
        expect([status, body.details]).toEqual([
          403,
          `TOKEN_NOT_PERMITTED: a protected vault pays on EVM networks only, and ${type} is of the type ${type}`,
        ])
      }
      expect((await ask('/transfers/guarded', undefined, otherVaultToken)).status).toBe(404)
      await pool.query(
        `insert into wallet.transfers (client_id, id, network, coin_type, derivation_path, from_address, to_address, amount)
         values ($1, 'forged', $2, $3, $4, $5, $6, 50000)`,
        [clientId, type, coinType, derivationPath, fromAddress, toAddress],
      )
      await faucet.pay(fromAddress, 1_000_000n)
      await faucet.mine(2)
      const forged = await waitFor('the end of the order', async () => {
        const { body } = await ask<TransferStatus>('/transfers/forged', undefined, otherVaultToken)
        return body.status !== 'queued' && body
      })
      expect(forged).toMatchObject({
        status: 'failed',
        failureReason: expect.stringMatching(/^AUTHORIZATION_REFUSED: TOKEN_NOT_PERMITTED/),
      })
    } finally {
      await pool.end()
    }
  })
})
