import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { epochOption } from '../../../db/epoch.ts'
import { newSecret } from '../../../lib/secrets.ts'
import type { Address } from '../../../testing/answer.ts'
import { type FakeWallet, startFakeWallet } from '../../../testing/fake-wallet.ts'
import { fixtureRoutes } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { openSecret } from '../wallets/wallet-settings.ts'

/** An intruder has the database login of a node and a listener of their own, while the service runs. */
let bench: TransferBench
let listener: FakeWallet
let intruder: pg.Pool
let address: Address
let genuine: { url: string; secret: Buffer | null; webhook: Buffer | null }

beforeAll(async () => {
  bench = await createTransferBench()
  listener = await startFakeWallet()
  intruder = new pg.Pool({
    connectionString: bench.test.databaseUrl,
    max: 1,
    options: `-c role=strongroom_app ${epochOption}`,
  })
  // Events have no signature yet.
  address = await bench.fundedAddress({ usdt: '1000', eth: '5' })
  const webhook = { walletWebhookSecret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }
  expect((await bench.vault.admin.patch(vaultUrl(), webhook)).status).toBe(200)
  genuine = await readRow()
})
afterAll(async () => {
  await intruder.end()
  await listener.close()
  await bench.close()
})
afterEach(async () => {
  await point(genuine)
  listener.requests.length = 0
})

const vaultUrl = () => `/vaults/${bench.vault.code}` as const

async function readRow(): Promise<typeof genuine> {
  const { rows } = await intruder.query(
    `select wallet_service_url as url, wallet_service_secret as secret, wallet_webhook_secret as webhook
     from vaults where id = $1`,
    [bench.vault.id],
  )
  return rows[0]
}

async function point(row: Partial<typeof genuine>): Promise<void> {
  const { url, secret, webhook } = { ...genuine, ...row }
  await intruder.query(
    `update vaults set wallet_service_url = $2, wallet_service_secret = $3, wallet_webhook_secret = $4 where id = $1`,
    [bench.vault.id, url, secret, webhook],
  )
}

/** Every request of a person that makes the service call the wallet service of the vault. */
async function useEverything(): Promise<{ transferId: string; statuses: number[] }> {
  const { admin } = bench.vault
  const order = await bench.order(address.id, '1')
  const questions = [
    await bench.owner.post(`${vaultUrl()}/transfers/preview`, {
      fromAddressId: address.id,
      toAddress: bench.recipient,
      amount: '1',
    }),
    await bench.owner.post('/addresses', {
      vault: bench.vault.code,
      segments: { network: 'ethereum', purpose: 'ops' },
      token: 'USDT',
    }),
    await admin.get(`${vaultUrl()}/authority`),
    await admin.get(`${vaultUrl()}/ledger/reconciliation`),
  ]
  await bench.deliver()
  return { transferId: order.body.id, statuses: questions.map(({ status }) => status) }
}

const pathsAt = ({ requests }: FakeWallet) => requests.map(({ method, path }) => `${method} ${path}`)

describe('T60 a row that names another wallet service', () => {
  it('T60 does not make the service send a request, with or without its secret', async () => {
    for (const row of [{ url: listener.url }, { url: listener.url, secret: null }]) {
      await point(row)
      const { transferId } = await useEverything()
      expect(pathsAt(listener)).toEqual([])
      expect(bench.vault.wallet.transfer(transferId)).toBeNull()
    }
  })

  it('T60 is answered with 502 that says so, and the orders that waited are handed over once it is right again', async () => {
    await point({ url: listener.url })
    const { transferId } = await useEverything()
    const refused = await bench.vault.admin.get(`${vaultUrl()}/authority`)
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      502,
      expect.stringContaining('its wallet service is not the one that was recorded'),
    ])
    await point(genuine)
    bench.test.clock.advance(3_600_000)
    await bench.deliver()
    expect(bench.vault.wallet.transfer(transferId)).not.toBeNull()
  })

  it('T60 of the same origin is not called either', async () => {
    await point({ url: `${genuine.url}/elsewhere` })
    const before = bench.vault.wallet.requests.length
    await useEverything()
    expect(pathsAt(bench.vault.wallet).slice(before)).toEqual([])
  })

  it('T60 that was brought back from an earlier day with the secret of that day is not called', async () => {
    const moved = await startFakeWallet()
    const empty = await bench.vault.admin.post('/vaults', {
      vault: { code: 'moving', name: 'Moving', walletServiceUrl: listener.url, walletServiceSecret: listener.secret },
      routes: fixtureRoutes,
    })
    expect(empty.status, JSON.stringify(empty.body)).toBe(201)
    const { rows } = await intruder.query('select * from vaults where id = $1', [empty.body.id])
    const change = { walletServiceUrl: moved.url, walletServiceSecret: moved.secret }
    expect((await bench.vault.admin.patch('/vaults/moving', change)).status).toBe(200)
    await intruder.query('update vaults set wallet_service_url = $2, wallet_service_secret = $3 where id = $1', [
      empty.body.id,
      rows[0].wallet_service_url,
      rows[0].wallet_service_secret,
    ])
    const answer = await bench.vault.admin.get('/vaults/moving/authority')
    expect([answer.status, pathsAt(listener)]).toEqual([502, []])
    await moved.close()
  })

  it('T60 gets no new secret either: a secret that is set without a URL is for the recorded wallet service', async () => {
    await point({ url: listener.url })
    const answer = await bench.vault.admin.patch(vaultUrl(), { walletServiceSecret: newSecret() })
    expect(answer.status).not.toBe(200)
    expect(pathsAt(listener)).toEqual([])
    expect(await readRow()).toEqual({ ...genuine, url: listener.url })
  })

  it('T60 verifies no webhook with the secret of the other one', async () => {
    await point({ url: listener.url })
    const home = { id: bench.vault.id, wallet_service_url: listener.url }
    const { sealer } = bench.test.deps
    expect(() => openSecret(sealer, home, 'wallet_webhook_secret', genuine.webhook!)).toThrow('does not open')
    expect(() => openSecret(sealer, home, 'wallet_service_secret', genuine.secret!)).toThrow('does not open')
  })
})

describe('a wallet service that lawfully moves', () => {
  it('keeps its webhook secret, with its mark, for the new origin', async () => {
    const [first, second] = [await startFakeWallet(), await startFakeWallet()]
    const webhook = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
    const created = await bench.vault.admin.post('/vaults', {
      vault: {
        code: 'moves',
        name: 'Moves',
        walletServiceUrl: first.url,
        walletServiceSecret: first.secret,
        walletWebhookSecret: webhook,
      },
      routes: fixtureRoutes,
    })
    const read = async () =>
      (await intruder.query('select * from vaults where id = $1', [created.body.id])).rows[0] as {
        id: string
        wallet_service_url: string
        wallet_webhook_secret: Buffer
      }
    const before = await read()
    const change = { walletServiceUrl: second.url, walletServiceSecret: second.secret }
    expect((await bench.vault.admin.patch('/vaults/moves', change)).status).toBe(200)
    const after = await read()
    const { sealer } = bench.test.deps
    expect(openSecret(sealer, after, 'wallet_webhook_secret', after.wallet_webhook_secret)).toBe(webhook)
    expect(after.wallet_webhook_secret.subarray(9, 17)).toEqual(before.wallet_webhook_secret.subarray(9, 17))
    expect((await bench.vault.admin.get('/vaults/moves/authority')).status).toBe(404)
    expect(second.requests.at(-1)?.headers.authorization).toBe(`Bearer ${second.secret}`)
    await first.close()
    await second.close()
  })
})
