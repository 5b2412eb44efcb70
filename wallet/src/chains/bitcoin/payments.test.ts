import { HDKey } from '@scure/bip32'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAccepted } from '../../accepted/list-accepted.ts'
import { litecoinProgram } from '../../testing/litecoin-node.ts'
import { signForSeveral } from '../../testing/sign-transaction.ts'
import { openUtxoWallet, type UtxoWallet } from '../../testing/utxo-wallet.ts'
import { acceptNonce } from '../../transfers/accept-nonce.ts'
import { sendPoints } from '../../transfers/sign-transfers.ts'
import { readAddress } from './addresses.ts'
import type { Coin } from './sizes.ts'

// The tests of a node are counted as skipped where its program is not installed (Debian: litecoind).
describe.skipIf(litecoinProgram === null).each(['bitcoin', 'litecoin'] as const)('%s', (type) => {
  let wallet: UtxoWallet
  let account = 0

  beforeAll(async () => {
    wallet = await openUtxoWallet(type)
  }, 60_000)
  afterAll(async () => await wallet?.stop())

  /** Returns an address with these deposits. */
  async function fund(...amounts: bigint[]) {
    account += 1
    const derivationPath = `m/44/${wallet.parameters.coinType}/${account}/0`
    const fromAddress = await wallet.derive(derivationPath)
    for (const amount of amounts)
      await wallet.node.rpc.call('sendrawtransaction', [(await wallet.payFrom(fromAddress, amount)).raw])
    await wallet.mine(2)
    await wallet.follow()
    return { derivationPath, fromAddress }
  }

  const depositsOf = async (address: string) =>
    (
      await wallet.pool.query(
        `select amount::text, orphaned_at is not null as is_orphaned from wallet.deposits
         where tx ->> 'toAddress' = $1 order by amount`,
        [address],
      )
    ).rows

  async function fundAgain(address: string, amount: bigint) {
    await wallet.node.rpc.call('sendrawtransaction', [(await wallet.payFrom(address, amount)).raw])
    await wallet.mine(2)
    await wallet.follow()
  }

  async function keyOf(derivationPath: string): Promise<HDKey> {
    const path = derivationPath.replace(/^m\/44\/(\d+)\/(\d+)/, "m/84'/$1'/$2'")
    return new HDKey({ privateKey: await wallet.keyring.privateKey(wallet.clientId, path) })
  }

  async function settle(id: string) {
    await wallet.send()
    await wallet.mine(2)
    await wallet.follow()
    return await wallet.read(id)
  }

  test('a deposit is reported, a payment takes amount and fee, and its change is neither deposit nor entry', async () => {
    const from = await fund(5_000_000n)
    expect(await depositsOf(from.fromAddress)).toMatchObject([{ amount: '5000000', is_orphaned: false }])
    const toAddress = wallet.recipient(account)
    await wallet.order(`plain ${type}`, { ...from, toAddress, amount: 1_000_000n })
    const paid = await settle(`plain ${type}`)
    expect(paid).toMatchObject({ status: 'confirmed', failure_reason: null })
    expect(await wallet.balanceOf(toAddress)).toBe(1_000_000n)
    expect(await wallet.balanceOf(from.fromAddress)).toBe(4_000_000n - BigInt(paid.fee!))
    expect(await wallet.booksOf(from.fromAddress)).toBe(await wallet.balanceOf(from.fromAddress))
    expect(await depositsOf(from.fromAddress)).toHaveLength(1)
    const { balance } = await wallet.chain().readBalance({ address: from.fromAddress, contract: null })
    expect(balance).toBe(4_000_000n - BigInt(paid.fee!))
  })

  test('payments spend the change of earlier payments that are in no block yet', async () => {
    const from = await fund(9_000_000n)
    for (let count = 0; count < 5; count += 1) {
      const order = { ...from, toAddress: wallet.recipient(1_000 + account), amount: 100_000n }
      await wallet.order(`row ${type} ${count}`, order)
      await wallet.send()
      expect(await wallet.read(`row ${type} ${count}`)).toMatchObject({ status: 'broadcast' })
    }
    await wallet.mine(2)
    await wallet.follow()
    expect(await wallet.balanceOf(wallet.recipient(1_000 + account))).toBe(500_000n)
    expect(await wallet.booksOf(from.fromAddress)).toBe(await wallet.balanceOf(from.fromAddress))
  })

  test('a payment that the address cannot pay fails', async () => {
    const from = await fund(1_000_000n)
    const toAddress = wallet.recipient(account)
    await wallet.order(`much ${type}`, { ...from, toAddress, amount: 2_000_000n })
    await wallet.send()
    expect((await wallet.read(`much ${type}`)).failure_reason).toMatch(/^INSUFFICIENT_FUNDS: .* need \d+ more/)
  })

  test('a payment and a deposit that a reorganisation removes are mined again', async () => {
    const from = await fund(4_000_000n)
    const toAddress = wallet.recipient(account)
    await wallet.order(`back ${type}`, { ...from, toAddress, amount: 500_000n })
    expect(await settle(`back ${type}`)).toMatchObject({ status: 'confirmed' })
    const height = (await wallet.node.rpc.call('getblockcount')) as number
    await wallet.node.rpc.call('invalidateblock', [await wallet.node.rpc.call('getblockhash', [height - 3])])
    await wallet.mine(1)
    await wallet.follow()
    await wallet.send()
    await wallet.mine(5)
    await wallet.follow()
    await wallet.follow()
    expect(await wallet.balanceOf(toAddress)).toBe(500_000n)
    expect(await wallet.booksOf(from.fromAddress)).toBe(await wallet.balanceOf(from.fromAddress))
  })

  test('two processes never take an output for two payments', async () => {
    const from = await fund(800_000n)
    await wallet.order(`one ${type}`, { ...from, toAddress: wallet.recipient(account), amount: 500_000n })
    await wallet.order(`two ${type}`, { ...from, toAddress: wallet.recipient(account), amount: 250_000n })
    await Promise.all([wallet.send(), wallet.send()])
    await wallet.send()
    await wallet.mine(2)
    await wallet.follow()
    await wallet.send()
    await wallet.mine(2)
    await wallet.follow()
    expect(await wallet.balanceOf(wallet.recipient(account))).toBe(750_000n)
    expect(await wallet.booksOf(from.fromAddress)).toBe(await wallet.balanceOf(from.fromAddress))
  })

  test.each(sendPoints)('a process that ends when payments are %s loses none and pays none twice', async (point) => {
    const from = await fund(1_000_000n, 1_000_000n, 1_000_000n)
    const toAddress = wallet.recipient(account)
    const ids = [1, 2, 3].map((count) => `dies-${type}-${point}-${count}`)
    for (const id of ids) await wallet.order(id, { ...from, toAddress, amount: 100_000n })
    await wallet.sendAndDie(point)
    for (let round = 0; round < 5; round += 1) {
      await wallet.send()
      await wallet.mine(1)
      await wallet.follow()
    }
    for (const id of ids) expect(await wallet.read(id)).toMatchObject({ status: 'confirmed' })
    expect(await wallet.balanceOf(toAddress)).toBe(300_000n)
    expect(await wallet.booksOf(from.fromAddress)).toBe(await wallet.balanceOf(from.fromAddress))
  })

  test('a transaction of a stranger stops each address whose outputs it spends, and each is listed with what left it', async () => {
    const senders = [await fund(500_000n), await fund(300_000n)]
    const keys: HDKey[] = []
    const coins: Coin[] = []
    for (const { derivationPath, fromAddress } of senders) {
      keys.push(await keyOf(derivationPath))
      const { rows } = await wallet.pool.query<{ tx_hash: string; index: number; amount: string }>(
        'select tx_hash, index, amount from wallet.coins where address = $1',
        [fromAddress],
      )
      coins.push(...rows.map(({ tx_hash, index, amount }) => ({ txHash: tx_hash, index, amount: BigInt(amount) })))
    }
    const [first, second] = senders.map(({ fromAddress }) => fromAddress)
    const toAddress = wallet.recipient(2_000 + account)
    const outputs = [
      { toAddress, amount: 600_000n },
      { toAddress: first!, amount: 150_000n },
    ]
    const { raw, txHash } = await signForSeveral(keys, { coins, outputs }, wallet.parameters)
    await wallet.node.rpc.call('sendrawtransaction', [raw])
    await wallet.mine(2)
    await wallet.follow()
    const paid = (to: string, amount: string) => ({ toAddress: to, contractAddress: null, amount })
    const found = { kind: 'transaction', network: type, txHash, nonce: 0 }
    const listed = (await listAccepted(wallet.pool, wallet.clientId, {})).entries.filter((entry) => 'payments' in entry)
    // Together it is all that was spent; what returned to the first address is a deposit.
    expect(listed).toEqual([
      { ...found, fromAddress: first, fee: '0', payments: [paid(toAddress, '500000')] },
      { ...found, fromAddress: second, fee: '50000', payments: [paid(toAddress, '100000'), paid(first!, '150000')] },
    ])
    for (const from of senders) {
      await fundAgain(from.fromAddress, 400_000n)
      const id = `stopped ${from.derivationPath}`
      await wallet.order(id, { ...from, toAddress, amount: 100_000n })
      await wallet.send()
      const { status, last_error } = await wallet.read(id)
      expect([status, last_error]).toEqual(['queued', expect.stringContaining(`UNKNOWN_TRANSACTIONS: ${txHash}`)])
    }
  })

  test('T26 an order whose payment may have emptied the address before a restore stays queued', async () => {
    account += 1
    const derivationPath = `m/44/${wallet.parameters.coinType}/${account}/0`
    const fromAddress = await wallet.derive(derivationPath)
    const toAddress = wallet.recipient(account)
    const id = `emptied ${type}`
    const reason = async () => {
      await wallet.send()
      const { status, last_error, failure_reason } = await wallet.read(id)
      return `${status}: ${last_error ?? failure_reason}`
    }
    const deposit = await wallet.payFrom(fromAddress, 200_000n)
    await wallet.node.rpc.call('sendrawtransaction', [deposit.raw])
    await wallet.mine(2)
    await wallet.order(id, { derivationPath, fromAddress, toAddress, amount: 199_900n })
    expect(await reason()).toMatch(/^queued: UNKNOWN_TRANSACTIONS: the blocks from \d+ to \d+ are not read yet; INSUFF/)
    await wallet.follow()
    const coins = [{ txHash: deposit.txHash, index: 0, amount: 200_000n }]
    const outputs = [{ toAddress, amount: 199_900n }]
    const paid = await signForSeveral([await keyOf(derivationPath)], { coins, outputs }, wallet.parameters)
    await wallet.node.rpc.call('prioritisetransaction', [paid.txHash, 0, 100_000])
    await wallet.node.rpc.call('sendrawtransaction', [paid.raw])
    expect(await reason()).toMatch(`queued: UNKNOWN_TRANSACTIONS: ${deposit.txHash}:0 is spent`)
    await wallet.mine(2)
    await wallet.follow()
    expect(await reason()).toMatch(`queued: UNKNOWN_TRANSACTIONS: ${paid.txHash} spent an output`)
    const accepting = acceptNonce(wallet.pool, { network: type, address: fromAddress, nextNonce: 1 })
    await expect(accepting).rejects.toThrow(id)
  })

  test('a deposit that was spent before it was read stops its address, and what returned is no deposit but can be spent', async () => {
    account += 1
    const derivationPath = `m/44/${wallet.parameters.coinType}/${account}/0`
    const fromAddress = await wallet.derive(derivationPath)
    const toAddress = wallet.recipient(account)
    const { raw, txHash } = await wallet.payFrom(fromAddress, 200_000n)
    await wallet.node.rpc.call('sendrawtransaction', [raw])
    const coins = [{ txHash, index: 0, amount: 200_000n }]
    const outputs = [
      { toAddress: fromAddress, amount: 90_000n },
      { toAddress, amount: 100_000n },
    ]
    const spent = await signForSeveral([await keyOf(derivationPath)], { coins, outputs }, wallet.parameters)
    await wallet.node.rpc.call('sendrawtransaction', [spent.raw])
    await wallet.mine(2)
    await wallet.follow()
    const { rows } = await wallet.pool.query(
      'select from_address, fee::text, payments from wallet.unknown_transactions where tx_hash = $1',
      [spent.txHash],
    )
    const payments = [{ toAddress, contractAddress: null, amount: '100000' }]
    expect(rows).toEqual([{ from_address: fromAddress, fee: '10000', payments }])
    const { rows: events } = await wallet.pool.query<{ tx: { txHash: string } }>(
      "select body::jsonb -> 'tx' as tx from wallet.webhook_deliveries where body::jsonb -> 'tx' ->> 'toAddress' = $1",
      [fromAddress],
    )
    expect(events.map(({ tx }) => tx.txHash)).toEqual([txHash])
    await wallet.order(`again ${type}`, { derivationPath, fromAddress, toAddress, amount: 50_000n })
    await wallet.send()
    expect(await wallet.read(`again ${type}`)).toMatchObject({
      status: 'queued',
      last_error: expect.stringContaining('UNKNOWN_TRANSACTIONS'),
    })
    expect(await acceptNonce(wallet.pool, { network: type, address: fromAddress, nextNonce: 1 })).toBe(true)
    expect(await settle(`again ${type}`)).toMatchObject({ status: 'confirmed' })
    expect(await wallet.balanceOf(toAddress)).toBe(150_000n)
  })

  test('rewards of all blocks are reported when the number of confirmations was raised meanwhile', async () => {
    account += 1
    const address = await wallet.derive(`m/44/${wallet.parameters.coinType}/${account}/0`)
    const script = Buffer.from(readAddress(address, wallet.parameters)!.script)
    await wallet.follow()
    await wallet.node.mine(8, script)
    // The rewards of the first blocks are reported with two confirmations, the others with six.
    await wallet.mine(95)
    await wallet.follow()
    const reported = (await depositsOf(address)).length
    expect([reported > 0, reported < 8]).toEqual([true, true])
    await wallet.restart({ confirmations: 6 })
    await wallet.mine(20)
    await wallet.follow()
    expect(await depositsOf(address)).toHaveLength(8)
    await wallet.restart({ confirmations: 2 })
  })

  test('the database refuses a transaction without the anchor, and an output that another transfer took', async () => {
    const from = await fund(700_000n, 600_000n)
    await wallet.order(`first ${type}`, { ...from, toAddress: wallet.recipient(account), amount: 100_000n })
    await wallet.send()
    await wallet.order(`other ${type}`, { ...from, toAddress: wallet.recipient(account), amount: 50_000n })
    const taken = `first ${type}`
    const other = wallet.pool.query('update wallet.coins set taken_by = $2 where taken_by = $1', [
      taken,
      `other ${type}`,
    ])
    await expect(other).rejects.toThrow(`is taken by transfer ${taken} already`)
    const free = wallet.pool.query('update wallet.coins set taken_by = null where taken_by = $1', [taken])
    await expect(free).rejects.toThrow('which has not ended')
    const bare = wallet.pool.query(
      `insert into wallet.transactions (client_id, id, number, nonce, kind, raw_transaction, tx_hash)
       select client_id, id, 1, nonce, 'payment', 'aa', 'bb' from wallet.transactions where id = $1`,
      [taken],
    )
    await expect(bare).rejects.toThrow(`a transaction of transfer ${taken} does not spend`)
  })
})
