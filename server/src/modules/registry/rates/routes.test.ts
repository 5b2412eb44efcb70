import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sendNotifications } from '../../../jobs/send-notifications.ts'
import { createTestApp, type Person, type TestApp } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import {
  addMember,
  allowAll,
  createAddress,
  createPolicy,
  createVaultFixture,
  deposit,
  profileOf,
  usdtContract,
  type VaultFixture,
} from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { createOutbox, type Outbox } from '../../../testing/outbox.ts'
import { pollRates } from './poll.ts'
import { lockRates } from './queries.ts'

const hour = 3_600_000

let outbox: Outbox
let test: TestApp
let vault: VaultFixture
let first: Person
let second: Person
let folder: string

beforeAll(async () => {
  outbox = await createOutbox()
  folder = await mkdtemp(join(tmpdir(), 'strongroom-rates-'))
  test = await createTestApp({ DATA_DIR: outbox.dataDir })
  vault = await createVaultFixture(test)
})
// The tests advance the clock by more than the life of a session.
beforeEach(async () => {
  first = await test.signIn('first@example.org', { isPlatformAdmin: true })
  second = await test.signIn('second@example.org', { isPlatformAdmin: true })
  vault.admin = await test.signIn(vault.admin.email)
})
afterAll(async () => {
  await test.close()
  await outbox.remove()
  await rm(folder, { recursive: true, force: true })
})

let tokens = 0
async function newToken(code = `RATED${++tokens}`): Promise<string> {
  const contractAddress = fakeAddress(`contract of ${code}`)
  const token = { network: 'ethereum', code, symbol: code, name: code, decimals: 6, contractAddress }
  const answer = await first.post('/tokens', token)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}

/** Records a rate. Without `asOf` it is a millisecond later than the rate before. */
async function setRate(person: Person, tokenId: string, usdRate: string, asOf?: Date) {
  test.clock.advance(1)
  const moment = (asOf ?? test.clock.now()).toISOString()
  return person.post(`/tokens/${tokenId}/rates`, { usdRate, asOf: moment, source: 'manual' })
}

/** Makes the service poll the provider, which returns these rates. */
async function poll(rates: Record<string, string>) {
  const path = join(folder, 'rates.json')
  await writeFile(path, JSON.stringify(rates))
  test.clock.advance(60_000)
  await pollRates(test.deps, pathToFileURL(path).href)
}

const heldOf = async (tokenId: string, status = 'held') =>
  (await first.get(`/held-rates?status=${status}&tokenId=${tokenId}`)).body.items
const ratesOf = async (tokenId: string) => {
  const rows = await test.deps.db
    .selectFrom('token_rates')
    .select('usd_rate')
    .where('token_id', '=', tokenId)
    .orderBy('as_of')
    .execute()
  return rows.map(({ usd_rate }) => Number(usd_rate))
}

describe('rates set by hand', () => {
  it('are in effect at once when they are the first of a token in demo mode, or near the rate before', async () => {
    const tokenId = await newToken()
    const answer = await setRate(first, tokenId, '3000')
    expect(answer).toMatchObject({ status: 201, body: { tokenId, usdRate: '3000', source: 'manual' } })
    expect((await setRate(first, tokenId, '1500')).status).toBe(201)
    expect((await setRate(first, tokenId, '3000')).status).toBe(201)
    expect(await ratesOf(tokenId)).toEqual([3000, 1500, 3000])
    expect(await heldOf(tokenId)).toEqual([])
  })

  it('are unique by token and time, from any source', async () => {
    const tokenId = await newToken()
    const asOf = test.clock.now()
    expect((await setRate(first, tokenId, '1', asOf)).status).toBe(201)
    expect((await setRate(second, tokenId, '1.1', asOf)).status).toBe(409)
    const other = { usdRate: '1.1', asOf: asOf.toISOString(), source: 'another' }
    expect((await first.post(`/tokens/${tokenId}/rates`, other)).status).toBe(409)
    const held = new Date(asOf.getTime() - 1)
    expect((await setRate(first, tokenId, '9', held)).status).toBe(202)
    expect((await setRate(first, tokenId, '9', held)).status).toBe(409)
    expect(await ratesOf(tokenId)).toEqual([1])
  })

  it('are refused for a future time, for a rate of 0, and for an unknown token', async () => {
    const tokenId = await newToken()
    const future = await setRate(first, tokenId, '1', new Date(test.clock.now().getTime() + hour))
    expect(future).toMatchObject({ status: 400, body: { details: [{ field: 'asOf' }] } })
    expect(await setRate(first, tokenId, '0.0')).toMatchObject({
      status: 400,
      body: { details: [{ field: 'usdRate' }] },
    })
    expect((await setRate(first, 'cmi8h2k1p0a1b2c3d4e5f6g7h', '1')).status).toBe(404)
  })
})

