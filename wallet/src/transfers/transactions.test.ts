import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import type { TransactionState, TransferStatus } from '../protocol.ts'
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

const recipient = '0x000000000000000000000000000000000000dEaD'

let anvil: Anvil
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startNodeProxy>>
let wallet: RunningWallet
let faucet: Faucet

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  proxy = await startNodeProxy(anvil.rpcUrl)
  faucet = openFaucet(anvil.rpcUrl)
  const chains = { ethereum: { rpcUrl: proxy.rpcUrl, chainId: 31337, confirmations: 2, pollMilliseconds: 50 } }
  wallet = await startWallet(testConfig({ databaseUrl: database.url, rpcUrl: proxy.rpcUrl, chains }))
})

afterAll(async () => {
  await wallet?.stop()
  await proxy?.stop()
  await anvil?.stop()
  await database?.drop()
})

const rpc = (method: string, params: unknown[]) =>
  faucet.request({ method, params } as unknown as Parameters<Faucet['request']>[0])

const ask = async (hash: string) => call<TransactionState>(wallet.url, `/transactions/${hash}?network=ethereum`)

describe('GET /transactions/{hash}', () => {
  test('a payment is pending until it is as deep as a transfer must be, and mined then', async () => {
    const hash = await faucet.sendTransaction({ to: recipient, value: 7n, chain: null })
    const { nonce } = await faucet.getTransaction({ hash })
    expect((await ask(hash)).body).toMatchObject({ hash, status: 'pending', confirmations: 1 })
    await rpc('evm_mine', [])
    expect((await ask(hash)).body).toEqual({
      hash,
      status: 'mined',
      from: faucet.account.address,
      nonce,
      confirmations: 2,
      blockTime: expect.stringMatching(/Z$/),
      fee: expect.stringMatching(/^[1-9]\d+$/),
      payments: [
        {
          index: 0,
          fromAddress: faucet.account.address,
          toAddress: recipient,
          contractAddress: null,
          amount: '7',
        },
      ],
    })
  })

  test('a payment of a token names the contract', async () => {
    const token = await deployTestToken(faucet)
    const { abi } = readTestToken()
    const hash = await faucet.writeContract({
      address: token,
      abi,
      functionName: 'transfer',
      args: [recipient, 9n],
      chain: null,
    })
    await rpc('evm_mine', [])
    const { payments } = (await ask(hash)).body
    expect(payments).toEqual([
      { index: 0, fromAddress: faucet.account.address, toAddress: recipient, contractAddress: token, amount: '9' },
    ])
  })

  test('a reverted transaction is failed and moved nothing', async () => {
    const token = await deployTestToken(faucet)
    const data = `0xa9059cbb${recipient.slice(2).padStart(64, '0')}${'f'.repeat(64)}` as const
    const hash = await faucet.sendTransaction({ to: token, data, gas: 100_000n, chain: null })
    await rpc('evm_mine', [])
    expect((await ask(hash)).body).toMatchObject({ status: 'failed', payments: [] })
  })

  test('an unknown transaction is a 404, and a wrong hash or network is a 400', async () => {
    expect((await ask(`0x${'1'.repeat(64)}`)).status).toBe(404)
    expect((await ask('0x12')).status).toBe(400)
    expect((await call(wallet.url, `/transactions/0x${'1'.repeat(64)}?network=nowhere`)).status).toBe(400)
  })
})

describe('replacedBy', () => {
  test('a transfer whose nonce another transaction used names that transaction', async () => {
    const derivationPath = 'm/44/60/1/0'
    const fromAddress = await deriveTestAddress(wallet.url, derivationPath)
    await faucet.sendTransaction({ to: fromAddress, value: parseEther('1'), chain: null })
    await rpc('anvil_mine', ['0x5'])
    await rpc('evm_setAutomine', [false])
    await orderTestTransfer(wallet.url, {
      id: 'lost-1',
      derivationPath,
      fromAddress,
      toAddress: recipient,
      amount: '2',
    })
    const read = async () => (await call<TransferStatus>(wallet.url, '/transfers/lost-1')).body
    const { txHash } = await waitFor('the broadcast', async () => {
      const status = await read()
      return status.status === 'broadcast' && status
    })
    proxy.control.fault = 'dropSend'
    await rpc('anvil_dropTransaction', [txHash])
    await rpc('anvil_impersonateAccount', [fromAddress])
    // It pays more than the dropped transaction, which the wallet may be sending again at this moment.
    const gasPrice = '0x2540be4000'
    const order = { from: fromAddress, to: recipient, value: '0x1', nonce: '0x0', gasPrice }
    const other = await rpc('eth_sendTransaction', [order])
    await rpc('evm_mine', [])
    expect(await read()).not.toHaveProperty('replacedBy')
    // Not earlier: this may mine a block, which would make the other transaction final.
    await rpc('evm_setAutomine', [true])
    await rpc('anvil_mine', ['0x5'])
    const replaced = await waitFor('the proof', async () => {
      const status = await read()
      return status.replacedBy !== undefined && status
    })
    expect(replaced).toMatchObject({ status: 'broadcast', txHash, replacedBy: { hash: other } })
    proxy.control.fault = 'none'
    expect((await ask(String(other))).body).toMatchObject({ status: 'mined', from: fromAddress, nonce: 0 })
  })

  test('a confirmed transfer was not replaced', async () => {
    const derivationPath = 'm/44/60/1/1'
    const fromAddress = await deriveTestAddress(wallet.url, derivationPath)
    await faucet.sendTransaction({ to: fromAddress, value: parseEther('1'), chain: null })
    await orderTestTransfer(wallet.url, {
      id: 'plain-1',
      derivationPath,
      fromAddress,
      toAddress: recipient,
      amount: '2',
    })
    await waitFor('a block', async () => {
      await rpc('evm_mine', [])
      return (await call<TransferStatus>(wallet.url, '/transfers/plain-1')).body.status === 'confirmed'
    })
    expect(await waitForTransfer(wallet.url, 'plain-1')).not.toHaveProperty('replacedBy')
  })
})
