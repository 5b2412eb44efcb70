import { readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openKeyring } from '../keys/keyring.ts'
import { startWallet } from '../start-wallet.ts'
import { testPassphrase } from '../testing/database.ts'
import { authorizeAll, payoutOf } from '../testing/payout.ts'
import { type ProtectedWallet, startProtectedWallet } from '../testing/protected-wallet.ts'
import { authority, authorize, follow, listed, order, signVote, team, unlisted } from '../testing/signing.ts'
import { call, deriveTestAddress, waitFor } from '../testing/wallet-client.ts'
import { hashOf } from './canonical.ts'
import type { Authority } from './documents.ts'
import { pinAuthority, readProtection } from './protection.ts'
import { AuthorityStore, AuthorityUnavailableError } from './store.ts'

const { anna, ben, carla, dora, emil } = team
const coin = authority.rules[0]!

const names =
  'bare plain ordering day forged fees versions files marks removed expired unset replayed redated paying late unfit'.split(
    ' ',
  )
let bench: ProtectedWallet
beforeAll(async () => {
  bench = await startProtectedWallet(names)
})
afterAll(() => bench?.stop())

const fileOf = async (name: string) => join(bench.directory, `${await bench.clientIdOf(name)}.json`)

describe('T58 orders of a protected client', () => {
  test('a signed order is mined; an order with the bearer secret alone, or with other content, is a 403 and is not stored', async () => {
    const { make, token, fromAddress } = await bench.protect('ordering')
    const large = make('large', { amount: '2000', toAddress: unlisted })
    const right = authorize(large, { by: anna, approvers: [ben, carla] })
    for (const [authorization, code] of [
      [null, 'AUTHORIZATION_MISSING'],
      [undefined, 'AUTHORIZATION_MISSING'],
      ['{}', 'AUTHORIZATION_MALFORMED'],
      [authorize(large, { by: anna, approvers: [ben] }), 'VOTES_MISSING'],
      [authorize(make('another'), { by: anna, approvers: [ben, carla] }), 'ORDER_DIFFERS'],
    ] as const) {
      const { status, body } = await bench.hand(token, large, authorization === undefined ? null : authorization)
      expect({ status, details: body.details }).toEqual({ status: 403, details: expect.stringMatching(`^${code}: `) })
    }
    expect((await call(bench.url(), '/transfers/large', { token })).status).toBe(404)
    expect((await bench.hand(token, { ...large, toAddress: listed }, right)).status).toBe(403)
    expect((await bench.hand(token, large, right)).status).toBe(202)
    expect(await bench.settled(token, 'large')).toMatchObject({ status: 'confirmed' })
    const replayed = await bench.hand(token, { ...large, transferId: 'replay' }, right)
    expect(replayed).toMatchObject({ status: 403, body: { details: expect.stringMatching(/^ORDER_DIFFERS: /) } })
    expect(await bench.nonceOf(fromAddress)).toBe(1)
  })

  test('the same order again returns its state, with other votes or none; another signed order under the id is a 409', async () => {
    const { make, token } = await bench.protect('plain')
    const first = make('again', { amount: '1500' })
    expect((await bench.hand(token, first, authorize(first, { by: anna, approvers: [ben, carla] }))).status).toBe(202)
    expect((await bench.hand(token, first, authorize(first, { by: ben, approvers: [anna, carla] }))).status).toBe(202)
    expect((await bench.hand(token, first, null)).status).toBe(202)
    const later = { ...first, expiresAt: new Date(Date.now() + 7_200_000).toISOString() }
    expect((await bench.hand(token, later, authorize(later, { by: anna, approvers: [ben, carla] }))).status).toBe(409)
    expect((await bench.hand(token, { ...first, amount: '1501' }, null)).status).toBe(409)
  })

  test('a client without an authority refuses signed orders, and has no authority to show', async () => {
    const token = bench.tokenOf('bare')
    const derivationPath = 'm/44/60/0/99'
    const fromAddress = await deriveTestAddress(bench.url(), derivationPath, token)
    const signed = { ...order, derivationPath, fromAddress, toAddress: listed, amount: '7' }
    expect(await bench.hand(token, signed)).toMatchObject({
      status: 403,
      body: { details: expect.stringMatching(/^AUTHORITY_VERSION_DIFFERS: /) },
    })
    expect((await bench.send(token, '/authority')).status).toBe(404)
    expect((await bench.send(token, '/authority', { authority, votes: [] })).status).toBe(404)
  })

  test('the limit of 24 hours holds for simultaneous orders together, and for forged orders', async () => {
    const { make, sign, token, clientId } = await bench.protect('day', {
      rules: [{ ...coin, floors: [], perDay: '100' }],
    })
    const orders = Array.from({ length: 8 }, (_, index) => make(`day-${index}`, { amount: '30' }))
    const answers = await Promise.all(orders.map((order) => bench.hand(token, order, sign(order))))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, 403, 403, 403, 403, 403])
    expect(answers.find(({ status }) => status === 403)?.body.details).toMatch(/^PER_DAY_EXCEEDED: 90 of 100/)
    const late = make('day-forged', { amount: '30' })
    await bench.forge(clientId, late, sign(late))
    expect((await bench.settled(token, 'day-forged')).failureReason).toMatch(
      /^AUTHORIZATION_REFUSED: PER_DAY_EXCEEDED: /,
    )
    await dateBack(clientId)
    const next = make('day-next', { amount: '100' })
    expect((await bench.hand(token, next, sign(next))).status).toBe(202)
  })
})