describe('recorded rates', () => {
  it('are listed by their time, page by page, in canonical form', async () => {
    const tokenId = await newToken()
    const at = (minutes: number) => new Date(test.clock.now().getTime() - minutes * 60_000)
    const [oldest, middle, newest] = [at(30), at(20), at(10)]
    const answer = await setRate(first, tokenId, '1.500', middle)
    expect([answer.status, answer.body.usdRate]).toEqual([201, '1.5'])
    await setRate(first, tokenId, '1.000000000000000001', newest)
    await setRate(first, tokenId, '2', oldest)
    expect((await setRate(first, tokenId, '90', at(5))).status).toBe(202)
    const member = await addMember(test, vault, `reader-${tokens}@example.org`)
    const list = async (query = '') => {
      const { status, body } = await member.get(`/tokens/${tokenId}/rates?${query}`)
      expect(status, JSON.stringify(body)).toBe(200)
      return body
    }
    const ratesIn = async (query: string) => (await list(query)).items.map(({ usdRate }) => usdRate)
    const { items, nextCursor } = await list()
    expect(items.map(({ usdRate }) => usdRate)).toEqual(['1.000000000000000001', '1.5', '2'])
    expect(items[1]).toEqual({
      tokenId,
      usdRate: '1.5',
      asOf: middle.toISOString(),
      source: 'manual',
      createdAt: expect.any(String),
    })
    expect(nextCursor).toBeNull()
    const page = await list('limit=2')
    expect(page.items).toEqual(items.slice(0, 2))
    expect((await list(`limit=2&cursor=${page.nextCursor}`)).items).toEqual(items.slice(2))
    expect(await ratesIn(`from=${middle.toISOString()}`)).toEqual(['1.000000000000000001', '1.5'])
    expect(await ratesIn(`to=${middle.toISOString()}`)).toEqual(['1.5', '2'])
    expect(await ratesIn(`from=${middle.toISOString()}&to=${middle.toISOString()}`)).toEqual(['1.5'])
    expect(await ratesIn('to=2001-01-01')).toEqual([])
  })

  it('are refused for an unknown token, and for bounds in the wrong order', async () => {
    const tokenId = await newToken()
    expect((await first.get('/tokens/cmi8h2k1p0a1b2c3d4e5f6g7h/rates')).status).toBe(404)
    const answer = await first.get(`/tokens/${tokenId}/rates?from=2026-02-01&to=2026-01-01`)
    expect([answer.status, answer.body.details[0]!.field]).toEqual([400, 'from'])
    expect((await test.anonymous.get(`/tokens/${tokenId}/rates`)).status).toBe(401)
  })
})

