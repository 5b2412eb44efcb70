import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WalletError } from '../../errors.ts'
import { litecoinProgram } from '../../testing/litecoin-node.ts'
import { openUtxoWallet, type UtxoWallet } from '../../testing/utxo-wallet.ts'

const seeds = Number(process.env.SCHEDULES ?? 50)

/** Numbers that follow from a seed (mulberry32). */
function randomOf(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

// The tests of a node are counted as skipped where its program is not installed (Debian: litecoind).
describe.skipIf(litecoinProgram === null).each(['bitcoin', 'litecoin'] as const)('%s', (type) => {
  let wallet: UtxoWallet

  beforeAll(async () => {
    // Deeper than any reorganisation below.
    wallet = await openUtxoWallet(type, { confirmations: 4 })
  }, 60_000)
  afterAll(async () => await wallet?.stop())

  test(`${seeds} random schedules of payments, speed-ups, cancellations, reorganisations and starts pay at most once`, async () => {
    const counts = { paid: 0, cancelled: 0, spedUp: 0, reorganised: 0 }
    for (let seed = 1; seed <= seeds; seed += 1) await run(seed, counts)
    expect(counts.paid).toBeGreaterThan(seeds)
    expect(counts.reorganised).toBeGreaterThan(seeds / 4)
    if (type === 'bitcoin') expect(counts.spedUp).toBeGreaterThan(seeds / 2)
  }, 300_000)

  type Counts = { paid: number; cancelled: number; spedUp: number; reorganised: number }

  async function run(seed: number, counts: Counts): Promise<void> {
    const random = randomOf(seed)
    const derivationPath = `m/44/${wallet.parameters.coinType}/${seed}/0`
    const fromAddress = await wallet.derive(derivationPath)
    const deposit = await wallet.payFrom(fromAddress, 20_000_000n)
    await wallet.node.rpc.call('sendrawtransaction', [deposit.raw])
    await wallet.mine(4)
    await wallet.follow()
    const floor = (await wallet.node.rpc.call('getblockcount')) as number
    const ids: string[] = []
    const replace = async (kind: 'payment' | 'cancellation') => {
      const id = ids[random(ids.length)]
      if (id === undefined) return
      await wallet.replace(id, kind).then(
        () => (counts.spedUp += 1),
        (error: unknown) => {
          if (!(error instanceof WalletError)) throw error
        },
      )
    }
    for (let step = 0; step < 14; step += 1) {
      const action = random(10)
      if (action < 3) {
        const id = `${type}-${seed}-${step}`
        ids.push(id)
        await wallet.order(id, { derivationPath, fromAddress, toAddress: recipientOf(seed, step), amount: 1_000_000n })
      } else if (action < 5) await wallet.send()
      else if (action === 5) await replace('payment')
      else if (action === 6) await replace('cancellation')
      else if (action === 7) await mineAny(random)
      else if (action === 8) await reorganise(random, floor, counts)
      else await wallet.restart()
      if (random(3) === 0) await wallet.follow()
    }
    for (let round = 0; round < 12 && (await isAnyOpen(seed)); round += 1) {
      await wallet.follow()
      await wallet.send()
      await wallet.mine(4)
    }
    await wallet.follow()
    await wallet.follow()
    for (const [position, id] of ids.entries()) {
      const transfer = await wallet.read(id)
      const { status, to_address } = transfer
      const received = await wallet.balanceOf(to_address)
      // People release what can never be mined, because another transaction took the place of its parent.
      if (status !== 'confirmed' && status !== 'failed' && (await wallet.chain().findRival(transfer)) !== null) {
        expect([seed, id, received]).toEqual([seed, id, 0n])
        continue
      }
      expect([seed, position, id, status, received]).toEqual([
        seed,
        position,
        id,
        status === 'confirmed' ? 'confirmed' : 'failed',
        status === 'confirmed' ? 1_000_000n : 0n,
      ])
      counts[status === 'confirmed' ? 'paid' : 'cancelled'] += 1
    }
    expect([seed, await wallet.booksOf(fromAddress)]).toEqual([seed, await wallet.balanceOf(fromAddress)])
  }

  const recipientOf = (seed: number, step: number) => wallet.recipient(seed * 100 + step)

  /** Ignores transfers that can never be mined: they stay open until people release them. */
  async function isAnyOpen(seed: number): Promise<boolean> {
    const { rowCount } = await wallet.pool.query(
      `select from wallet.transfers
       where id like $1 and status in ('queued', 'broadcast') and wallet.rival_of(client_id, id) is null`,
      [`${type}-${seed}-%`],
    )
    return (rowCount ?? 0) > 0
  }

  /** Mines one variant of one transfer, which the node need not have. */
  async function mineAny(random: (below: number) => number): Promise<void> {
    const { rows } = await wallet.pool.query<{ raw_transaction: string }>(
      `select v.raw_transaction from wallet.transactions v join wallet.transfers t on t.client_id = v.client_id and t.id = v.id
       where t.status = 'broadcast' and t.block_number is null order by v.tx_hash`,
    )
    const chosen = rows[random(Math.max(rows.length, 1))]
    if (chosen === undefined) return await wallet.mine(1)
    // Its parent may be in no block.
    await wallet.node.mineOnly(wallet.stranger, [chosen.raw_transaction]).catch(() => wallet.mine(1))
  }

  async function reorganise(random: (below: number) => number, floor: number, counts: Counts): Promise<void> {
    const height = (await wallet.node.rpc.call('getblockcount')) as number
    const depth = Math.min(1 + random(3), height - floor)
    if (depth < 1) return
    await wallet.node.rpc.call('invalidateblock', [await wallet.node.rpc.call('getblockhash', [height - depth + 1])])
    await wallet.mine(depth + 1)
    counts.reorganised += 1
  }
})
