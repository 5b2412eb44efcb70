import pg from 'pg'
import { encodeAbiParameters, keccak256, parseAbiParameters, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { type RunningWallet, startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { startNodeProxy } from '../testing/node-proxy.ts'
import { deployTestToken, type Faucet, openFaucet, readTestToken } from '../testing/test-token.ts'
import {
  call,
  deriveTestAddress,
  orderTestTransfer,
  testConfig,
  waitFor,
  waitForTransfer,
} from '../testing/wallet-client.ts'
import { acceptNonce } from './accept-nonce.ts'

const recipient = '0x000000000000000000000000000000000000dEaD'

let anvil: Anvil
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startNodeProxy>>
let wallet: RunningWallet
let faucet: Faucet
let pool: pg.Pool
let pathCount = 0

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  proxy = await startNodeProxy(anvil.rpcUrl)
  faucet = openFaucet(anvil.rpcUrl)
  wallet = await start()
  pool = new pg.Pool({ connectionString: database.url })
})

afterAll(async () => {
  await wallet?.stop()
  await pool?.end()
  await proxy?.stop()
  await anvil?.stop()
  await database?.drop()
})

const start = () => startWallet(testConfig({ databaseUrl: database.url, rpcUrl: proxy.rpcUrl }))

/** A new address with coins to spend. */
async function fundedAddress(coins = '1') {
  const derivationPath = `m/44/60/1/${pathCount++}`
  const fromAddress = await deriveTestAddress(wallet.url, derivationPath)
  const hash = await faucet.sendTransaction({ to: fromAddress, value: parseEther(coins), chain: null })
  await faucet.waitForTransactionReceipt({ hash })
  return { derivationPath, fromAddress }
}

