import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEther } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startAnvil } from './anvil.ts'
import { openFaucet } from './testing/test-token.ts'
import { waitFor } from './testing/wallet-client.ts'

const recipient = '0x000000000000000000000000000000000000dEaD'
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'anvil-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function sendCoin(rpcUrl: string) {
  const faucet = openFaucet(rpcUrl)
  const hash = await faucet.sendTransaction({ to: recipient, value: parseEther('1'), chain: null })
  await faucet.waitForTransactionReceipt({ hash })
  return hash
}

test('the chain mines at once, and its process ends with stop', async () => {
  const anvil = await startAnvil({ chainId: 4242 })
  const hash = await sendCoin(anvil.rpcUrl)
  expect(await openFaucet(anvil.rpcUrl).getChainId()).toBe(4242)
  expect((await openFaucet(anvil.rpcUrl).getTransactionReceipt({ hash })).status).toBe('success')
  await anvil.stop()
  expect(() => process.kill(anvil.pid, 0)).toThrow()
})

test('with a state file the chain outlives its process, balances and receipts alike', async () => {
  const statePath = join(folder, 'deep', 'state.json')
  const first = await startAnvil({ statePath })
  const hash = await sendCoin(first.rpcUrl)
  await first.stop()
  const second = await startAnvil({ statePath })
  try {
    const faucet = openFaucet(second.rpcUrl)
    expect(await faucet.getBalance({ address: recipient })).toBe(parseEther('1'))
    expect((await faucet.getTransactionReceipt({ hash })).status).toBe('success')
    expect(await faucet.getBlockNumber()).toBe(1n)
  } finally {
    await second.stop()
  }
})

test('the state survives kill -9 up to the last second', async () => {
  const statePath = join(folder, 'state.json')
  const first = await startAnvil({ statePath })
  await sendCoin(first.rpcUrl)
  await waitFor('the state to be written', async () => {
    try {
      return JSON.parse(readFileSync(statePath, 'utf8')).block.number === '0x1'
    } catch {
      return false
    }
  })
  process.kill(first.pid, 'SIGKILL')
  await first.stop()
  const second = await startAnvil({ statePath })
  expect(await openFaucet(second.rpcUrl).getBlockNumber()).toBe(1n)
  await second.stop()
})

test('a damaged state file is set aside and the last good copy takes its place', async () => {
  const statePath = join(folder, 'state.json')
  const first = await startAnvil({ statePath })
  await sendCoin(first.rpcUrl)
  await first.stop()
  const whole = readFileSync(statePath, 'utf8')
  writeFileSync(statePath, whole.slice(0, whole.length / 2))
  const second = await startAnvil({ statePath })
  expect(await openFaucet(second.rpcUrl).getBlockNumber()).toBe(1n)
  await second.stop()
  expect(readFileSync(`${statePath}.damaged`, 'utf8')).toBe(whole.slice(0, whole.length / 2))
})

test('a chain that outlived its parent is ended before its state is used again', async () => {
  const statePath = join(folder, 'state.json')
  const orphan = await startAnvil({ statePath })
  await sendCoin(orphan.rpcUrl)
  const next = await startAnvil({ statePath })
  expect(() => process.kill(orphan.pid, 0)).toThrow()
  expect(await openFaucet(next.rpcUrl).getBlockNumber()).toBe(1n)
  await orphan.stop()
  await next.stop()
})

test('a port in use is named in the error', async () => {
  const anvil = await startAnvil()
  const port = Number(new URL(anvil.rpcUrl).port)
  await expect(startAnvil({ port })).rejects.toThrow(/could not be started.*in use/s)
  await anvil.stop()
})