describe('T58 rows of a payout', () => {
  test('are mined once each when people signed the payout once; foreign, repeated, altered or unvoted rows are not', async () => {
    const { make, token, clientId, fromAddress } = await bench.protect('paying')
    const rows = [400, 500, 600].map((amount, i) => make(`row-${i}`, { amount: String(amount), toAddress: unlisted }))
    const handed = (i: number, authorization: unknown, signed = rows[i]!) => bench.hand(token, signed, authorization)
    const [first, second, third] = authorizeAll(rows, { by: anna, approvers: [ben, carla] })
    // Each row alone would need one vote, and together they need two.
    const [ofOne] = authorizeAll(rows, { by: anna, approvers: [ben] })
    const low = payoutOf(rows).sums.map((sum) => ({ ...sum, amount: '999' }))
    const [ofLow] = authorizeAll(rows, { by: anna, approvers: [ben, carla] }, payoutOf(rows, { sums: low }))
    const elsewhere = { ...rows[0]!, toAddress: listed }
    const added = make('row-9', { amount: '1', toAddress: unlisted })
    for (const [answer, code] of [
      [await handed(0, ofOne), 'VOTES_MISSING'],
      [await handed(0, ofLow), 'NOT_IN_PAYOUT'],
      [await handed(0, first, elsewhere), 'ORDER_DIFFERS'],
      [await handed(0, { ...first, order: elsewhere }, elsewhere), 'NOT_IN_PAYOUT'],
      [await handed(0, { ...first, order: added }, added), 'NOT_IN_PAYOUT'],
      [await handed(0, { ...first, batch: second!.batch }), 'NOT_IN_PAYOUT'],
      [await handed(0, { ...first, batch: undefined }), 'ORDER_DIFFERS'],
    ] as const) {
      expect(answer).toMatchObject({ status: 403, body: { details: expect.stringMatching(`^${code}: `) } })
    }
    for (const [i, authorization] of [first, second, third, first].entries())
      expect(await handed(i % 3, authorization)).toMatchObject({ status: 202 })
    for (const { transferId } of rows) expect((await bench.settled(token, transferId)).status).toBe('confirmed')
    // A row under another id, and a row that was written into the table with an honest place.
    const again = { ...rows[0]!, transferId: 'row-again' }
    expect((await handed(0, first, again)).body.details).toMatch(/^ORDER_DIFFERS: /)
    await bench.forge(clientId, again, first!)
    expect((await bench.settled(token, 'row-again')).failureReason).toMatch(/^AUTHORIZATION_REFUSED: ORDER_DIFFERS: /)
    expect(await bench.nonceOf(fromAddress)).toBe(3)
  })
})

