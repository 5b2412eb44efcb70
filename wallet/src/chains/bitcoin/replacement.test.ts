import { HDKey } from '@scure/bip32'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLog } from '../../log.ts'
import { litecoinProgram } from '../../testing/litecoin-node.ts'
import { signTransaction } from '../../testing/sign-transaction.ts'
import { openUtxoWallet, type UtxoWallet } from '../../testing/utxo-wallet.ts'
import { findReplacement } from '../../transfers/find-replacement.ts'

let wallet: UtxoWallet
let account = 0

/** An address with these deposits. */
async function fund(...amounts: bigint[]) {
  account += 1
  const derivationPath = `m/44/${wallet.parameters.coinType}/${account}/0`
  const fromAddress = await wallet.derive(derivationPath)
  for (const amount of amounts)
    await wallet.node.rpc.call('sendrawtransaction', [(await wallet.payFrom(fromAddress, amount)).raw])
  await wallet.mine(2)
  await wallet.follow()
  return { derivationPath, fromAddress, toAddress: wallet.recipient(account) }
}

async function send(id: string, from: Awaited<ReturnType<typeof fund>>, amount: bigint) {
  await wallet.order(id, { ...from, amount })
  await wallet.send()
  expect(await wallet.read(id)).toMatchObject({ status: 'broadcast' })
}

async function mineAndFollow() {
  await wallet.mine(2)
  await wallet.follow()
}

const refusalOf = (work: Promise<void>) =>
  work.then(
    () => null,
    ({ details }: { details?: unknown }) => String(details),
  )
const poolOf = async () => (await wallet.node.rpc.call('getrawmempool')) as string[]

async function expectBooks(address: string) {
  expect(await wallet.booksOf(address)).toBe(await wallet.balanceOf(address))
}