describe('T64 a rate that jumps', () => {
  it('is held back until another platform administrator confirms it', async () => {
    const tokenId = await newToken()
    await setRate(first, tokenId, '1')
    const answer = await setRate(first, tokenId, '2.5')
    expect(answer).toMatchObject({
      status: 202,
      body: {
        tokenId,
        usdRate: '2.5',
        comparedUsdRate: '1',
        status: 'held',
        createdById: first.userId,
        createdBy: profileOf(first),
        decidedBy: null,
        decidedAt: null,
      },
    })
    expect(await ratesOf(tokenId)).toEqual([1])
    expect(await heldOf(tokenId)).toEqual([answer.body])

    const url = `/held-rates/${answer.body.id}` as const
    expect((await first.post(`${url}/confirm`)).status).toBe(403)
    const confirmed = await second.post(`${url}/confirm`)
    expect(confirmed).toMatchObject({ status: 200, body: { status: 'confirmed', decidedById: second.userId } })
    expect(await ratesOf(tokenId)).toEqual([1, 2.5])
    for (const verb of ['confirm', 'reject']) expect((await second.post(`${url}/${verb}`)).status).toBe(409)
    expect((await setRate(first, tokenId, '4.5')).status).toBe(201)
  })

  it('is discarded by a rejection, also by the person who recorded it', async () => {
    const tokenId = await newToken()
    await setRate(first, tokenId, '1')
    for (const person of [first, second]) {
      const { body } = await setRate(first, tokenId, '0.4')
      expect((await person.post(`/held-rates/${body.id}/reject`)).body.status).toBe('rejected')
      expect((await second.post(`/held-rates/${body.id}/confirm`)).status).toBe(409)
    }
    expect(await ratesOf(tokenId)).toEqual([1])
    expect((await first.post('/held-rates/cmi8h2k1p0a1b2c3d4e5f6g7h/confirm')).status).toBe(404)
  })

  it('cannot be confirmed in the database by the person who recorded it', async () => {
    const tokenId = await newToken()
    await setRate(first, tokenId, '1')
    const { body } = await setRate(first, tokenId, '0.4')
    const change = { status: 'confirmed', decided_by_id: first.userId, decided_at: test.clock.now() }
    await expect(
      test.deps.db.updateTable('held_rates').set(change).where('id', '=', body.id).execute(),
    ).rejects.toThrow('violates check constraint')
  })

  it('cannot be split into small steps within a day, or hidden by rates for an earlier time', async () => {
    const tokenId = await newToken()
    await setRate(first, tokenId, '1')
    expect((await setRate(first, tokenId, '0.6')).status).toBe(201)
    expect(await setRate(first, tokenId, '0.4')).toMatchObject({ status: 202, body: { comparedUsdRate: '1' } })
    const longAgo = new Date(test.clock.now().getTime() - 48 * hour)
    expect((await setRate(first, tokenId, '0.5', longAgo)).status).toBe(201)
    expect((await setRate(first, tokenId, '0.4')).status).toBe(202)
    test.clock.advance(23 * hour)
    expect((await setRate(first, tokenId, '0.4')).status).toBe(202)
    test.clock.advance(2 * hour)
    expect((await setRate(first, tokenId, '0.4')).status).toBe(201)
  })

  it('is measured from the rate on which two people agreed, and from the newest rate of any age', async () => {
    const tokenId = await newToken()
    await setRate(first, tokenId, '1')
    const { body } = await setRate(first, tokenId, '3')
    expect((await second.post(`/held-rates/${body.id}/confirm`)).status).toBe(200)
    expect((await setRate(second, tokenId, '5')).status).toBe(201)
    expect((await setRate(second, tokenId, '1.2')).status).toBe(202)
    test.clock.advance(90 * 24 * hour)
    second = await test.signIn(second.email)
    expect((await setRate(second, tokenId, '12')).status).toBe(202)
  })

  it('is compared with a rate that is being recorded at the same time', async () => {
    const tokenId = await newToken()
    await setRate(first, tokenId, '1')
    const later = await test.deps.db.transaction().execute(async (trx) => {
      await lockRates(trx)
      const now = test.clock.now()
      const row = { token_id: tokenId, as_of: now, source: 'manual', usd_rate: '0.6', created_at: now }
      await trx.insertInto('token_rates').values(row).execute()
      const answer = setRate(second, tokenId, '1.9')
      await Promise.race([untilSessionsWait(test.deps.db), answer])
      return { answer }
    })
    expect(await later.answer).toMatchObject({ status: 202, body: { comparedUsdRate: '0.6' } })
  })

  it('includes, outside demo mode, the first rate of a token that a person records', async () => {
    const tokenId = await newToken()
    test.deps.config.demo = false
    const answer = await setRate(first, tokenId, '0.000001').finally(() => {
      test.deps.config.demo = true
    })
    expect(answer).toMatchObject({ status: 202, body: { comparedUsdRate: null, status: 'held' } })
    expect(await ratesOf(tokenId)).toEqual([])
  })

  it('T64 does not let one platform administrator turn a block by USD value into an allow', async () => {
    await allowAll(vault, 'create_address')
    await allowAll(vault, 'transfer')
    await createPolicy(vault, {
      code: 'large',
      name: 'Large',
      actionType: 'transfer',
      effect: 'block',
      rules: [
        { conditionType: 'require', selectors: [{ selectorType: 'amountUsd', value: { op: 'gt', value: '1000' } }] },
      ],
    })
    const owner = await addMember(test, vault, 'owner@example.org')
    const address = await createAddress(owner, { token: 'USDT' })
    await deposit(test, { address: address.address, asset: usdtContract, amount: '900000' })
    const order = { fromAddressId: address.id, toAddress: fakeAddress('thief'), amount: '900000' }
    const transfer = () => owner.post('/vaults/main-vault/transfers', order)
    const { id } = vault.tokens.usdt
    expect((await transfer()).status).toBe(403)
    expect((await setRate(first, id, '1')).status).toBe(201)
    expect((await transfer()).status).toBe(403)
    const { body, status } = await setRate(first, id, '0.001')
    expect(status).toBe(202)
    expect((await transfer()).status).toBe(403)
    expect((await second.post(`/held-rates/${body.id}/confirm`)).status).toBe(200)
    expect((await transfer()).status).toBe(201)
  })

  it('is announced to all platform administrators, with its outcome', async () => {
    const tokenId = await newToken('LOUD')
    await setRate(first, tokenId, '1')
    const { body } = await setRate(first, tokenId, '0.25')
    await second.post(`/held-rates/${body.id}/confirm`)
    test.clock.advance(61_000)
    await sendNotifications(test.deps)
    const texts = (await outbox.read()).filter(({ text }) => text.includes('"LOUD"'))
    expect(texts.map(({ to }) => to).sort()).toEqual([
      'first@example.org',
      'operator@example.org',
      'second@example.org',
    ])
    const start = 'A USD rate of the token "LOUD" on ethereum was'
    expect(texts[0]!.text).toContain(`${start} set by hand.\n- usdRate: from null to "1"\n`)
    const held = 'held back, because it differs too much from an earlier one; a platform administrator must confirm it'
    expect(texts[0]!.text).toContain(`${start} ${held}.\n- usdRate: from "1" to "0.25"\n`)
    expect(texts[0]!.text).toContain(`${start} held back and is now confirmed.\n`)
    expect(texts[0]!.text).toContain('By: "second (second@example.org)"')
    const records = await test.deps.db
      .selectFrom('audit_records')
      .select('action')
      .where('target_id', '=', tokenId)
      .orderBy('id')
      .execute()
    expect(records.map(({ action }) => action)).toEqual([
      'token.created',
      'token.rate_recorded',
      'token.rate_held',
      'token.rate_confirmed',
    ])
  })

  it('is announced with its cause when it is the first rate, or of a token that a vault with governance uses', async () => {
    const tokenId = await newToken('CAUSE')
    test.deps.config.demo = false
    const answer = await setRate(first, tokenId, '1').finally(() => {
      test.deps.config.demo = true
    })
    expect((await second.post(`/held-rates/${answer.body.id}/confirm`)).status).toBe(200)
    const delays = { loosening_delay_hours: 0, tightening_delay_hours: 0 }
    const governance = { vault_id: vault.id, threshold: 1, ...delays, updated_at: test.clock.now() }
    await test.deps.db.insertInto('governance').values(governance).execute()
    expect((await setRate(first, tokenId, '1.1')).status).toBe(202)
    await sql`with published as (update rules_heads set published_in = pg_current_xact_id() returning true)
      delete from governance where vault_id = ${vault.id}`.execute(test.deps.db)
    test.clock.advance(61_000)
    await sendNotifications(test.deps)
    const { text } = (await outbox.read()).find((mail) => mail.text.includes('"CAUSE"'))!
    expect(text).toContain('was held back, because it is the first rate of the token; a platform')
    expect(text).toContain('was held back, because a vault with governance uses the token; a platform')
  })
})

