import { createHmac, randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

import { fakeAddress, fakeTxHash } from '../../../testing/fake-wallet.ts'
import {
  allowAll,
  createAddress,
  createVaultFixture,
  usdtContract,
  type VaultFixture,
} from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { openSecret } from '../../vaults/wallets/wallet-settings.ts'
import { mayCredit } from './plan-credits.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const global = newSecret()
const [secretOfA, secretOfB] = [newSecret(), newSecret()]
const production = {
  DEMO: 'false',
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'vault@example.org',
  WALLET_WEBHOOK_SECRET: global,
}

let bench: TransferBench
/** Two vaults with their own secrets; the vault of the bench has none. */
let vaultA: VaultFixture
let vaultB: VaultFixture
let hashes = 0

beforeAll(async () => {
  bench = await createTransferBench(production)
  vaultA = await createVault('vault-a', secretOfA)
  vaultB = await createVault('vault-b', secretOfB)
})
afterAll(() => bench.close())
afterEach(() => bench.expectSoundLedger())

async function createVault(code: string, secret: string): Promise<VaultFixture> {
  const vault = await createVaultFixture(bench.test, { code })
  await allowAll(vault, 'create_address')
  await setSecret(vault, secret)
  return vault
}

async function setSecret({ code, admin }: VaultFixture, walletWebhookSecret: string | null): Promise<void> {
  expect((await admin.patch(`/vaults/${code}`, { walletWebhookSecret })).status).toBe(200)
}

type Tx = Record<string, unknown>
const eventTo = (toAddress: string, more: Tx = {}): Tx => ({
  network: 'ethereum',
  asset: usdtContract,
  amount: '1',
  toAddress,
  txHash: fakeTxHash(`by whom ${++hashes}`),
  ...more,
})
/** Standard Webhooks, implemented from its specification and independently of the code under test. */
function headersOf(body: string, secrets: string[]): Record<string, string> {
  const timestamp = `${Math.floor(bench.test.clock.now().getTime() / 1_000)}`
  const sign = (secret: string) => {
    const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
    return `v1,${createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64')}`
  }
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': secrets.map(sign).join(' ') }
}
function send(tx: Tx, ...secrets: string[]) {
  const body = JSON.stringify({ kind: 'TOPUP', tx })
  return bench.test.anonymous.post('//webhooks/wallet', body, secrets.length === 0 ? {} : headersOf(body, secrets))
}
const addressOf = ({ admin, code }: VaultFixture) => createAddress(admin, { vault: code, token: 'USDT' })
const availableOf = async ({ admin, code }: VaultFixture, id: string): Promise<string | null> =>
  (await admin.get(`/vaults/${code}/balances?addressId=${id}`)).body.totals[0]?.availableDecimal ?? null
const uncredited = async ({ admin, code }: VaultFixture, outcome: string) =>
  (await admin.get(`/vaults/${code}/deposits?outcome=${outcome}&limit=100`)).body.items
const written = () =>
  Promise.all(['wallet_events', 'deposits', 'operations', 'ledger_entries', 'ledger_accounts'].map(bench.count))

it('T66 a secret credits only its vaults', () => {
  const withSecret = { vaultId: 'a', hasVaultSecret: true }
  const none = { vaultId: 'n', hasVaultSecret: false }
  expect(mayCredit(null, none)).toBe(true)
  expect(mayCredit(null, withSecret)).toBe(false)
  expect(mayCredit(['a'], withSecret)).toBe(true)
  expect(mayCredit(['b', 'a'], withSecret)).toBe(true)
  expect(mayCredit(['b'], withSecret)).toBe(false)
  expect(mayCredit(['b'], none)).toBe(false)
  expect(mayCredit([], none)).toBe(false)
})

describe('T66 a vault with its own webhook secret', () => {
  it('T66 is credited by an event signed with that secret', async () => {
    const address = await addressOf(vaultA)
    const event = eventTo(address.address)
    expect((await send(event, secretOfA)).body.outcome).toBe('credited')
    expect((await send(event, secretOfA)).body.outcome).toBe('duplicate')
    expect(await availableOf(vaultA, address.id)).toBe('1')
  })

  it('T66 cannot be credited by the wallet service of another vault, which cannot place its event first either', async () => {
    const address = await addressOf(vaultA)
    const event = eventTo(address.address, { amount: '7' })
    const before = await bench.count('deposits')
    // The answer is the same as for an unknown address: the other wallet service does not learn that this address exists.
    const unknown = await send(eventTo(fakeAddress('nobody')), secretOfB)
    for (const amount of ['7', '1000000']) {
      const answer = await send({ ...event, amount }, secretOfB)
      expect([answer.status, answer.body]).toEqual([unknown.status, unknown.body])
    }
    expect([await bench.count('deposits'), await availableOf(vaultA, address.id)]).toEqual([before, null])
    expect((await send(event, secretOfA)).body.outcome).toBe('credited')
    expect((await send({ ...event, amount: '8' }, secretOfB)).body).toEqual(unknown.body)
    expect(await availableOf(vaultA, address.id)).toBe('7')
    expect(await uncredited(vaultA, 'quarantined')).toEqual([])
    expect(await uncredited(vaultA, 'unmatched')).toEqual([])
    const hashesOfB = (await uncredited(vaultB, 'unmatched')).map(({ txHash }) => txHash)
    expect(hashesOfB.filter((hash) => hash === event.txHash)).toHaveLength(3)
  })

  it('T66 cannot be credited by another wallet service before its address exists', async () => {
    const toAddress = fakeAddress(`${vaultA.wallet.secret}m/44/60/2/0`)
    const event = eventTo(toAddress, { amount: '3' })
    for (const secrets of [[secretOfB], [global]]) {
      expect((await send({ ...event, amount: '900' }, ...secrets)).body.outcome).toBe('unmatched')
    }
    expect((await send(event, secretOfA)).body.outcome).toBe('unmatched')
    const address = await createAddress(vaultA.admin, {
      vault: 'vault-a',
      token: 'USDT',
      segments: { purpose: 'payroll' },
    })
    expect([address.address, await availableOf(vaultA, address.id)]).toEqual([toAddress, '3'])
    expect(await uncredited(vaultA, 'quarantined')).toEqual([])
  })

  it('T66 whose secret cannot be opened does not affect the other vaults', async () => {
    const address = await addressOf(vaultA)
    // The role of the service cannot store such a value, which has another format.
    await bench.sql('alter table vaults disable trigger webhook_secret_sealed')
    await bench.sql(`update vaults set wallet_webhook_secret = '\\x00' where id = $1`, [vaultB.id])
    await bench.sql('alter table vaults enable trigger webhook_secret_sealed')
    expect((await send(eventTo(address.address), secretOfA)).body.outcome).toBe('credited')
    expect((await send(eventTo(address.address), secretOfB)).status).toBe(401)
    await setSecret(vaultB, secretOfB)
  })

  it('T66 is not credited by the secret of the installation: the event leaves no row and is to be sent again', async () => {
    const address = await addressOf(vaultA)
    const event = eventTo(address.address)
    const before = await written()
    expect((await send(event, global)).status).toBe(401)
    expect(await written()).toEqual(before)
    expect((await send(event, global, secretOfA)).body.outcome).toBe('credited')
  })

  it('T66 has a secret that does not credit a vault without one', async () => {
    const address = await bench.fundedAddress({ usdt: '0' })
    const event = eventTo(address.address)
    expect((await send(event, secretOfA)).body.outcome).toBe('unmatched')
    expect((await send(event, global)).body.outcome).toBe('credited')
  })

  it('T66 has several secrets during a rotation, and no revoked one', async () => {
    const next = newSecret()
    const address = await addressOf(vaultA)
    await setSecret(vaultA, `${next},${secretOfA}`)
    for (const secret of [next, secretOfA]) {
      expect((await send(eventTo(address.address), secret)).body.outcome).toBe('credited')
    }
    await setSecret(vaultA, secretOfA)
    const before = await written()
    expect((await send(eventTo(address.address), next)).status).toBe(401)
    expect(await written()).toEqual(before)
  })

  it('T66 may share its secret with another vault of the same wallet service, which gets none of its unmatched events', async () => {
    const shared = newSecret()
    const [first, second] = [await createVault('vault-c', shared), await createVault('vault-d', shared)]
    for (const vault of [first, second]) {
      expect((await send(eventTo((await addressOf(vault)).address), shared)).body.outcome).toBe('credited')
    }
    const lost = eventTo(fakeAddress('of either'))
    expect((await send(lost, shared)).body.outcome).toBe('unmatched')
    expect([await uncredited(first, 'unmatched'), await uncredited(second, 'unmatched')]).toEqual([[], []])
    const { body } = await bench.vault.admin.get('/wallet-events?outcome=unmatched')
    expect(body.items[0]!.txHash).toBe(lost.txHash)
  })

  it('T66 is credited by the secret of the installation after its own secret is removed', async () => {
    const vault = await createVault('vault-e', newSecret())
    const address = await addressOf(vault)
    await setSecret(vault, null)
    expect((await send(eventTo(address.address), global)).body.outcome).toBe('credited')
  })

  it('T13 refuses a signature by an unknown secret with 401 and writes nothing', async () => {
    const address = await addressOf(vaultA)
    const before = await written()
    for (const secrets of [[newSecret()], ['whsec_'], []]) {
      expect((await send(eventTo(address.address), ...secrets)).status).toBe(401)
    }
    expect(await written()).toEqual(before)
  })
})

describe('T66 the secret itself', () => {
  it.each([
    ['a short one', 'x'.repeat(23)],
    ['a short one among good ones', `${secretOfA},short`],
    ['base64 of too little', `whsec_${randomBytes(16).toString('base64')}=====`],
    ['one that can be guessed', 'change-me-change-me-change-me'],
    ['nothing but commas', ','.repeat(30)],
    ['a space in it', `${'x'.repeat(30)} ${'y'.repeat(30)}`],
  ])('T14 is a 400: %s', async (_what, walletWebhookSecret) => {
    const changed = await vaultA.admin.patch('/vaults/vault-a', { walletWebhookSecret })
    expect([changed.status, changed.body.details?.[0]?.field]).toEqual([400, 'walletWebhookSecret'])
  })

  it('T60 is sealed at rest, and absent from all answers and audit records', async () => {
    const secret = newSecret()
    const answer = await vaultB.admin.patch('/vaults/vault-b', { walletWebhookSecret: secret })
    expect(JSON.stringify(answer.body)).not.toContain(secret)
    const [row] = await bench.sql(
      'select id, wallet_service_url, wallet_webhook_secret as sealed from vaults where id = $1',
      [vaultB.id],
    )
    expect(row!.sealed.includes(secret)).toBe(false)
    expect(openSecret(bench.test.deps.sealer, row!, 'wallet_webhook_secret', row!.sealed)).toBe(secret)
    const records = await bench.sql(
      `select content::text as content from audit_records where action = 'vault.updated' and target_id = $1`,
      [vaultB.id],
    )
    expect(records.at(-1)!.content).toContain('isWalletWebhookSecretChanged')
    for (const { content } of records) expect(content).not.toContain(secret)
    await setSecret(vaultB, secretOfB)
  })

  it('is set only by administrators of the vault, and at its creation', async () => {
    const body = { walletWebhookSecret: newSecret() }
    expect((await bench.owner.patch('/vaults/main-vault', body)).status).toBe(403)
    const { status } = await bench.vault.admin.post('/vaults', {
      vault: { code: 'born-with', name: 'Born with', walletServiceUrl: 'https://wallet.example.org', ...body },
      routes: { network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] } },
    })
    const [row] = await bench.sql(
      `select id, wallet_service_url, wallet_webhook_secret as sealed from vaults where code = 'born-with'`,
    )
    const kept = openSecret(bench.test.deps.sealer, row!, 'wallet_webhook_secret', row!.sealed)
    expect([status, kept]).toEqual([201, body.walletWebhookSecret])
  })
})