describe('sending', () => {
  test('a transfer of the coin is confirmed with the fee that was paid', async () => {
    const from = await fundedAddress()
    const ordered = await orderTestTransfer(wallet.url, { id: 'coin-1', ...from, toAddress: recipient, amount: '1000' })
    expect(ordered.status).toBe(202)
    expect(ordered.body).toMatchObject({ id: 'coin-1', status: 'queued', txHash: null, fee: null, feePaidBy: null })
    const settled = await waitForTransfer(wallet.url, 'coin-1')
    const receipt = await faucet.getTransactionReceipt({ hash: settled.txHash as `0x${string}` })
    expect(settled).toMatchObject({
      status: 'confirmed',
      network: 'ethereum',
      fromAddress: from.fromAddress,
      toAddress: recipient,
      contractAddress: null,
      amount: '1000',
      fee: (receipt.gasUsed * receipt.effectiveGasPrice).toString(),
      feePaidBy: from.fromAddress,
      failureReason: null,
    })
    expect(settled.confirmations).toBeGreaterThanOrEqual(1)
    expect(settled.blockTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('a transfer of an ERC-20 token moves exactly the amount', async () => {
    const from = await fundedAddress()
    const token = await deployTestToken(faucet)
    const { abi } = readTestToken()
    await faucet.writeContract({
      address: token,
      abi,
      functionName: 'transfer',
      args: [from.fromAddress, 500n],
      chain: null,
    })
    await orderTestTransfer(wallet.url, {
      id: 'token-1',
      ...from,
      toAddress: recipient,
      contractAddress: token,
      amount: '123',
    })
    const settled = await waitForTransfer(wallet.url, 'token-1')
    expect(settled).toMatchObject({ status: 'confirmed', contractAddress: token, feePaidBy: from.fromAddress })
    expect(await faucet.readContract({ address: token, abi, functionName: 'balanceOf', args: [recipient] })).toBe(123n)
  })

  test('the same order again is the same transfer, another order under the id is a 409', async () => {
    const from = await fundedAddress()
    const order = { id: 'again-1', ...from, toAddress: recipient, amount: '5' }
    const copies = await Promise.all(Array.from({ length: 10 }, () => orderTestTransfer(wallet.url, order)))
    expect(copies.map(({ status }) => status)).toEqual(Array(10).fill(202))
    await waitForTransfer(wallet.url, order.id)
    const after = await orderTestTransfer(wallet.url, { ...order, fromAddress: from.fromAddress.toLowerCase() })
    expect(after).toMatchObject({ status: 202, body: { status: 'confirmed' } })
    const other = await orderTestTransfer(wallet.url, { ...order, amount: '6' })
    expect(other).toMatchObject({ status: 409, body: { error: 'Conflict', code: 409, details: expect.any(String) } })
    expect(await faucet.getTransactionCount({ address: from.fromAddress })).toBe(1)
  })

  test('20 concurrent transfers of one address get consecutive nonces and all confirm', async () => {
    const from = await fundedAddress()
    const ids = Array.from({ length: 20 }, (_, number) => `many-${number}`)
    await Promise.all(
      ids.map((id) => orderTestTransfer(wallet.url, { id, ...from, toAddress: recipient, amount: '7' })),
    )
    const settled = await Promise.all(ids.map((id) => waitForTransfer(wallet.url, id)))
    expect(settled.map(({ status }) => status)).toEqual(Array(20).fill('confirmed'))
    const { rows } = await pool.query(
      'select nonce::int from wallet.transfers where from_address = $1 order by nonce',
      [from.fromAddress],
    )
    expect(rows.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 20 }, (_, nonce) => nonce))
  })
})

describe('failing', () => {
  test('too little coin fails before signing and uses no nonce', async () => {
    const from = await fundedAddress('0.001')
    const amount = parseEther('5').toString()
    await orderTestTransfer(wallet.url, { id: 'poor-1', ...from, toAddress: recipient, amount })
    const settled = await waitForTransfer(wallet.url, 'poor-1')
    expect(settled).toMatchObject({ status: 'failed', txHash: null, fee: null, feePaidBy: null })
    expect(settled.failureReason).toMatch(/^INSUFFICIENT_FUNDS: /)
    await orderTestTransfer(wallet.url, { id: 'poor-2', ...from, toAddress: recipient, amount: '1' })
    expect(await waitForTransfer(wallet.url, 'poor-2')).toMatchObject({ status: 'confirmed' })
    const { rows } = await pool.query('select nonce::int from wallet.transfers where id = $1', ['poor-2'])
    expect(rows[0].nonce).toBe(0)
  })

  test('a token transfer that would revert fails before signing, and so does a contract without code', async () => {
    const from = await fundedAddress()
    const token = await deployTestToken(faucet)
    await orderTestTransfer(wallet.url, {
      id: 'revert-0',
      ...from,
      toAddress: recipient,
      contractAddress: token,
      amount: '9',
    })
    expect((await waitForTransfer(wallet.url, 'revert-0')).failureReason).toMatch(/^EXECUTION_REVERTED: /)
    await orderTestTransfer(wallet.url, {
      id: 'revert-1',
      ...from,
      toAddress: recipient,
      contractAddress: recipient,
      amount: '9',
    })
    expect((await waitForTransfer(wallet.url, 'revert-1')).failureReason).toMatch(/^NOT_A_CONTRACT: /)
    expect(await faucet.getTransactionCount({ address: from.fromAddress })).toBe(0)
  })

  test('a transaction that reverts on chain is failed, with the fee that was paid for it', async () => {
    const from = await fundedAddress()
    const token = await deployTestToken(faucet)
    const { abi } = readTestToken()
    await faucet.writeContract({
      address: token,
      abi,
      functionName: 'transfer',
      args: [from.fromAddress, 10n],
      chain: null,
    })
    await rpc('evm_setAutomine', [false])
    try {
      await orderTestTransfer(wallet.url, {
        id: 'revert-2',
        ...from,
        toAddress: recipient,
        contractAddress: token,
        amount: '10',
      })
      await waitFor('the broadcast', async () => {
        const { body } = await call(wallet.url, '/transfers/revert-2')
        return body.status === 'broadcast'
      })
      // The tokens vanish between broadcast and block: slot 0 of the token maps holders to balances.
      const slot = keccak256(encodeAbiParameters(parseAbiParameters('address, uint256'), [from.fromAddress, 0n]))
      await rpc('anvil_setStorageAt', [token, slot, `0x${'0'.repeat(64)}`])
    } finally {
      await rpc('evm_setAutomine', [true])
      await rpc('evm_mine', [])
    }
    const settled = await waitForTransfer(wallet.url, 'revert-2')
    expect(settled).toMatchObject({ status: 'failed', feePaidBy: from.fromAddress })
    expect(settled.failureReason).toMatch(/^REVERTED: /)
    expect(settled.txHash).toMatch(/^0x/)
    expect(BigInt(settled.fee!)).toBeGreaterThan(0n)
  })
})

describe('T22 T23 outages', () => {
  test.each(['dropSend', 'dropSendAnswer'] as const)(
    'a wallet that is stopped after signing (%s) sends the same bytes after its restart',
    async (fault) => {
      const from = await fundedAddress()
      const id = `crash-${fault}`
      const before = proxy.control.sent.length
      proxy.control.fault = fault
      await orderTestTransfer(wallet.url, { id, ...from, toAddress: recipient, amount: '11' })
      await waitFor('a send attempt', async () => proxy.control.sent.length > before)
      await wallet.stop()
      const stored = await pool.query('select status, raw_transaction, nonce from wallet.transfers where id = $1', [id])
      expect(stored.rows[0]).toMatchObject({ raw_transaction: proxy.control.sent.at(-1), nonce: '0' })
      proxy.control.fault = 'none'
      wallet = await start()
      expect(await waitForTransfer(wallet.url, id)).toMatchObject({ status: 'confirmed' })
      expect(new Set(proxy.control.sent.slice(before)).size).toBe(1)
      expect(await faucet.getTransactionCount({ address: from.fromAddress })).toBe(1)
    },
  )

  test('a chain that is down leaves the transfer queued and it is sent later', async () => {
    const from = await fundedAddress()
    proxy.control.fault = 'down'
    await orderTestTransfer(wallet.url, { id: 'down-1', ...from, toAddress: recipient, amount: '1' })
    const fee = await call(wallet.url, '/fees', {
      body: {
        network: 'ethereum',
        fromAddress: from.fromAddress,
        toAddress: recipient,
        contractAddress: null,
        amount: '1',
      },
    })
    expect(fee).toMatchObject({ status: 503, body: { code: 503, error: 'Service Unavailable' } })
    expect(JSON.stringify(fee.body)).not.toContain(proxy.rpcUrl)
    expect((await call(wallet.url, '/transfers/down-1')).body).toMatchObject({ status: 'queued', txHash: null })
    proxy.control.fault = 'none'
    expect(await waitForTransfer(wallet.url, 'down-1')).toMatchObject({ status: 'confirmed' })
  })

  test('T24 two wallets on one database sign every transfer once', async () => {
    const from = await fundedAddress()
    const second = await start()
    try {
      const before = proxy.control.sent.length
      const ids = Array.from({ length: 10 }, (_, number) => `two-${number}`)
      await Promise.all(
        ids.map((id, number) =>
          orderTestTransfer(number % 2 ? wallet.url : second.url, { id, ...from, toAddress: recipient, amount: '3' }),
        ),
      )
      const settled = await Promise.all(ids.map((id) => waitForTransfer(second.url, id)))
      expect(settled.map(({ status }) => status)).toEqual(Array(10).fill('confirmed'))
      expect(await faucet.getTransactionCount({ address: from.fromAddress })).toBe(10)
      expect(new Set(proxy.control.sent.slice(before)).size).toBe(10)
    } finally {
      await second.stop()
    }
  })

  test('the same transactions are sent again to a chain that went back, in the order of their nonces', async () => {
    const from = await fundedAddress()
    const snapshot = await rpc('evm_snapshot', [])
    const ids = ['rewind-0', 'rewind-1', 'rewind-2']
    for (const id of ids) {
      await orderTestTransfer(wallet.url, { id, ...from, toAddress: recipient, amount: '21' })
      await waitForTransfer(wallet.url, id)
    }
    await rpc('evm_revert', [snapshot])
    expect(await faucet.getTransactionCount({ address: from.fromAddress })).toBe(0)
    await waitFor(
      'the transactions to be mined again',
      async () => (await faucet.getTransactionCount({ address: from.fromAddress })) === 3,
    )
    for (const id of ids) {
      const { body } = await call<{ txHash: `0x${string}` }>(wallet.url, `/transfers/${id}`)
      expect((await faucet.getTransactionReceipt({ hash: body.txHash })).status).toBe('success')
    }
    await orderTestTransfer(wallet.url, { id: 'rewind-3', ...from, toAddress: recipient, amount: '21' })
    expect(await waitForTransfer(wallet.url, 'rewind-3')).toMatchObject({ status: 'confirmed' })
  })

  test('a transaction that the node dropped is sent again with the same bytes', async () => {
    const from = await fundedAddress()
    await rpc('evm_setAutomine', [false])
    try {
      await orderTestTransfer(wallet.url, { id: 'dropped-1', ...from, toAddress: recipient, amount: '2' })
      const hash = await waitFor('the broadcast', async () => {
        const { body } = await call<{ status: string; txHash: string }>(wallet.url, '/transfers/dropped-1')
        return body.status === 'broadcast' && body.txHash
      })
      const before = proxy.control.sent.length
      await rpc('anvil_dropTransaction', [hash])
      await waitFor('the same bytes again', async () => proxy.control.sent.length > before)
    } finally {
      await rpc('evm_setAutomine', [true])
      await rpc('evm_mine', [])
    }
    expect(await waitForTransfer(wallet.url, 'dropped-1')).toMatchObject({ status: 'confirmed' })
  })

  test('T26 an order that emptied its address before a restore stays queued, and fails only after an operator looked', async () => {
    const from = await fundedAddress()
    const token = await deployTestToken(faucet)
    // The restored database has no record of the transaction that moved everything.
    await rpc('anvil_setBalance', [from.fromAddress, '0x0'])
    await rpc('anvil_setNonce', [from.fromAddress, '0x1'])
    const ids = ['emptied-coin', 'emptied-token']
    for (const [at, contractAddress] of [null, token].entries())
      await orderTestTransfer(wallet.url, { id: ids[at]!, ...from, toAddress: recipient, contractAddress, amount: '9' })
    for (const id of ids)
      await waitFor('the reason', async () => {
        const { rows } = await pool.query<{ last_error: string | null }>(
          'select last_error from wallet.transfers where id = $1',
          [id],
        )
        return /^UNKNOWN_TRANSACTIONS: .*; (INSUFFICIENT_FUNDS|EXECUTION_REVERTED): /.test(rows[0]?.last_error ?? '')
      })
    for (const id of ids) expect((await call(wallet.url, `/transfers/${id}`)).body).toMatchObject({ status: 'queued' })
    expect(await acceptNonce(pool, { network: 'ethereum', address: from.fromAddress, nextNonce: 1 })).toBe(true)
    for (const id of ids)
      expect(await waitForTransfer(wallet.url, id)).toMatchObject({ status: 'failed', txHash: null })
  })

  test('T26 transactions that the wallet does not know hold back the next one', async () => {
    const from = await fundedAddress()
    await rpc('anvil_setNonce', [from.fromAddress, '0x2'])
    await orderTestTransfer(wallet.url, { id: 'unknown-1', ...from, toAddress: recipient, amount: '1' })
    await waitFor('the reason', async () => {
      const { rows } = await pool.query(
        "select from wallet.transfers where id = 'unknown-1' and last_error like 'UNKNOWN_TRANSACTIONS%'",
      )
      return rows.length === 1
    })
    expect((await call(wallet.url, '/transfers/unknown-1')).body).toMatchObject({ status: 'queued', txHash: null })
    const accept = (nextNonce: number) =>
      acceptNonce(pool, { network: 'ethereum', address: from.fromAddress, nextNonce })
    expect(await accept(2)).toBe(true)
    expect(await accept(1)).toBe(false)
    expect(await waitForTransfer(wallet.url, 'unknown-1')).toMatchObject({ status: 'confirmed' })
  })
})

test('T75 a signed transaction cannot be replaced in the database', async () => {
  const change = pool.query("update wallet.transfers set raw_transaction = '0x00' where id = 'coin-1'")
  await expect(change).rejects.toThrow('cannot be replaced')
})

async function rpc(method: string, params: unknown[]): Promise<unknown> {
  const response = await fetch(anvil.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result: unknown; error?: { message: string } }
  if (error) throw new Error(error.message)
  return result
}