describe('T58 before anything is signed', () => {
  test('a row that was written straight into the table is not signed, and uses no nonce', async () => {
    const { make, token, clientId, fromAddress } = await bench.protect('forged')
    const bare = make('forged-bare')
    await bench.forge(clientId, bare, null)
    const signed = make('forged-signed')
    await bench.forge(clientId, { ...signed, toAddress: unlisted }, authorize(signed, { by: anna }))
    const replayed = make('forged-replay')
    await bench.forge(clientId, replayed, authorize(signed, { by: anna }))
    const stolen = make('forged-broken')
    await bench.forge(clientId, stolen, { order: stolen } as never)
    for (const [id, code] of [
      ['forged-bare', 'AUTHORIZATION_MISSING'],
      ['forged-signed', 'ORDER_DIFFERS'],
      ['forged-replay', 'ORDER_DIFFERS'],
      ['forged-broken', 'AUTHORIZATION_MALFORMED'],
    ]) {
      expect(await bench.settled(token, id!)).toMatchObject({
        status: 'failed',
        txHash: null,
        failureReason: expect.stringMatching(`^AUTHORIZATION_REFUSED: ${code}: `),
      })
    }
    expect(await bench.nonceOf(fromAddress)).toBe(0)
    // Right signatures move what they say, even if the row did not come through the protocol.
    const honest = make('forged-honest')
    await bench.forge(clientId, honest, authorize(honest, { by: anna }))
    expect(await bench.settled(token, 'forged-honest')).toMatchObject({ status: 'confirmed' })
    const { rows } = await bench.pool.query("select nonce from wallet.transfers where id = 'forged-honest'")
    expect(rows[0].nonce).toBe('0')
  })

  test('an order that was mined is not signed again, whatever the database says about it', async () => {
    const { make, token, clientId, fromAddress } = await bench.protect('replayed')
    const paid = make('paid-once')
    const authorization = authorize(paid, { by: anna })
    await bench.hand(token, paid, authorization)
    expect(await bench.settled(token, 'paid-once')).toMatchObject({ status: 'confirmed' })
    const tx = await bench.pool.connect()
    await tx.query('set session_replication_role = replica')
    await tx.query("delete from wallet.transactions where id = 'paid-once'")
    await tx.query("delete from wallet.transfers where id = 'paid-once'")
    await tx.query('set session_replication_role = origin')
    tx.release()
    expect(await bench.hand(token, paid, authorization)).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^ALREADY_SIGNED: /) },
    })
    await bench.forge(clientId, paid, authorization)
    await bench.untilWaits('paid-once', 'ALREADY_SIGNED: ')
    expect(await bench.stateOf(token, 'paid-once')).toMatchObject({ status: 'queued', txHash: null })
    await bench.chain.setBalance(fromAddress, 0n)
    await bench.untilWaits('paid-once', 'ALREADY_SIGNED: the order may have been mined; INSUFFICIENT_FUNDS: ')
    expect(await bench.stateOf(token, 'paid-once')).toMatchObject({ status: 'queued', txHash: null })
    expect(await bench.nonceOf(fromAddress)).toBe(1)
  })

  test('orders that are dated back make no room within the amount of a day', async () => {
    const { make, sign, token, clientId, fromAddress } = await bench.protect('redated', {
      rules: [{ ...coin, floors: [], perDay: '100' }],
    })
    const [first, second] = [make('dated-1', { amount: '60' }), make('dated-2', { amount: '60' })]
    await bench.hand(token, first, sign(first))
    await bench.settled(token, 'dated-1')
    await dateBack(clientId)
    expect((await bench.hand(token, second, sign(second))).status).toBe(202)
    await bench.untilWaits('dated-2', 'PER_DAY_EXCEEDED: 60 of 100')
    expect(await bench.nonceOf(fromAddress)).toBe(1)
  })

  test('a vault whose mnemonic was copied to a client of the attacker does not open there', async () => {
    const { make, clientId } = await bench.protect('removed')
    const copyId = 'aaaaaaaa-0000-4000-8000-000000000001'
    await bench.pool.query(
      `insert into wallet.clients (id, name, token_hash, sealed_mnemonic)
       select $2, 'copy', sha256('token-of-the-copied-client-1'), sealed_mnemonic from wallet.clients where id = $1`,
      [clientId, copyId],
    )
    const copied = make('copied')
    const keyring = await openKeyring(bench.pool, testPassphrase)
    await expect(keyring.privateKey(copyId, "m/44'/60'/0'/0")).rejects.toThrow()
    await bench.forge(copyId, copied, null)
    await waitFor('the attempt to sign', async () => {
      const { rows } = await bench.pool.query("select last_error from wallet.transfers where id = 'copied'")
      return rows[0].last_error !== null
    })
    expect((await bench.pool.query("select nonce from wallet.transfers where id = 'copied'")).rows[0].nonce).toBeNull()
    await bench.pool.query("delete from wallet.transfers where id = 'copied'")
  })

  test('an order that waited until it expired, or until a key was removed, is not signed', async () => {
    const { make, token, pinned, clientId } = await bench.protect('expired')
    const soon = make('soon', { maxFee: '1', expiresAt: new Date(Date.now() + 1_500).toISOString() })
    expect((await bench.hand(token, soon)).status).toBe(202)
    expect((await bench.settled(token, 'soon')).failureReason).toMatch(/^AUTHORIZATION_REFUSED: ORDER_EXPIRED: /)
    const waiting = make('waiting', { maxFee: '1' })
    expect((await bench.hand(token, waiting)).status).toBe(202)
    const next = follow(pinned, { keys: pinned.keys.filter(({ person }) => person !== 'carla'), rules: [coin] }, [
      dora,
      emil,
    ])
    expect((await call(bench.url(), '/authority', { body: next, token })).status).toBe(200)
    expect((await bench.settled(token, 'waiting')).failureReason).toMatch(
      /^AUTHORIZATION_REFUSED: AUTHORITY_VERSION_DIFFERS: /,
    )
    const byRemoved = make('by-removed', { amount: '2000' })
    const votes = authorize(byRemoved, { by: anna, approvers: [ben, carla], under: next.authority })
    expect((await bench.hand(token, byRemoved, votes)).body.details).toMatch(/^KEY_UNKNOWN: /)
    expect((await readProtection(bench.pool, new AuthorityStore(bench.directory), clientId))?.version).toBe(2)
  })
})