describe('T64 rates of the provider', () => {
  it('that jump are held once, until a platform administrator confirms the rate that the provider still reports', async () => {
    const tokenId = await newToken('SOLO')
    const steady = await newToken('STEADY')
    await poll({ SOLO: '1', STEADY: '1' })
    await poll({ SOLO: '3', STEADY: '1.1' })
    await poll({ SOLO: '3.1', STEADY: '1.2' })
    expect(await ratesOf(tokenId)).toEqual([1])
    expect(await ratesOf(steady)).toEqual([1, 1.1, 1.2])
    const [held, ...others] = await heldOf(tokenId)
    expect(others).toEqual([])
    expect(held).toMatchObject({ usdRate: '3', comparedUsdRate: '1', source: 'provider', createdById: null })
    expect((await first.post(`/held-rates/${held!.id}/confirm`)).status).toBe(200)
    await poll({ SOLO: '3.2' })
    expect(await ratesOf(tokenId)).toEqual([1, 3, 3.2])
  })

  it('that the provider no longer reports can no longer be confirmed', async () => {
    const tokenId = await newToken('SPIKE')
    await poll({ SPIKE: '1' })
    await poll({ SPIKE: '0.001' })
    await poll({ SPIKE: '0.0001' })
    expect((await heldOf(tokenId)).map(({ usdRate }) => usdRate)).toEqual(['0.0001'])
    await poll({ SPIKE: '1.01' })
    expect(await heldOf(tokenId)).toEqual([])
    expect(await heldOf(tokenId, 'superseded')).toHaveLength(2)
    for (const { id } of await heldOf(tokenId, 'superseded')) {
      expect((await first.post(`/held-rates/${id}/confirm`)).status).toBe(409)
    }
    expect(await ratesOf(tokenId)).toEqual([1, 1.01])
  })

  it('do not replace a rate that a person recorded', async () => {
    const tokenId = await newToken('BOTH')
    await poll({ UNHEARD: '1' })
    await poll({ BOTH: '1' })
    const { body } = await setRate(first, tokenId, '5')
    await poll({ BOTH: '1' })
    expect((await heldOf(tokenId)).map(({ id }) => id)).toEqual([body.id])
    expect((await second.post(`/held-rates/${body.id}/confirm`)).status).toBe(200)
  })
})