// The tests of a node are counted as skipped where its program is not installed (Debian: litecoind).
describe.skipIf(litecoinProgram === null)('where nodes replace (Bitcoin)', () => {
  beforeAll(async () => {
    wallet = await openUtxoWallet('bitcoin')
  }, 60_000)
  afterAll(async () => await wallet?.stop())

  test('a payment is replaced by the same with a higher fee, and is paid once', async () => {
    const from = await fund(3_000_000n)
    await send('faster', from, 1_000_000n)
    const first = (await wallet.read('faster')).tx_hash!
    const { speedUp } = await wallet.quote('faster')
    await wallet.replace('faster', 'payment')
    await wallet.send()
    const { tx_hash, tx_hashes } = await wallet.read('faster')
    expect(tx_hashes).toEqual([first, tx_hash])
    expect(await poolOf()).toEqual([tx_hash])
    await mineAndFollow()
    const paid = await wallet.read('faster')
    expect(paid).toMatchObject({ status: 'confirmed', fee: (speedUp as { maxFee: string }).maxFee })
    expect(await wallet.balanceOf(from.toAddress)).toBe(1_000_000n)
    await expectBooks(from.fromAddress)
  })

  test('a payment is cancelled by a transaction that returns everything, and the earlier one may still be mined', async () => {
    for (const mined of ['cancellation', 'payment'] as const) {
      const from = await fund(3_000_000n)
      const id = `back-${mined}`
      await send(id, from, 1_000_000n)
      const { raw_transaction: payment } = await wallet.read(id)
      await wallet.replace(id, 'cancellation')
      await wallet.send()
      if (mined === 'payment') await wallet.node.mineOnly(wallet.stranger, [payment!])
      await mineAndFollow()
      const isPaid = mined === 'payment'
      expect(await wallet.read(id)).toMatchObject({ status: isPaid ? 'confirmed' : 'failed' })
      expect(await wallet.balanceOf(from.toAddress)).toBe(isPaid ? 1_000_000n : 0n)
      await expectBooks(from.fromAddress)
    }
  })

  test('a replacement that needs more than the change spends further outputs, which are given back if the first is mined', async () => {
    const from = await fund(1_000_500n, 2_000_000n)
    await send('wider', from, 1_000_000n)
    const { raw_transaction: first } = await wallet.read('wider')
    await wallet.replace('wider', 'payment')
    const taken = async () => (await wallet.pool.query("select from wallet.coins where taken_by = 'wider'")).rowCount
    expect(await taken()).toBe(2)
    await wallet.node.mineOnly(wallet.stranger, [first!])
    await mineAndFollow()
    await mineAndFollow()
    expect(await wallet.read('wider')).toMatchObject({ status: 'confirmed' })
    expect(await taken()).toBe(1)
    await send('after', from, 500_000n)
    await mineAndFollow()
    expect(await wallet.balanceOf(from.toAddress)).toBe(1_500_000n)
    await expectBooks(from.fromAddress)
  })

  test('a payment whose change a later payment spends is not replaced, and neither is a mined payment', async () => {
    const from = await fund(3_000_000n)
    await send('earlier', from, 100_000n)
    await send('later', from, 100_000n)
    expect(await refusalOf(wallet.replace('earlier', 'payment'))).toContain('LATER_FIRST: later spends')
    await mineAndFollow()
    expect(await wallet.quote('later')).toMatchObject({ speedUp: { refusal: expect.stringContaining('ENDED') } })
  })

  test('a later payment whose parent was mined in another form names that transaction', async () => {
    const from = await fund(3_000_000n)
    await send('parent', from, 100_000n)
    const { raw_transaction: first } = await wallet.read('parent')
    await wallet.replace('parent', 'payment')
    await wallet.send()
    await send('child', from, 100_000n)
    const mined = await wallet.node.mineOnly(wallet.stranger, [first!])
    expect(mined).toMatch(/^[0-9a-f]{64}$/)
    await mineAndFollow()
    await mineAndFollow()
    const { tx_hash, tx_hashes, anchor } = await wallet.read('parent')
    const rival = await wallet.chain().findRival(await wallet.read('child'))
    // The child spends the change of the replacement, which spends the anchor of the parent as the transaction that was mined does.
    expect(rival).toEqual({ hash: tx_hash, outputs: [{ txHash: tx_hashes[1], index: 1 }, anchor] })
    expect(await wallet.balanceOf(from.toAddress)).toBe(100_000n)
  })

  test('a payment from a deposit that the chain lost names the transaction that spent the same', async () => {
    account += 1
    const derivationPath = `m/44/0/${account}/0`
    const from = {
      derivationPath,
      fromAddress: await wallet.derive(derivationPath),
      toAddress: wallet.recipient(account),
    }
    const { rpc } = wallet.node
    const [deposit, instead] = await wallet.payTwice([from.fromAddress, wallet.recipient(3_000)], 1_000_000n)
    await rpc.call('sendrawtransaction', [deposit!.raw])
    await wallet.mine(2)
    await wallet.follow()
    await send('from-lost', from, 400_000n)
    const height = (await rpc.call('getblockcount')) as number
    await rpc.call('invalidateblock', [await rpc.call('getblockhash', [height - 1])])
    await wallet.node.mineOnly(wallet.stranger, [instead!.raw])
    await wallet.mine(3)
    await wallet.follow()
    await wallet.follow()
    const transfer = await wallet.read('from-lost')
    expect(transfer.anchor).toEqual({ txHash: deposit!.txHash, index: 0 })
    expect(await wallet.chain().findRival(transfer)).toEqual({
      hash: instead!.txHash,
      outputs: [transfer.anchor, instead!.spent],
    })
    expect(await wallet.balanceOf(from.fromAddress)).toBe(0n)
    await expectBooks(from.fromAddress)
  })

  test('a payment is not replaced when another address has spent on what it paid, and the chain went back', async () => {
    const from = await fund(3_000_000n)
    const derivationPath = `m/44/0/${account}/1`
    const second = { derivationPath, fromAddress: await wallet.derive(derivationPath), toAddress: from.toAddress }
    await send('paid-on', { ...from, toAddress: second.fromAddress }, 500_000n)
    await wallet.mine(2)
    await wallet.watch()
    await send('onward', second, 100_000n)
    const height = (await wallet.node.rpc.call('getblockcount')) as number
    await wallet.node.rpc.call('invalidateblock', [await wallet.node.rpc.call('getblockhash', [height - 1])])
    expect(await refusalOf(wallet.replace('paid-on', 'payment'))).toContain('LATER_FIRST: onward spends')
    await wallet.mine(4)
    await wallet.follow()
    await wallet.follow()
    expect(await wallet.read('paid-on')).toMatchObject({ status: 'confirmed' })
    await expectBooks(from.fromAddress)
  })

  test('a payment whose parent is gone gives its other outputs back, also before a node took it, and is not replaced', async () => {
    const from = await fund(1_000_000n, 900_000n)
    await send('gone-parent', from, 800_000n)
    const { raw_transaction: first } = await wallet.read('gone-parent')
    await wallet.replace('gone-parent', 'payment')
    await wallet.send()
    // It spends the other deposit and the change of the replacement, and no node hears of it.
    await wallet.order('orphaned', { ...from, amount: 1_000_000n })
    await wallet.sendAndDie('stored')
    await wallet.node.mineOnly(wallet.stranger, [first!])
    await mineAndFollow()
    await wallet.send()
    await mineAndFollow()
    const orphaned = await wallet.read('orphaned')
    expect(orphaned).toMatchObject({ status: 'queued', last_error: expect.any(String) })
    const { tx_hash, anchor, tx_hashes } = await wallet.read('gone-parent')
    const rival = await findReplacement(wallet.chain(), orphaned, openLog('silent'))
    // It lost the change, and not its anchor, which is the other deposit.
    expect(rival).toEqual({ hash: tx_hash, outputs: [{ txHash: tx_hashes[1], index: 1 }, anchor] })
    expect(orphaned.anchor).not.toEqual(rival!.outputs![0])
    expect(await refusalOf(wallet.replace('orphaned', 'payment'))).toContain(`ALREADY_MINED: ${tx_hash}`)
    await send('instead', from, 950_000n)
    await mineAndFollow()
    expect(await wallet.read('instead')).toMatchObject({ status: 'confirmed' })
    expect(await wallet.balanceOf(from.toAddress)).toBe(1_750_000n)
    await expectBooks(from.fromAddress)
  })

  test('a replacement that spends other outputs is refused by the database, and would pay twice on the chain', async () => {
    const from = await fund(400_000n, 410_000n)
    await send('control', from, 300_000n)
    const { raw_transaction: first, client_id } = await wallet.read('control')
    const { rows } = await wallet.pool.query<{ tx_hash: string; index: number; amount: string }>(
      'select tx_hash, index, amount from wallet.coins where address = $1 and taken_by is null and change_of is null',
      [from.fromAddress],
    )
    const [free] = rows
    const coin = { txHash: free!.tx_hash, index: free!.index, amount: BigInt(free!.amount) }
    const bytes = await wallet.keyring.privateKey(client_id, `m/84'/0'/${account}'/0`)
    const payment = { toAddress: from.toAddress, amount: 300_000n }
    const anew = await signTransaction(
      new HDKey({ privateKey: bytes }),
      { coins: [coin], payment, change: coin.amount - 305_000n },
      wallet.parameters,
    )
    const stored = wallet.pool.query(
      `insert into wallet.transactions (client_id, id, number, nonce, kind, raw_transaction, tx_hash)
       select client_id, id, 1, nonce, 'payment', $2, $3 from wallet.transactions where id = $1`,
      ['control', anew.raw, anew.txHash],
    )
    await expect(stored).rejects.toThrow('a transaction of transfer control does not spend')
    await wallet.node.mineOnly(wallet.stranger, [first!, anew.raw])
    expect(await wallet.balanceOf(from.toAddress)).toBe(600_000n)
  })
})