it('demo mode without any secret accepts an event with an unreadable signature', async () => {
  const demo = await createTransferBench()
  try {
    const address = await demo.fundedAddress({ usdt: '0' })
    const readable = headersOf('', [secretOfA])
    for (const headers of [
      { ...readable, 'webhook-timestamp': '1' },
      { 'webhook-signature': readable['webhook-signature']! },
      readable,
    ]) {
      const body = { kind: 'TOPUP', tx: eventTo(address.address) }
      expect((await demo.test.anonymous.post('//webhooks/wallet', body, headers)).body.outcome).toBe('credited')
    }
  } finally {
    await demo.close()
  }
})

it('T66 demo mode does not credit a vault with its own secret by an unsigned event', async () => {
  const demo = await createTransferBench()
  try {
    const address = await demo.fundedAddress({ usdt: '5' })
    expect((await demo.vault.admin.patch('/vaults/main-vault', { walletWebhookSecret: secretOfA })).status).toBe(200)
    const body = JSON.stringify({ kind: 'TOPUP', tx: eventTo(address.address) })
    expect((await demo.test.anonymous.post('//webhooks/wallet', body)).status).toBe(401)
    const forged = headersOf(body, [secretOfB])
    expect((await demo.test.anonymous.post('//webhooks/wallet', body, forged)).status).toBe(401)
    const signed = await demo.test.anonymous.post('//webhooks/wallet', body, headersOf(body, [secretOfA]))
    expect(signed.body.outcome).toBe('credited')
  } finally {
    await demo.close()
  }
})