test('T58 a speed-up never costs more than people signed, and is refused for a changed row; a cancellation is only limited', async () => {
  const { make, token, clientId } = await bench.protect('fees')
  await bench.chain.setAutomine(false)
  try {
    const price = (await bench.faucet.getBlock()).baseFeePerGas!
    const stuck = make('stuck', { maxFee: (21_000n * price * 20n).toString() })
    expect((await bench.hand(token, stuck)).status).toBe(202)
    const broadcast = () =>
      waitFor('the broadcast', async () => {
        const { status, txHash } = await bench.stateOf(token, 'stuck')
        return status === 'broadcast' && txHash
      })
    const first = await broadcast()
    const replace = (action: string, txHash: string, maxFee?: string) =>
      call<{ details: string; txHash: string }>(bench.url(), `/transfers/stuck/${action}`, {
        token,
        body: { txHash, ...(maxFee ? { maxFee } : {}) },
      })
    const dear = (BigInt(stuck.maxFee!) + 1n).toString()
    expect(await replace('speed-up', first, dear)).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^ABOVE_MAX_FEE: people signed/) },
    })
    const quick = await replace('speed-up', first)
    expect(quick).toMatchObject({ status: 202 })
    expect(quick.body.txHash).not.toBe(first)
    await bench.pool.query('update wallet.transfers set to_address = $2 where client_id = $1', [clientId, unlisted])
    const changed = await replace('speed-up', quick.body.txHash)
    expect(changed).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^AUTHORIZATION_REFUSED: ORDER_DIFFERS: /) },
    })
    const quote = await call<{ speedUp: object; cancelOnChain: object }>(bench.url(), '/transfers/stuck/replacement', {
      token,
    })
    expect(quote.body).toMatchObject({
      speedUp: { refusal: expect.stringMatching(/^AUTHORIZATION_REFUSED/) },
      cancelOnChain: { maxFee: expect.any(String) },
    })
    expect(await replace('cancel-on-chain', quick.body.txHash, dear)).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^ABOVE_MAX_FEE: people signed/) },
    })
    const cancelled = await replace('cancel-on-chain', quick.body.txHash)
    expect(cancelled.status).toBe(202)
    await waitFor('the cancellation to be in the pool', () =>
      bench.faucet.getTransaction({ hash: cancelled.body.txHash as Hex }).then(
        () => true,
        () => false,
      ),
    )
    await bench.chain.mine()
    expect((await bench.settled(token, 'stuck')).failureReason).toMatch(/^CANCELLED: /)
  } finally {
    await bench.chain.setAutomine(true)
    await bench.chain.mine()
  }
})