describe.skipIf(litecoinProgram === null)('where nodes replace nothing (Litecoin)', () => {
  beforeAll(async () => {
    wallet = await openUtxoWallet('litecoin')
  }, 60_000)
  afterAll(async () => await wallet?.stop())

  test('a child pays for its parent: the hash stays, both fees count, and it is confirmed when both are mined', async () => {
    const from = await fund(3_000_000n)
    await send('towed', from, 1_000_000n)
    const before = await wallet.read('towed')
    const { speedUp, cancelOnChain } = await wallet.quote('towed')
    expect(cancelOnChain).toMatchObject({ refusal: expect.stringContaining('NOT_REPLACEABLE') })
    await wallet.replace('towed', 'payment')
    await wallet.send()
    const pool = await poolOf()
    expect(pool).toHaveLength(2)
    expect(await wallet.read('towed')).toMatchObject({ tx_hash: before.tx_hash, tx_hashes: [before.tx_hash] })
    await wallet.node.mineOnly(wallet.stranger, [before.raw_transaction!])
    await wallet.follow()
    expect(await wallet.read('towed')).toMatchObject({ status: 'broadcast', block_number: null })
    await mineAndFollow()
    const paid = await wallet.read('towed')
    expect(paid).toMatchObject({ status: 'confirmed', tx_hash: before.tx_hash })
    expect(paid.fee).toBe((speedUp as { maxFee: string }).maxFee)
    expect(await wallet.balanceOf(from.toAddress)).toBe(1_000_000n)
    await expectBooks(from.fromAddress)
    await send('on', from, 500_000n)
    await mineAndFollow()
    await expectBooks(from.fromAddress)
  })

  test('a block that contains parent and child settles the payment once', async () => {
    const from = await fund(3_000_000n)
    await send('both', from, 1_000_000n)
    const { speedUp } = await wallet.quote('both')
    await wallet.replace('both', 'payment')
    await wallet.send()
    await mineAndFollow()
    expect(await wallet.read('both')).toMatchObject({
      status: 'confirmed',
      fee: (speedUp as { maxFee: string }).maxFee,
    })
    await expectBooks(from.fromAddress)
  })

  test('a payment without change, and one whose change is spent, are not sped up', async () => {
    const from = await fund(3_000_000n)
    await send('earlier', from, 100_000n)
    await send('later', from, 100_000n)
    expect(await refusalOf(wallet.replace('earlier', 'payment'))).toContain('LATER_FIRST: later spends')
    const whole = await fund(1_000_000n)
    await send('whole', whole, 999_000n)
    expect(await refusalOf(wallet.replace('whole', 'payment'))).toContain('NO_CHANGE')
  })
})
