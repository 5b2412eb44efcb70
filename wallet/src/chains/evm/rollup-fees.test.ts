import { type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../anvil.ts'
import type { TransactionState } from '../../protocol.ts'
import { type RunningWallet, startWallet } from '../../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { startNodeProxy } from '../../testing/node-proxy.ts'
import { type Faucet, openFaucet } from '../../testing/test-token.ts'
import { call, deriveTestAddress, orderTestTransfer, testConfig, waitForTransfer } from '../../testing/wallet-client.ts'

let anvil: Anvil
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startNodeProxy>>
let wallet: RunningWallet
let faucet: Faucet

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  proxy = await startNodeProxy(anvil.rpcUrl)
  faucet = openFaucet(anvil.rpcUrl)
  wallet = await startWallet(testConfig({ databaseUrl: database.url, rpcUrl: proxy.rpcUrl }))
})

afterAll(async () => {
  await wallet?.stop()
  await proxy?.stop()
  await anvil?.stop()
  await database?.drop()
})

const belowFee = 12_345_678_901n

test.each([
  ['one by one', ['eth_getBlockReceipts']],
  ['of a whole block', []],
])('the fee that a rollup takes for the network below it is a part of the fee: receipts %s', async (_form, lacks) => {
  proxy.control.lacks = lacks
  proxy.control.l1Fee = `0x${belowFee.toString(16)}`
  const derivationPath = `m/44/60/0/${lacks.length}`
  const fromAddress = await deriveTestAddress(wallet.url, derivationPath)
  await faucet.sendTransaction({ to: fromAddress, value: parseEther('1'), chain: null })
  const id = `rollup-${lacks.length}`
  await orderTestTransfer(wallet.url, {
    id,
    derivationPath,
    fromAddress,
    toAddress: faucet.account.address,
    amount: '1',
  })
  const { txHash, fee } = await waitForTransfer(wallet.url, id)
  const { gasUsed, effectiveGasPrice } = await faucet.getTransactionReceipt({ hash: txHash as Hex })
  expect(BigInt(fee!)).toBe(gasUsed * effectiveGasPrice + belowFee)
  expect((await call<TransactionState>(wallet.url, `/transactions/${txHash}?network=ethereum`)).body.fee).toBe(fee)
})
