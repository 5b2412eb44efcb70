import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rootOf } from '../../keys/keyring.ts'
import { type LitecoinNode, litecoinProgram, startLitecoinNode } from '../../testing/litecoin-node.ts'
import { signTransaction } from '../../testing/sign-transaction.ts'
import { addressOf, addressOfScript, scriptOf } from './addresses.ts'
import { findBlock, findTransaction, readBlock, readFullBlock } from './blocks.ts'
import { checkTransaction } from './check.ts'
import { type Selection, selectCoins } from './coins.ts'
import { readFeeRate } from './fees.ts'
import { bitcoin, litecoin } from './parameters.ts'
import { toBip84Path } from './paths.ts'
import { amountOf, NodeOutage, type Rpc } from './rpc.ts'
import type { Coin } from './sizes.ts'
import { checkNode } from './utxo-node.ts'

const root = await rootOf(
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
)
const settings = { feeRates: { low: 1_000n, medium: 2_000n, high: 4_000n }, feeRateMax: 200_000n }

type Output = { value: unknown; n: number; scriptPubKey: { hex: string } }
type Mined = { txid: string; vout: Output[] }

// The tests of a node are counted as skipped where its program is not installed (Debian: litecoind).
describe.skipIf(litecoinProgram === null).each([bitcoin, litecoin])(
  'on a node with the rules of $type',
  (parameters) => {
    const key = root.derive(toBip84Path({ coinType: parameters.coinType, indexes: [0, 0, 0] }))
    const sender = addressOf(key.publicKey!, parameters)
    const script = scriptOf(key.publicKey!)
    const recipient = root.derive(toBip84Path({ coinType: parameters.coinType, indexes: [1, 0, 0] })).publicKey!
    let node: LitecoinNode

    beforeAll(async () => {
      node = await startLitecoinNode(parameters.type)
      await node.mine(110, script)
    }, 60_000)
    afterAll(async () => await node?.stop())

    async function coinsOf(height: number): Promise<Coin[]> {
      const hash = await node.rpc.call('getblockhash', [height])
      const { tx } = (await node.rpc.call('getblock', [hash, 2])) as { tx: Mined[] }
      return tx.flatMap(({ txid, vout }) =>
        vout
          .filter(({ scriptPubKey }) => scriptPubKey.hex === Buffer.from(script).toString('hex'))
          .map(({ value, n }) => ({ txHash: txid, index: n, amount: amountOf(value)! })),
      )
    }

    async function pay(coins: Coin[], amount: bigint, maxFee: bigint | null = null) {
      const fee = await readFeeRate(node.rpc, 'medium', settings, parameters)
      if ('refusal' in fee) throw new Error(fee.refusal)
      const spending = { amount, script: scriptOf(recipient), changeScript: script, feeRate: fee.rate, maxFee }
      const limits = { dustRate: parameters.dustRate, feeRateMin: fee.least, spendMin: 10_000n }
      const selection = selectCoins(coins, { ...spending, gathersSmall: false }, limits) as Selection
      const payment = { toAddress: addressOf(recipient, parameters), amount }
      const signed = await signTransaction(key, { ...selection, payment }, parameters)
      const ordered = { fromAddress: sender, payment, coins: selection.coins, maxFee, feeRateMax: settings.feeRateMax }
      return { signed, selection, effect: checkTransaction(signed.raw, ordered, parameters) }
    }

    it('a payment is signed, checked, broadcast and mined, and the node says what the check said', async () => {
      const { signed, selection, effect } = await pay(await coinsOf(1), 150_000_000n)
      expect(effect).toMatchObject({ amount: 150_000_000n, change: selection.change, fee: selection.fee, index: 0 })
      expect(await node.rpc.call('sendrawtransaction', [signed.raw])).toBe(signed.txHash)
      const [block] = await node.mine(1, scriptOf(recipient))
      const mined = (await node.rpc.call('getrawtransaction', [signed.txHash, true, block])) as {
        vsize: number
        confirmations: number
        vout: Output[]
      }
      const outputs = mined.vout.map(({ value, scriptPubKey }) => [
        addressOfScript(Buffer.from(scriptPubKey.hex, 'hex'), parameters),
        amountOf(value),
      ])
      expect(outputs).toEqual([
        [addressOf(recipient, parameters), 150_000_000n],
        [sender, selection.change],
      ])
      expect(mined).toMatchObject({ vsize: signed.size, confirmations: 1 })
      expect(selection.size - signed.size).toBeLessThanOrEqual(1)
    })

    it('the least amount and the least change are those that the node relays', async () => {
      const [coin] = await coinsOf(2)
      const dust = parameters.dustRate === 3_000n ? 294n : 2_940n
      const fee = 1_000n
      const rest = coin!.amount - fee
      const toAddress = addressOf(recipient, parameters)
      const send = async (amount: bigint, change: bigint) => {
        const plan = { coins: [coin!], payment: { toAddress, amount }, change }
        const { raw } = await signTransaction(key, plan, parameters)
        return await node.rpc.call('testmempoolaccept', [[raw]])
      }
      const refused = [{ allowed: false, 'reject-reason': 'dust' }]
      expect(await send(dust - 1n, rest - dust + 1n)).toMatchObject(refused)
      expect(await send(rest - dust + 1n, dust - 1n)).toMatchObject(refused)
      expect(await send(dust, rest - dust)).toMatchObject([{ allowed: true }])
      expect(await send(rest - dust, dust)).toMatchObject([{ allowed: true }])
    })

    it('a replacement is taken where the network replaces, and refused where it does not', async () => {
      const [coin] = await coinsOf(3)
      const payment = { toAddress: addressOf(recipient, parameters), amount: 100_000n }
      const variant = (fee: bigint) =>
        signTransaction(key, { coins: [coin!], payment, change: coin!.amount - 100_000n - fee }, parameters)
      const [first, second] = [await variant(300n), await variant(3_000n)]
      await node.rpc.call('sendrawtransaction', [first.raw])
      const taken = node.rpc.call('sendrawtransaction', [second.raw])
      if (parameters.replacement === 'fee') expect(await taken).toBe(second.txHash)
      else await expect(taken).rejects.toThrow('txn-mempool-conflict')
      const pool = (await node.rpc.call('getrawmempool')) as string[]
      expect(pool.includes(first.txHash)).toBe(parameters.replacement === 'child')
    })

    it('either variant is mined on demand, and the chain goes on beyond block 431', async () => {
      const [coin] = await coinsOf(4)
      const payment = { toAddress: addressOf(recipient, parameters), amount: 100_000n }
      const plan = { coins: [coin!], payment, change: coin!.amount - 101_000n }
      const { raw, txHash } = await signTransaction(key, plan, parameters)
      const hash = await node.mineOnly(scriptOf(recipient), [raw])
      expect(await node.rpc.call('getblock', [hash])).toMatchObject({ tx: [expect.any(String), txHash] })
      await node.mine(340, scriptOf(recipient))
      expect(await node.rpc.call('getblockcount')).toBeGreaterThan(431)
    })

    it('blocks and transactions are read with what they spend', async () => {
      const source = { rpc: node.rpc, parameters }
      const [coin] = await coinsOf(5)
      const { signed, selection } = await pay([coin!], 200_000n)
      expect(await findTransaction(source, signed.txHash)).toBeNull()
      await node.rpc.call('sendrawtransaction', [signed.raw])
      const paid = {
        hash: signed.txHash,
        spends: [{ txHash: coin!.txHash, index: coin!.index }],
        outputs: [
          { index: 0, amount: 200_000n, address: addressOf(recipient, parameters) },
          { index: 1, amount: selection.change, address: sender },
        ],
      }
      expect(await findTransaction(source, signed.txHash)).toEqual({ ...paid, blockHash: null })
      const [hash] = await node.mine(1, scriptOf(recipient))
      const height = BigInt((await node.rpc.call('getblockcount')) as number)
      const { transactions, ...header } = await readFullBlock(source, height)
      expect(transactions.find((transaction) => transaction.hash === signed.txHash)).toEqual(paid)
      expect(transactions[0]).toMatchObject({ spends: [] })
      expect(header).toEqual(await readBlock(source, height))
      expect(header).toMatchObject({ hash, parentHash: (await readBlock(source, height - 1n)).hash })
      expect(await findTransaction(source, signed.txHash)).toEqual({ ...paid, blockHash: hash })
      expect(await findBlock(source, hash!)).toEqual(header)
    })

    it('a transaction of a block that the chain lost waits again', async () => {
      const source = { rpc: node.rpc, parameters }
      const [coin] = await coinsOf(6)
      const { signed } = await pay([coin!], 200_000n)
      const hash = await node.mineOnly(scriptOf(recipient), [signed.raw])
      expect(await findTransaction(source, signed.txHash)).toMatchObject({ blockHash: hash })
      await node.rpc.call('invalidateblock', [hash])
      expect(await findBlock(source, hash)).toBeNull()
      // The same block would be made again for the same script.
      const [other] = await node.mine(1, script)
      expect(await findTransaction(source, signed.txHash)).toMatchObject({ blockHash: other })
    })

    it('a node of another network is refused', async () => {
      await expect(checkNode({ network: 'x', rpc: node.rpc, parameters })).rejects.toThrow('another network')
    })
  },
)