describe('T59 the version never goes back', () => {
  test('the people who may change the authority put its next version in force, once', async () => {
    const { pinned, token } = await bench.protect('versions')
    const show = () =>
      call<{ version: number; hash: string; authority: Authority }>(bench.url(), '/authority', { token })
    expect((await show()).body).toEqual({ authority: pinned, version: 1, hash: hashOf(pinned), pending: null })
    const next = follow(pinned, { addresses: [], rules: [coin] }, [dora, emil])
    const update = (body: object) =>
      call<{ version: number; details: string }>(bench.url(), '/authority', { token, body })
    expect(await update({ ...next, votes: next.votes.slice(1) })).toMatchObject({
      status: 403,
      body: { details: expect.stringMatching(/^VOTES_MISSING: /) },
    })
    expect(await update({ ...next, votes: [] })).toMatchObject({ status: 403 })
    expect(await update({ authority: 'none', votes: [] })).toMatchObject({
      status: 403,
      body: { details: expect.stringMatching(/^AUTHORIZATION_MALFORMED: /) },
    })
    expect(await update(next)).toMatchObject({ status: 200, body: { version: 2 } })
    expect(await update(next)).toMatchObject({ status: 200, body: { version: 2 } })
    const back = follow(pinned, { rules: [coin] }, [dora, emil])
    expect(await update(back)).toMatchObject({
      status: 403,
      body: { details: expect.stringMatching(/^AUTHORITY_VERSION_DIFFERS: /) },
    })
    expect(await update({ authority: pinned, votes: [] })).toMatchObject({ status: 403 })
    expect((await show()).body).toMatchObject({ version: 2, hash: hashOf(next.authority) })
    await expect(
      pinAuthority(bench.pool, new AuthorityStore(bench.directory), await bench.clientIdOf('versions'), pinned),
    ).rejects.toThrow('already')
    await expect(
      bench.pool.query("update wallet.clients set authority_version = 1 where name = 'versions'"),
    ).rejects.toThrow('cannot go back')
    await expect(
      bench.pool.query(
        "update wallet.clients set authority_version = null, authority_hash = null where name = 'versions'",
      ),
    ).rejects.toThrow('cannot go back')
  })

  test('T81 a version waits, one fewer than its signers cancel it for good, and it comes into force late', async () => {
    const { pinned, token, clientId, make, sign } = await bench.protect('late', { delayHours: 24 })
    const send = (path: string, body: object) =>
      call<{ version: number; details: string; pending: { version: number; hash: string } | null }>(bench.url(), path, {
        token,
        body,
      })
    const next = follow(pinned, { addresses: [], rules: [coin] }, [dora, emil])
    const hash = hashOf(next.authority)
    const waiting = { status: 200, body: { version: 1, pending: { version: 2, hash } } }
    expect(await send('/authority', next)).toMatchObject(waiting)
    expect(await send('/authority', next)).toMatchObject(waiting)
    const honest = make('while-it-waits')
    expect((await bench.hand(token, honest, sign(honest))).status).toBe(202)
    const other = follow(pinned, { contacts: [], rules: [coin] }, [dora, emil])
    expect(await send('/authority', other)).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^VERSION_PENDING: /) },
    })
    const about = { subject: 'authority', hash, authority: hashOf(pinned) } as const
    const refused = async (votes: object[], code: string) =>
      expect((await send('/authority/cancel', { votes })).body.details).toMatch(new RegExp(`^${code}: `))
    const refusedAs = async (status: number, votes: unknown) =>
      expect((await send('/authority/cancel', { votes } as object)).status).toBe(status)
    await refused([], 'VOTES_MISSING')
    await refused([signVote(dora, { ...about, decision: 'approve' })], 'VOTES_MISSING')
    await refused([signVote(ben, { ...about, decision: 'reject' })], 'VOTES_MISSING')
    await refused([signVote(dora, { ...about, hash: hashOf(other.authority), decision: 'reject' })], 'ORDER_DIFFERS')
    const votes = [signVote(emil, { ...about, decision: 'reject' })]
    expect(await send('/authority/cancel', { votes })).toMatchObject({ status: 200, body: { pending: null } })
    expect(await send('/authority/cancel', { votes })).toMatchObject({
      status: 200,
      body: { version: 1, pending: null },
    })
    await refusedAs(404, [signVote(emil, { ...about, hash: hashOf(other.authority), decision: 'reject' })])
    await refusedAs(404, [])
    await refusedAs(403, [signVote(ben, { ...about, decision: 'reject' })])
    expect((await send('/authority', next)).body.details).toMatch(/^VERSION_CANCELLED: /)

    expect((await send('/authority', other)).body.pending?.version).toBe(2)
    const file = await fileOf('late')
    const content = JSON.parse(await readFile(file, 'utf8'))
    content.versions[1].inForceAt = new Date(Date.now() - 1).toISOString()
    await writeFile(file, JSON.stringify(content))
    expect((await readProtection(bench.pool, new AuthorityStore(bench.directory), clientId))?.version).toBe(2)
  })

  test('T81 keys of another page, and decimals that the chain does not have, are put in no version', async () => {
    const { pinned, token } = await bench.protect('unfit')
    const codeOf = async (changes: Partial<Authority>) => {
      const body = follow(pinned, changes, [dora, emil])
      return (await call<{ details: string }>(bench.url(), '/authority', { token, body })).body.details
    }
    expect(await codeOf({ trustsServicePage: false, rules: [coin] })).toMatch(/^KEY_OF_ANOTHER_PAGE: /)
    expect(await codeOf({ rules: [{ ...coin, decimals: 6 }] })).toMatch(/^DECIMALS_DIFFER: .* 18 decimals, not 6/)
  })

  test('a database that was restored without its mark is protected by the file, and gets the mark again at the next start', async () => {
    const { make, token, clientId, pinned } = await bench.protect('marks')
    const next = follow(pinned, { rules: [coin] }, [dora, emil])
    expect((await call(bench.url(), '/authority', { token, body: next })).status).toBe(200)
    await unmark(clientId, null, null)
    expect((await bench.hand(token, make('unmarked'), null)).body.details).toMatch(/^AUTHORIZATION_MISSING: /)
    await unmark(clientId, 1, hashOf(pinned))
    expect((await bench.hand(token, make('older-mark'))).body.details).toMatch(/^AUTHORITY_VERSION_DIFFERS: /)
    await bench.restart()
    const { rows } = await bench.pool.query(
      'select authority_version, authority_hash from wallet.clients where id = $1',
      [clientId],
    )
    expect(rows[0]).toEqual({ authority_version: 2, authority_hash: hashOf(next.authority) })
  })

  test('nothing is signed while the file is lost, older, forged or unreadable', async () => {
    const { make, token, clientId, pinned } = await bench.protect('files')
    const file = await fileOf('files')
    const first = await readFile(file)
    const next = follow(pinned, { rules: [coin] }, [dora, emil])
    // The file may be ahead of the mark by one version, and only by one that its people signed.
    const begun = { authority: pinned, votes: [] }
    const later = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const third = { ...follow(next.authority, { rules: [coin] }, [dora, emil]), inForceAt: later(2) }
    for (const [versions, reason] of [
      [[begun, { ...next, votes: [] }], 'VOTES_MISSING'],
      [[begun, { ...next, inForceAt: later(1) }, third], 'more than one version waits'],
      [[{ ...next, votes: [] }], 'does not begin with version 1'],
    ] as const) {
      await writeFile(file, JSON.stringify({ format: 'strongroom-authorities-1', versions }))
      const read = readProtection(bench.pool, new AuthorityStore(bench.directory), clientId)
      await expect(read).rejects.toThrow(reason)
    }
    await writeFile(file, first)
    expect((await call(bench.url(), '/authority', { token, body: next })).status).toBe(200)
    const second = await readFile(file)
    // Somebody who may write the file, and nothing else, puts an authority of their own into it.
    const weak = { ...pinned, rules: [{ ...coin, floors: [], perDay: null }] }
    const forged = JSON.stringify({ format: 'strongroom-authorities-1', versions: [{ authority: weak, votes: [] }] })
    const weakNext = follow(weak, {}, [dora])
    const chained = JSON.stringify({
      format: 'strongroom-authorities-1',
      versions: [{ authority: weak, votes: [] }, weakNext],
    })
    // The versions of this file verify, but the version in force is not among them.
    const versions = [{ authority: weak, votes: [] }, follow(weak, {}, [dora, emil])]
    const another = JSON.stringify({ format: 'strongroom-authorities-1', versions })
    for (const content of [null, first, forged, chained, another, '{', second.subarray(0, 400)]) {
      if (content === null) await unlink(file)
      else await writeFile(file, content)
      await expect(readProtection(bench.pool, new AuthorityStore(bench.directory), clientId)).rejects.toThrow(
        AuthorityUnavailableError,
      )
    }
    await bench.restart(() => writeFile(file, first))
    const refused = make('files-older')
    expect((await bench.hand(token, refused)).status).toBe(503)
    expect((await call(bench.url(), '/authority', { token })).status).toBe(503)
    await bench.forge(clientId, refused, authorize(refused, { by: anna }))
    await bench.untilWaits('files-older', 'AUTHORITY_UNAVAILABLE: ')
    await writeFile(file, second)
    const row = make('files-back')
    expect((await bench.hand(token, row, authorize(row, { by: anna, under: next.authority }))).status).toBe(202)
    expect(await bench.settled(token, 'files-back')).toMatchObject({ status: 'confirmed' })
    // A running service notices at once.
    await writeFile(file, first)
    expect((await call(bench.url(), '/authority', { token })).status).toBe(503)
    // Also when the database goes back with the file, or both forget that the client is protected.
    await unmark(clientId, 1, hashOf(pinned))
    expect((await call(bench.url(), '/authority', { token })).status).toBe(503)
    await unlink(file)
    await unmark(clientId, null, null)
    expect((await call(bench.url(), '/authority', { token })).status).toBe(503)
    await writeFile(file, second)
    expect((await call(bench.url(), '/authority', { token })).status).toBe(200)
  })

  test('a protected client is not served without AUTHORITY_DIR, and the service does not start without the directory', async () => {
    const { token } = await bench.protect('unset')
    const { authorityDir, ...config } = bench.config
    await bench.restart(async () => {
      const bare = await startWallet(config)
      const { status } = await call(bare.url, '/authority', { token })
      await bare.stop()
      expect(status).toBe(503)
      const unmounted = { ...config, authorityDir: join(bench.directory, 'unmounted') }
      await expect(startWallet(unmounted)).rejects.toThrow('AUTHORITY_DIR')
    })
  })
})

const dateBack = (clientId: string) =>
  bench.pool.query("update wallet.transfers set created_at = created_at - interval '25 hours' where client_id = $1", [
    clientId,
  ])

/** Sets the authority of a client back, as a restore of the database does: the triggers do not run. */
async function unmark(clientId: string, version: number | null, hash: string | null) {
  await bench.pool.query('alter table wallet.clients disable trigger clients_authority_never_back')
  await bench.pool.query('update wallet.clients set authority_version = $2, authority_hash = $3 where id = $1', [
    clientId,
    version,
    hash,
  ])
  await bench.pool.query('alter table wallet.clients enable trigger clients_authority_never_back')
}
