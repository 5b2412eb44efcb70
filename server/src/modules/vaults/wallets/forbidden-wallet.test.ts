import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../../app.ts'
import type { Deps } from '../../../deps.ts'
import type { App } from '../../../http/endpoints.ts'
import { checks } from '../../../jobs/watch/checks.ts'
import { readSamples } from '../../../jobs/watch/samples.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { createPolicy, deposit, fixtureRoutes, usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { deliverDueTransfers } from '../../money/delivery/deliver.ts'
import { forbiddenWallet } from '../../registry/wallet-service/call.ts'

let bench: TransferBench
let address: Address
/** The same database, served after the operator has taken the wallet service from WALLET_ALLOWED_HOSTS. */
let closed: { app: App; deps: Deps }

beforeAll(async () => {
  bench = await createTransferBench()
  address = await bench.fundedAddress({ eth: '1' })
  const deps: Deps = { ...bench.test.deps, config: { ...bench.test.deps.config, walletAllowedHosts: [], demo: false } }
  closed = { app: await createApp(deps), deps }
})
afterAll(async () => {
  await closed.app.close()
  await bench.close()
})

async function ask(by: Person, method: 'GET' | 'POST' | 'PATCH', path: string, payload?: object) {
  const answer = await closed.app.inject({
    method,
    url: `/api/v1${path}`,
    headers: { authorization: `Bearer ${by.token}` },
    ...(payload === undefined ? {} : { payload }),
  })
  return { status: answer.statusCode, body: answer.json(), retryAfter: answer.headers['retry-after'] }
}

const refused = {
  status: 502,
  body: expect.objectContaining({ reason: 'wallet_service_failed', message: forbiddenWallet }),
  retryAfter: undefined,
}
const base = '/vaults/main-vault'
const urls = ['http://10.0.0.7:8430', 'https://169.254.169.254', 'http://[fd00::7]:8430', 'https://localhost']

/** A transfer whose transaction waits in the chain. */
async function waiting() {
  const { body } = await bench.order(address.id, '40')
  await bench.deliver()
  bench.vault.wallet.broadcast(body.id)
  await bench.deliver()
  return { id: body.id, txHash: fakeTxHash(body.id) }
}

it('the refusal names the forbidden URL and the person who can change it', () => {
  for (const word of [
    'not public',
    'WALLET_ALLOWED_HOSTS',
    'administrator of the vault',
    'walletServiceUrl',
    'operator',
  ])
    expect(forbiddenWallet).toContain(word)
})

