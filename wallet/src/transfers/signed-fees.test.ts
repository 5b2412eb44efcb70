import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Hex, keccak256, parseTransaction } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ProtectedWallet, type Refused, type State, startProtectedWallet } from '../testing/protected-wallet.ts'
import { authorize, team } from '../testing/signing.ts'

const gwei = 1_000_000_000n
const plainGas = 21_000n
/** The fee limit that an attacker names. */
const boundless = (10n ** 24n).toString()

let bench: ProtectedWallet

beforeAll(async () => {
  bench = await startProtectedWallet(['bearer', 'unlimited', 'rows', 'again'])
})
afterEach(async () => {
  await bench.chain.setAutomine(true)
  await bench.chain.mine(gwei)
})
afterAll(() => bench?.stop())

type Action = 'speed-up' | 'cancel-on-chain'
const replace = (token: string, id: string, action: Action, body: { txHash: string | null; maxFee?: string }) =>
  bench.send<State & Refused>(token, `/transfers/${id}/${action}`, body)

/** The most that any transaction of the transfer can pay in fees: they share a nonce, so one of them pays. */
async function dearestOf(id: string): Promise<bigint> {
  const { rows } = await bench.pool.query('select raw_transaction from wallet.transactions where id = $1', [id])
  const fees = rows.map(({ raw_transaction }) => {
    const { gas, maxFeePerGas } = parseTransaction(raw_transaction as Hex)
    return gas! * maxFeePerGas!
  })
  return fees.sort((a, b) => (a < b ? 1 : -1))[0] ?? 0n
}

/** Cancels as often as the wallet service permits to a holder of the secret. */
async function cancelUntilRefused(token: string, id: string, maxFee?: string) {
  for (let count = 0; count < 60; count += 1) {
    const { txHash } = await bench.stateOf(token, id)
    const answer = await replace(token, id, 'cancel-on-chain', { txHash, ...(maxFee ? { maxFee } : {}) })
    if (answer.status !== 202) return { count, details: answer.body.details }
  }
  throw new Error('it was never refused')
}

