import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runDueScreenings } from '../../server/src/jobs/run-screenings.ts'
import { fakeAddress } from '../../server/src/testing/fake-wallet.ts'
import { deposit, usdtContract } from '../../server/src/testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../server/src/testing/transfer-bench.ts'
import { createScreener } from './screener.ts'

const secret = `whsec_${randomBytes(32).toString('base64')}`
const blocked = fakeAddress('on a list of sanctions')
const held = fakeAddress('a mixer')

const screener = createScreener({ secret, blocked: [blocked], held: [held.toUpperCase().replace('0X', '0x')] })
let url: string
let bench: TransferBench

beforeAll(async () => {
  await new Promise<void>((resolve) => screener.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(screener.address() as AddressInfo).port}`
  bench = await createTransferBench({ SCREENING_URL: url, SCREENING_SECRET: secret })
})
afterAll(async () => {
  await bench.close()
  screener.close()
})

it('T73 the reference screener lets the service credit, hold and refuse', async () => {
  const address = await bench.fundedAddress({ usdt: '0' })
  const arrives = async (amount: string, fromAddress?: string) => {
    const tx = { address: address.address, asset: usdtContract, amount }
    return (await deposit(bench.test, fromAddress === undefined ? tx : { ...tx, fromAddress })).body.depositId
  }
  const ids = [await arrives('100'), await arrives('20', held), await arrives('3', blocked)]
  await runDueScreenings(bench.test.deps)
  expect(await bench.balances(address.id)).toEqual({ available: '100', reserved: '23' })
  const read = async (id: string) =>
    (await bench.owner.get(`/vaults/${bench.vault.code}/deposits/${id}`)).body.screening
  expect(await Promise.all(ids.map(read))).toMatchObject([
    { verdict: 'allow', score: 5 },
    { verdict: 'hold', score: 60 },
    { verdict: 'block', score: 100 },
  ])

  const good = (await bench.order(address.id, '10')).body.id
  const bad = (await bench.order(address.id, '11', { toAddress: blocked })).body.id
  await bench.deliver()
  await runDueScreenings(bench.test.deps)
  await bench.deliver()
  expect(bench.vault.wallet.broadcastCount(good)).toBe(1)
  expect(await bench.read(bad)).toMatchObject({ status: 'failed', screening: { verdict: 'block' } })
  await bench.expectSoundLedger()
})

it('refuses callers who do not know the secret', async () => {
  const body = JSON.stringify({ id: 'x', subject: { type: 'order' }, fromAddress: null, toAddress: held })
  const headers = { 'webhook-id': 'x', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) }
  const ask = (more: object) => fetch(url, { method: 'POST', body, headers: { ...headers, ...more } })
  expect((await ask({})).status).toBe(401)
  expect((await ask({ 'webhook-signature': 'v1,AAAA' })).status).toBe(401)
  expect((await fetch(url)).status).toBe(401)
})