describe('T49 a wallet URL that the guard forbids is not answered with 503, which invites to try again', () => {
  it.each(urls)('for a vault that is created, locked, and asked for an address, with %s', async (walletServiceUrl) => {
    const { admin } = bench.vault
    const code = `vault-${urls.indexOf(walletServiceUrl)}`
    const created = await ask(admin, 'POST', '/vaults', {
      vault: { code, name: 'Elsewhere', walletServiceUrl, walletServiceSecret: null },
      routes: fixtureRoutes,
    })
    expect(created).toMatchObject({ status: 201, retryAfter: undefined })
    expect(await ask(admin, 'POST', `/vaults/${code}/lock`)).toMatchObject({ status: 200, retryAfter: undefined })
    const groups = (await admin.get(`/vaults/${code}/policy-groups`)).body.items
    const everyone = groups.find((group) => group.code === 'everyone')!.id
    await createPolicy(bench.vault, {
      groupId: everyone,
      code: 'all',
      name: 'All',
      actionType: 'create_address',
      effect: 'allow',
    })
    const body = { network: 'ethereum', segments: { purpose: 'ops' } }
    expect(await ask(admin, 'POST', `/vaults/${code}/addresses`, body)).toEqual(refused)
  })

  it.each(urls)('for a vault with addresses that moves to %s', async (walletServiceUrl) => {
    const moving = await ask(bench.vault.admin, 'PATCH', base, { walletServiceUrl, walletServiceSecret: null })
    expect(moving).toMatchObject({
      status: 400,
      body: { details: [{ field: 'walletServiceUrl', message: expect.stringContaining('WALLET_ALLOWED_HOSTS') }] },
      retryAfter: undefined,
    })
  })

  it('for a new address, and for those that wait behind it', async () => {
    const create = () =>
      ask(bench.owner, 'POST', `${base}/addresses`, { network: 'ethereum', segments: { purpose: 'ops' } })
    const answers = await Promise.all(Array.from({ length: 8 }, create))
    expect(answers).toEqual(answers.map(() => refused))
  })

  it('for a transfer: its preview says it, and the order waits unsent until the operator lists the host again', async () => {
    const body = { fromAddressId: address.id, toAddress: bench.recipient, amount: '10' }
    const preview = await ask(bench.owner, 'POST', `${base}/transfers/preview`, body)
    expect(preview).toMatchObject({ status: 200, retryAfter: undefined })
    expect(preview.body.problems).toEqual([
      expect.objectContaining({ code: 'wallet_service_failed', message: forbiddenWallet }),
    ])
    const ordered = await ask(bench.owner, 'POST', `${base}/transfers`, body)
    expect(ordered).toMatchObject({ status: 201, body: { status: 'pending' }, retryAfter: undefined })
    bench.test.clock.advance(61_000)
    await deliverDueTransfers(closed.deps)
    expect(await bench.sql('select phase from transfers where id = $1', [ordered.body.id])).toEqual([
      { phase: 'queued' },
    ])
    await bench.deliver()
    expect(bench.vault.wallet.requests.filter(({ body }) => body?.id === ordered.body.id)).toHaveLength(1)
  })

  it('for the replacement of a transaction, and its cost', async () => {
    const { id, txHash } = await waiting()
    const at = `${base}/transfers/${id}`
    expect(await ask(bench.owner, 'POST', `${at}/replacement-preview`)).toEqual(refused)
    expect(await ask(bench.owner, 'POST', `${at}/speed-up`, { txHash })).toEqual(refused)
    expect(await ask(bench.owner, 'POST', `${at}/cancel-on-chain`, { txHash })).toEqual(refused)
  })

  it('for the resolution of a halted transfer and of a quarantined event', async () => {
    const { wallet, admin } = bench.vault
    const { body } = await bench.order(address.id, '40')
    await bench.deliver()
    wallet.mutateStatus = (_id, status) => ({ ...status, amount: '1' })
    await bench.deliver()
    wallet.mutateStatus = null
    expect((await bench.read(body.id)).haltReason).not.toBe(null)
    const reason = 'Somebody looked'
    const resume = { outcome: 'resume', reason }
    expect(await ask(admin, 'POST', `${base}/transfers/${body.id}/resolve`, resume)).toEqual(refused)

    const txHash = fakeTxHash('said twice')
    for (const amount of ['100', '150'])
      await deposit(bench.test, { address: address.address, asset: usdtContract, amount, txHash })
    const { body: events } = await admin.get(`${base}/deposits?outcome=quarantined&addressId=${address.id}`)
    const credit = { outcome: 'credit', reason }
    expect(await ask(admin, 'POST', `${base}/wallet-events/${events.items[0]!.id}/resolve`, credit)).toEqual(refused)
  })

  it('for the authority and its cancellation', async () => {
    const { admin } = bench.vault
    expect(await ask(admin, 'GET', `${base}/authority`)).toEqual(refused)
    const vote = {
      ...{ format: 'strongroom-vote-2', subject: 'authority', hash: 'a'.repeat(64), decision: 'reject' },
      ...{ person: admin.userId, authority: 'b'.repeat(64), signedAt: '2026-01-31T09:30:00.000Z' },
    }
    const votes = [{ vote, keyId: 'key', signature: 'c2lnbmF0dXJl' }]
    expect(await ask(admin, 'POST', `${base}/authority/cancel`, { votes })).toEqual(refused)
  })

  it('for the gauge of the wallet service, whose advice names the setting', async () => {
    const samples = await readSamples(closed.deps)
    const up = samples.find(
      ({ gauge, labels }) => gauge === 'strongroom_wallet_service_up' && labels.vault === 'main-vault',
    )
    expect(up?.value).toBe(0)
    const check = checks.find(({ red }) => red.gauge === 'strongroom_wallet_service_up')
    expect(check?.advice).toContain('WALLET_ALLOWED_HOSTS')
  })
})