describe('in answers of another form', () => {
  const hash = 'ab'.repeat(32)
  const output = { n: 0, value: 1, scriptPubKey: { hex: '00' } }
  const transaction = { txid: hash, vin: [{ txid: hash, vout: 0 }], vout: [output], vsize: 100 }
  const block = { hash, height: 7, previousblockhash: hash, time: 1, tx: [transaction] }
  const nodeWith = (answers: Record<string, unknown>) => {
    const rpc: Rpc = { call: async (method) => (method in answers ? answers[method] : null) }
    return { network: 'x', rpc, parameters: litecoin }
  }

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a list', []],
    ['another height', { ...block, height: 8 }],
    ['another hash', { ...block, hash: 'cd'.repeat(32) }],
    ['no parent', { ...block, previousblockhash: null }],
    ['no transactions', { ...block, tx: {} }],
    ['a transaction without a hash', { ...block, tx: [{ ...transaction, txid: 'x' }] }],
    ['an input of no transaction', { ...block, tx: [{ ...transaction, vin: [{ txid: hash, vout: -1 }] }] }],
    ['an output in another place', { ...block, tx: [{ ...transaction, vout: [{ ...output, n: 1 }] }] }],
    ['an amount below zero', { ...block, tx: [{ ...transaction, vout: [{ ...output, value: -1 }] }] }],
    [
      'an amount of parts of a unit',
      { ...block, tx: [{ ...transaction, vout: [{ ...output, value: '0.000000001' }] }] },
    ],
    [
      'a script of half a byte',
      { ...block, tx: [{ ...transaction, vout: [{ ...output, scriptPubKey: { hex: '0' } }] }] },
    ],
  ])('a block with %s is an outage', async (_form, getblock) => {
    await expect(readFullBlock(nodeWith({ getblockhash: hash, getblock }), 7n)).rejects.toBeInstanceOf(NodeOutage)
  })

  it('a block of the right form is read, without the parts of an extension block', async () => {
    const extended = {
      ...transaction,
      vin: [{ ismweb: true, output_id: hash }, ...transaction.vin],
      vout: [output, { ismweb: true, output_id: hash }],
    }
    const getblock = { ...block, tx: [extended] }
    const read = await readFullBlock(nodeWith({ getblockhash: hash, getblock }), 7n)
    expect(read.transactions[0]!.spends).toEqual([{ txHash: hash, index: 0 }])
    expect(read.transactions[0]!.outputs).toEqual([{ index: 0, amount: 100_000_000n, address: null }])
  })

  it.each<[string, unknown]>([
    ['another transaction', { ...transaction, txid: 'cd'.repeat(32) }],
    ['a block without a hash', { ...transaction, blockhash: 'x' }],
  ])('a transaction with %s is an outage', async (_form, getrawtransaction) => {
    await expect(findTransaction(nodeWith({ getrawtransaction }), hash)).rejects.toBeInstanceOf(NodeOutage)
  })

  it.each<[string, unknown]>([
    ['another hash', { ...block, hash: 'cd'.repeat(32), confirmations: 1 }],
    ['no time', { ...block, time: null, confirmations: 1 }],
  ])('the header of a block with %s is an outage', async (_form, getblockheader) => {
    const node = nodeWith({ getblockhash: hash, getblockheader })
    await expect(findBlock(node, hash)).rejects.toBeInstanceOf(NodeOutage)
    await expect(readBlock(node, 7n)).rejects.toBeInstanceOf(NodeOutage)
  })

  const whole = { pruned: false, blocks: 5, headers: 5 }
  const indexes = { txindex: { synced: true } }
  it.each<[string, unknown, unknown]>([
    ['drops old blocks', { ...whole, pruned: true }, indexes],
    ['has not read all blocks', { ...whole, headers: 6 }, indexes],
    ['names no number of blocks', { ...whole, blocks: '5', headers: '5' }, indexes],
    ['has no index of transactions', whole, {}],
    ['has no complete index of transactions', whole, { txindex: { synced: false } }],
    ['says nothing of its indexes', whole, null],
  ])('a node that %s is an outage', async (_fault, getblockchaininfo, getindexinfo) => {
    const answers = { getblockhash: litecoin.genesis, getblockchaininfo, getindexinfo }
    await expect(checkNode(nodeWith(answers))).rejects.toBeInstanceOf(NodeOutage)
    await checkNode(nodeWith({ ...answers, getblockchaininfo: whole, getindexinfo: indexes }))
  })
})