describe('T58 the fee of an order stays within its signed limit', () => {
  test('cancellations with a limit of their own pay no more than the maxFee that people signed', async () => {
    const { make, token } = await bench.protect('bearer')
    await bench.chain.setAutomine(false)
    await bench.chain.mine(gwei)
    const maxFee = plainGas * gwei * 10n
    await bench.hand(token, make('bearer-1', { maxFee: maxFee.toString() }))
    await bench.untilBroadcast(token, 'bearer-1')
    const cancellation = await replace(token, 'bearer-1', 'cancel-on-chain', {
      txHash: (await bench.stateOf(token, 'bearer-1')).txHash,
      maxFee: boundless,
    })
    expect(cancellation).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^ABOVE_MAX_FEE: people signed/) },
    })
    const { count, details } = await cancelUntilRefused(token, 'bearer-1', maxFee.toString())
    expect(count).toBeGreaterThan(0)
    expect(details).toMatch(/^ABOVE_MAX_FEE: /)
    expect(
      (
        await replace(token, 'bearer-1', 'cancel-on-chain', {
          txHash: (await bench.stateOf(token, 'bearer-1')).txHash,
          maxFee: boundless,
        })
      ).status,
    ).toBe(409)
    expect(await dearestOf('bearer-1')).toBeLessThanOrEqual(maxFee)
  })

  test('an order without maxFee pays twice the highest level of its first signing at most, whatever is asked later', async () => {
    const { make, token } = await bench.protect('unlimited')
    await bench.chain.setAutomine(false)
    await bench.chain.mine(gwei)
    await bench.hand(token, make('unlimited-1'))
    await bench.untilBroadcast(token, 'unlimited-1')
    const file = join(bench.directory, `${await bench.clientIdOf('unlimited')}.signed`)
    const { maxFee } = JSON.parse((await readFile(file, 'utf8')).trim())
    expect(BigInt(maxFee)).toBeGreaterThan(await dearestOf('unlimited-1'))
    expect(BigInt(maxFee)).toBeLessThan(plainGas * gwei * 20n)
    // The network asks for 50 times as much, and the limit does not follow.
    const rise = () => bench.chain.mine(gwei * 50n)
    await rise()
    for (const action of ['speed-up', 'cancel-on-chain'] as const) {
      const { txHash } = await bench.stateOf(token, 'unlimited-1')
      for (const limit of [undefined, boundless]) {
        const answer = await replace(token, 'unlimited-1', action, { txHash, ...(limit ? { maxFee: limit } : {}) })
        expect(answer).toMatchObject({ status: 409, body: { details: expect.stringMatching(/^ABOVE_MAX_FEE: /) } })
      }
    }
    await bench.chain.mine(gwei * 5n)
    expect((await cancelUntilRefused(token, 'unlimited-1')).details).toMatch(/^ABOVE_MAX_FEE: /)
    expect(await dearestOf('unlimited-1')).toBeLessThanOrEqual(BigInt(maxFee))
  })

  test('rows in the database of the wallet service have no transaction signed that no order permits', async () => {
    const { make, token, clientId, fromAddress } = await bench.protect('rows')
    await bench.chain.setAutomine(false)
    await bench.chain.mine(gwei)
    const unsigned = make('rows-unsigned', { amount: '2000', maxFee: boundless })
    const small = make('rows-small', { maxFee: (plainGas * gwei * 4n).toString() })
    // An order without votes, a signed order with another limit, and a signed order with another nonce.
    await bench.forge(clientId, unsigned, authorize(unsigned, { by: team.anna }))
    await bench.hand(token, small)
    await bench.untilBroadcast(token, 'rows-small')
    await asBroadcast('rows-unsigned', 5)
    const attempt = async (id: string) =>
      replace(token, id, 'cancel-on-chain', { txHash: (await bench.stateOf(token, id)).txHash, maxFee: boundless })
    expect(await attempt('rows-unsigned')).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^AUTHORIZATION_REFUSED: /) },
    })
    await bench.pool.query("update wallet.transfers set max_fee = $1 where id = 'rows-small'", [boundless])
    expect(await attempt('rows-small')).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^ABOVE_MAX_FEE: /) },
    })
    const dearer = { ...small, maxFee: boundless }
    await bench.pool.query("update wallet.transfers set signed_order = $1 where id = 'rows-small'", [
      JSON.stringify({ ...authorize(small, { by: team.anna }), order: dearer }),
    ])
    expect(await attempt('rows-small')).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^AUTHORIZATION_REFUSED: /) },
    })
    await bench.pool.query("update wallet.transfers set signed_order = $1 where id = 'rows-small'", [
      JSON.stringify(authorize(small, { by: team.anna })),
    ])
    // The signed order with another nonce, and with another path.
    for (const change of ['nonce = 7', "nonce = 0, derivation_path = 'm/44/60/0/9'"]) {
      await inReplica(`update wallet.transfers set ${change} where id = 'rows-small'`)
      const { txHash } = await bench.stateOf(token, 'rows-small')
      expect(await replace(token, 'rows-small', 'cancel-on-chain', { txHash })).toMatchObject({
        status: 409,
        body: { details: expect.stringMatching(/^AUTHORIZATION_REFUSED: ORDER_DIFFERS: /) },
      })
    }
    expect(await bench.nonceOf(fromAddress)).toBe(0)
  })

  test('a row that looks unsigned again, with its nonce, is not signed again for more', async () => {
    const { make, token, clientId, fromAddress } = await bench.protect('again')
    await bench.chain.setAutomine(false)
    await bench.chain.mine(gwei)
    const order = make('again-1')
    const authorization = authorize(order, { by: team.anna })
    await bench.hand(token, order, authorization)
    const hash = await bench.untilBroadcast(token, 'again-1')
    await bench.chain.drop(hash)
    await bench.chain.mine(gwei * 50n)
    await inReplica(
      "delete from wallet.transactions where id = 'again-1'",
      "delete from wallet.transfers where id = 'again-1'",
      `update wallet.nonces set next_nonce = 0 where address = '${fromAddress}'`,
    )
    await bench.forge(clientId, order, authorization)
    await bench.untilWaits('again-1', 'ABOVE_MAX_FEE: ')
    expect(await dearestOf('again-1')).toBe(0n)
  })
})

/** Makes the row say that a transaction waits with the nonce, although nobody signed it. */
async function asBroadcast(id: string, nonce: number) {
  const [known] = (await bench.pool.query('select raw_transaction from wallet.transactions limit 1')).rows
  const raw = known.raw_transaction as Hex
  const hash = keccak256(`${raw}00`)
  await inReplica(
    `update wallet.transfers set status = 'broadcast', failure_reason = null, nonce = ${nonce}, raw_transaction = '${raw}',
       tx_hash = '${hash}', max_cost = 1 where id = '${id}'`,
    `insert into wallet.transactions (client_id, id, number, nonce, kind, raw_transaction, tx_hash)
     select client_id, id, 0, ${nonce}, 'payment', '${raw}', '${hash}' from wallet.transfers where id = '${id}'`,
  )
}

/** Runs statements as the owner of the database, without triggers. */
async function inReplica(...statements: string[]) {
  const tx = await bench.pool.connect()
  await tx.query('set session_replication_role = replica')
  for (const statement of statements) await tx.query(statement)
  await tx.query('set session_replication_role = origin')
  tx.release()
}
