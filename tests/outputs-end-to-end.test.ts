import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOf } from '../wallet/src/chains/bitcoin/addresses.ts'
import { bitcoin, litecoin } from '../wallet/src/chains/bitcoin/parameters.ts'
import { litecoinProgram } from '../wallet/src/testing/litecoin-node.ts'
import { type Address, actOn, type OutputsVault, openOutputsVault, path, type Type } from './setup/outputs-vault.ts'
import { until } from './setup/running-service.ts'

/** The first key of the test vectors of BIP 84. */
const publicKey = Buffer.from('0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c', 'hex')
const types: Type[] = ['bitcoin', 'litecoin']

// The tests of a node are counted as skipped where its program is not installed (Debian: litecoind).
describe.skipIf(litecoinProgram === null)('one vault on Bitcoin and Litecoin', () => {
  let vault: OutputsVault
  beforeAll(async () => {
    vault = await openOutputsVault()
  })
  afterAll(() => vault?.stop())

  it('derives the addresses of both networks from keys that it has pinned', async () => {
    const { networks, addressCheck } = await vault.operator('GET', '/vaults/outputs', 200)
    expect(addressCheck).toBe('derived')
    expect(networks).toMatchObject([
      { type: 'bitcoin', addressCheck: 'derived' },
      { type: 'litecoin', addressCheck: 'derived' },
    ])
  })

  describe.each(types)('%s', (type) => {
    let on: ReturnType<typeof actOn>
    let operations: Address
    let savings: Address

    it('credits each output of a transaction that pays two addresses, one of them twice', async () => {
      on = actOn(vault, type)
      const { faucet } = on
      operations = await on.createAddress()
      savings = await on.createAddress()
      const hash = await faucet.payTogether([
        { toAddress: operations.address, amount: 60_000_000n },
        { toAddress: savings.address, amount: 50_000_001n },
        { toAddress: faucet.recipient(9), amount: 7_000_000n },
        { toAddress: operations.address, amount: 40_000_000n },
      ])
      await faucet.mine(2)
      await expect.poll(() => on.standingOf(operations)).toBe('1 0 0')
      await expect.poll(() => on.standingOf(savings)).toBe('0.50000001 0 0')
      expect((await on.depositsOf(operations)).map(({ txHash, index }) => [txHash, index]).sort()).toEqual([
        [hash, 0],
        [hash, 3],
      ])
      await on.expectAgreement(operations, savings)
    })

    it('pays a recipient once after a vote; the change comes back and is no deposit, and the fee is booked', async () => {
      const toAddress = on.faucet.recipient(1)
      const before = await on.faucet.balanceOf(operations.address)
      const { id, txHash } = await on.sent(operations, { toAddress, amount: '0.25' })
      const { txHash: mined, fee, status } = await on.ended(id)
      expect([mined, status]).toEqual([txHash, 'confirmed'])
      expect(before - (await on.faucet.balanceOf(operations.address))).toBe(25_000_000n + BigInt(fee!))
      expect(BigInt(fee!)).toBeGreaterThan(0n)
      expect(await on.faucet.balanceOf(toAddress)).toBe(25_000_000n)
      expect(await on.depositsOf(operations)).toHaveLength(2)
      await on.expectAgreement(operations, savings)
    })

    it('T75 speeds up a payment that is stuck, and pays it once', async () => {
      const toAddress = on.faucet.recipient(2)
      const { id, txHash, fee } = await on.sent(operations, { toAddress, amount: '0.1', feeLevel: 'low' })
      expect(fee).toBeNull()
      const before = await on.faucet.balanceOf(operations.address)
      const { speedUp } = await on.treasurer('POST', `${path}/${id}/replacement-preview`, 200)
      expect(speedUp).toMatchObject({ refusal: null, maxFee: { asset: on.coin } })
      const sped = await on.treasurer('POST', `${path}/${id}/speed-up`, 200, { txHash })
      // Where nodes do not replace transactions, a child pays for both, and the payment keeps its transaction.
      expect(sped.txHashes).toHaveLength(type === 'litecoin' ? 1 : 2)
      await on.untilPool((hashes) => (type === 'litecoin' ? hashes.length === 2 : !hashes.includes(txHash!)))
      const ended = await on.ended(id)
      expect(ended.status).toBe('confirmed')
      expect(before - (await on.faucet.balanceOf(operations.address))).toBe(10_000_000n + BigInt(ended.fee!))
      expect(await on.faucet.balanceOf(toAddress)).toBe(10_000_000n)
      await on.expectAgreement(operations, savings)
    })

    it('cancels a payment where nodes replace by fee, and elsewhere says why it cannot', async () => {
      const toAddress = on.faucet.recipient(3)
      const { id, txHash } = await on.sent(operations, { toAddress, amount: '0.1', feeLevel: 'low' })
      const { cancelOnChain } = await on.treasurer('POST', `${path}/${id}/replacement-preview`, 200)
      if (type === 'litecoin') {
        const sentence = 'This network replaces no transactions; a higher fee is possible, a cancellation is not'
        expect(cancelOnChain.refusal).toBe(sentence)
        const refused = await on.treasurer('POST', `${path}/${id}/cancel-on-chain`, 409, { txHash })
        expect(refused).toMatchObject({ reason: 'not_replaceable', details: sentence })
        expect((await on.ended(id)).status).toBe('confirmed')
      } else {
        expect(cancelOnChain).toMatchObject({ refusal: null })
        await on.treasurer('POST', `${path}/${id}/cancel-on-chain`, 200, { txHash })
        await on.untilPool((hashes) => !hashes.includes(txHash!))
        const { status, failureReason, fee } = await on.ended(id)
        expect([status, failureReason]).toEqual(['failed', expect.stringMatching(/^CANCELLED/)])
        expect(BigInt(fee!)).toBeGreaterThan(0n)
      }
      expect(await on.faucet.balanceOf(toAddress)).toBe(type === 'litecoin' ? 10_000_000n : 0n)
      await on.expectAgreement(operations, savings)
    })

    it('books a payment from one address of the vault to another on both sides', async () => {
      const deposits = (await on.depositsOf(operations)).length
      const { id } = await on.sent(operations, { toAddress: savings.address.toUpperCase(), amount: '0.01' })
      const { status, toAddress, flowType } = await on.ended(id)
      expect([status, toAddress, flowType]).toEqual(['confirmed', savings.address, 'internal'])
      await expect.poll(() => on.standingOf(savings)).toBe('0.51000001 0 0')
      expect(await on.depositsOf(operations)).toHaveLength(deposits)
      await on.expectAgreement(operations, savings)
    })

    it('pays twice before a block comes, and each payment once when the wallet service is killed between them', async () => {
      const toAddress = on.faucet.recipient(4)
      const first = await on.sent(savings, { toAddress, amount: '0.05', feeLevel: 'low' })
      const { id } = await on.order(savings, { toAddress, amount: '0.06' })
      await on.approve(id)
      await vault.restartWallet()
      await until(async () => (await on.read(id)).txHash !== null)
      const second = await on.read(id)
      // The first payment may not be replaced, because the second spends its change.
      const { speedUp } = await on.treasurer('POST', `${path}/${first.id}/replacement-preview`, 200)
      expect(speedUp.refusal).toMatch(/^A later transfer of the address/)
      await on.treasurer('POST', `${path}/${second.id}/speed-up`, 200, { txHash: second.txHash })
      expect((await on.ended(first.id)).status).toBe('confirmed')
      expect((await on.ended(second.id)).status).toBe('confirmed')
      expect(await on.faucet.balanceOf(toAddress)).toBe(11_000_000n)
      await on.expectAgreement(operations, savings)
    })

    it('pays to each kind of address, and the fee is the one of the preview', async () => {
      const kinds =
        type === 'bitcoin'
          ? [
              '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
              '3P14159f73E4gFr7JterCCQh9QjiTjiZrG',
              'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
              'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
            ]
          : ['LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9', 'MVcg9uEvtWuP5N6V48EHfEtbz48qR8TKZ9']
      for (const toAddress of kinds) {
        const body = { fromAddressId: operations.id, token: on.coin, toAddress, amount: '0.0123' }
        const before = await on.faucet.balanceOf(toAddress)
        const { fee } = await on.treasurer('POST', `${path}/preview`, 200, body)
        const { id } = await on.sent(operations, body)
        const ended = await on.ended(id)
        expect([toAddress, ended.status, ended.fee]).toEqual([toAddress, 'confirmed', fee!.amount])
        expect((await on.faucet.balanceOf(toAddress)) - before).toBe(1_230_000n)
      }
      await on.expectAgreement(operations, savings)
    })

    it('sends all of an address but the fee, and then it is empty', async () => {
      const toAddress = on.faucet.recipient(5)
      const address = await on.createAddress()
      for (const amount of [3_000_000n, 2_000_000n, 1_000_001n]) await on.faucet.pay(address.address, amount)
      await on.faucet.mine(2)
      await expect.poll(() => on.standingOf(address)).toBe('0.06000001 0 0')
      const body = { fromAddressId: address.id, token: on.coin, toAddress }
      const { fee } = await on.treasurer('POST', `${path}/preview`, 200, { ...body, amount: '0.0599' })
      // A rest below dust goes to the miner.
      const rest = 6_000_001n - BigInt(fee!.amount)
      const { id } = await on.sent(address, { ...body, amount: `0.0${rest}` })
      const ended = await on.ended(id)
      expect(ended).toMatchObject({ status: 'confirmed', fee: fee!.amount })
      expect(await on.heldBy(address)).toBe(0n)
      await on.expectAgreement(address)
    })

    it('T16 T17 takes a deposit back that a reorganisation removed, and credits it when it is mined again', async () => {
      const before = await on.standingOf(operations)
      const hash = await on.faucet.pay(operations.address, 5_000_000n)
      await on.faucet.mine(2)
      await until(async () => (await on.standingOf(operations)) !== before)
      const credited = await on.standingOf(operations)
      await leaveBlocks(2)
      await expect.poll(() => on.standingOf(operations)).toBe(before)
      await on.expectAgreement(operations)
      await on.faucet.mine(2)
      await expect.poll(() => on.standingOf(operations)).toBe(credited)
      expect((await on.depositsOf(operations)).filter(({ txHash }) => txHash === hash)).toHaveLength(1)
      await on.expectAgreement(operations, savings)
    })

    it('T17 orphans a deposit that can never come back, and people release the payment that would have spent it', async () => {
      const address = await on.createAddress()
      const [paid, taken] = await on.faucet.payTwice([address.address, on.faucet.recipient(6)], 4_000_000n)
      await on.node.rpc.call('sendrawtransaction', [paid!.raw])
      await on.faucet.mine(2)
      await expect.poll(() => on.standingOf(address)).toBe('0.04 0 0')
      const { id } = await on.sent(address, { toAddress: on.faucet.recipient(7), amount: '0.03' })
      expect(await on.standingOf(address)).toBe('0.01 0.03 0')
      await leaveBlocks(2, taken!.raw)
      await expect.poll(() => on.standingOf(address)).toBe('0 0.03 0.03')
      expect(await on.depositsOf(address)).toMatchObject([{ txHash: paid!.txHash, orphaned: { takenDecimal: '0.01' } }])
      await until(async () => {
        await on.askNow(id)
        return (await on.read(id)).haltReason?.includes(taken!.txHash) === true
      })
      const body = { outcome: 'release', reason: 'The deposit was spent elsewhere' }
      const { request } = await on.treasurer('POST', `${path}/${id}/resolve`, 202, body)
      await vault.approver('POST', `/vaults/outputs/approval-requests/${request.id}/approve`, 200, {})
      await expect.poll(async () => (await on.read(id)).status).toBe('failed')
      await expect.poll(() => on.standingOf(address)).toBe('0 0 0')
      await on.expectAgreement(address, operations, savings)
    })

    it('keeps a payment whose block the chain has left, and pays it once', async () => {
      const toAddress = on.faucet.recipient(8)
      const { id } = await on.sent(operations, { toAddress, amount: '0.02' })
      const ended = await on.ended(id)
      await leaveBlocks(3)
      await until(async () => {
        await on.faucet.mine(1)
        return (await on.faucet.balanceOf(toAddress)) > 0n
      })
      expect(await on.read(id)).toMatchObject({ status: 'confirmed', txHash: ended.txHash, fee: ended.fee })
      await on.faucet.mine(2)
      expect(await on.faucet.balanceOf(toAddress)).toBe(2_000_000n)
      await on.expectAgreement(operations, savings)
    })

    it('refuses an amount below dust, a payment to the sender and an address of another coin', async () => {
      const refused = async (body: object) =>
        JSON.stringify(
          await on.treasurer('POST', path, 400, {
            fromAddressId: operations.id,
            token: on.coin,
            amount: '0.1',
            ...body,
          }),
        )
      const toAddress = on.faucet.recipient(1)
      expect(await refused({ toAddress, amount: '0.000001' })).toContain(
        type === 'bitcoin' ? '0.00000294' : '0.0000294',
      )
      expect(await refused({ toAddress: operations.address })).toContain('toAddress')
      const other = type === 'bitcoin' ? litecoin : bitcoin
      expect(await refused({ toAddress: addressOf(publicKey, other) })).toContain('toAddress')
    })

    /** The chain leaves its last blocks for a longer branch of empty blocks, or with this transaction in its first one. */
    async function leaveBlocks(count: number, raw?: string) {
      const { rpc, mineOnly } = on.node
      const height = (await rpc.call('getblockcount')) as number
      await rpc.call('invalidateblock', [await rpc.call('getblockhash', [height - count + 1])])
      for (let block = 0; block <= count; block += 1)
        await mineOnly(on.faucet.stranger, block === 0 && raw !== undefined ? [raw] : [])
    }
  })
})
