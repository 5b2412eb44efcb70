import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../server/src/config/config.ts'
import { verifyTransfers } from '../server/src/modules/money/transfers/compare-order.ts'
import { verifyLedger } from '../server/src/modules/money/verifications/verify-ledger.ts'
import { verifyAudit } from '../server/src/modules/record/audit/verify.ts'
import { type RunningServer, startServer } from '../server/src/start.ts'
import { createTestDatabase } from '../server/src/testing/database.ts'
import { addressOf } from '../wallet/src/chains/bitcoin/addresses.ts'
import { bitcoin, litecoin } from '../wallet/src/chains/bitcoin/parameters.ts'
import { type RunningWallet, startWallet } from '../wallet/src/start-wallet.ts'
import { type LitecoinNode, litecoinProgram, startLitecoinNode } from '../wallet/src/testing/litecoin-node.ts'
import { openUtxoFaucet } from '../wallet/src/testing/utxo-faucet.ts'
import { utxoConfigOf } from '../wallet/src/testing/utxo-wallet.ts'
import { type Call, signInTo, until } from './setup/running-service.ts'

const webhookSecret = 'an end-to-end webhook secret'
const walletToken = 'an-end-to-end-wallet-service-token'
const path = '/vaults/outputs/transfers'
/** The first key of the test vectors of BIP 84. */
const publicKey = Buffer.from('0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c', 'hex')

// The tests of a node are counted as skipped where its program is not installed (Debian: litecoind).
describe.skipIf(litecoinProgram === null).each([bitcoin, litecoin])(
  'a vault on $type',
  ({ type, coinType, ...rest }) => {
    const parameters = { type, coinType, ...rest } as typeof bitcoin
    const coin = type === 'bitcoin' ? 'BTC' : 'LTC'
    let node: LitecoinNode
    let database: Awaited<ReturnType<typeof createTestDatabase>>
    let server: RunningServer
    let wallet: RunningWallet
    let faucet: Awaited<ReturnType<typeof openUtxoFaucet>>
    let operator: Call
    let treasurer: Call
    let approver: Call
    let address: { id: string; address: string }

    beforeAll(async () => {
      ;[node, database] = await Promise.all([startLitecoinNode(type), createTestDatabase()])
      faucet = await openUtxoFaucet(node, parameters)
      server = await startServer(
        readConfig({
          DEMO: 'true',
          PORT: '0',
          DATABASE_URL: database.url,
          STRONGROOM_ADMIN_EMAIL: 'operator@example.org',
          STRONGROOM_SECRET_KEY: 'an end-to-end key that is long enough',
          WALLET_WEBHOOK_SECRET: webhookSecret,
          LOG_LEVEL: 'silent',
        }),
      )
      wallet = await startWallet({
        databaseUrl: database.url,
        passphrase: 'an end-to-end passphrase',
        logLevel: 'silent',
        port: 0,
        host: '127.0.0.1',
        chains: { [type]: await utxoConfigOf(type, node) },
        webhookUrl: `${server.url}/webhooks/wallet`,
        webhookSecret,
        clients: [{ name: 'end-to-end', token: walletToken }],
      })
    })

    afterAll(async () => {
      await wallet?.stop()
      await server?.stop()
      await database?.drop()
      await node?.stop()
    })

    const readTotals = async () => {
      const { totals } = await treasurer('GET', `/vaults/outputs/balances?summary=true&addressId=${address.id}`, 200)
      const [total] = totals
      return total === undefined ? '' : `${total.availableDecimal} ${total.reservedDecimal} ${total.exposureDecimal}`
    }
    const read = (id: string) => treasurer('GET', `${path}/${id}`, 200)
    const untilMined = (id: string) =>
      until(async () => {
        await faucet.mine(1)
        return (await read(id)).status === 'confirmed'
      })
    const order = (body: object, by = treasurer) =>
      by('POST', path, 201, { fromAddressId: address.id, token: coin, ...body })
    const sent = async (body: object) => {
      const { id } = await order(body)
      await approver('POST', `${path}/${id}/approve`, 200, {})
      await until(async () => (await read(id)).txHash !== null)
      return await read(id)
    }
    /** Expects that the books of the address agree with the chain, and that no verifier finds a difference. */
    const expectBooksToEqualChain = async () => {
      const { totals } = await treasurer('GET', `/vaults/outputs/balances?summary=true&addressId=${address.id}`, 200)
      expect(BigInt(totals[0]!.available) + BigInt(totals[0]!.reserved)).toBe(await faucet.balanceOf(address.address))
      const { differences, tokens } = await operator('GET', '/vaults/outputs/ledger/reconciliation', 200)
      expect(differences).toEqual([])
      expect(tokens.map(({ token, difference }) => [token.code, difference])).toEqual([[coin, '0']])
      expect((await verifyLedger(server.deps.db)).differences).toEqual([])
      expect((await verifyTransfers(server.deps.db)).differences).toEqual([])
      expect((await verifyAudit(server.deps.db)).map(({ fault }) => fault)).toEqual([null, null])
    }

    it('derives addresses that follow from the key of the wallet service, and credits a deposit', async () => {
      operator = await signInTo(server, 'operator@example.org')
      await operator('POST', '/vaults', 201, {
        vault: { code: 'outputs', name: 'Outputs', walletServiceUrl: wallet.url, walletServiceSecret: walletToken },
        routes: {
          network: { order: 0, name: 'Network', variants: [{ id: coinType, code: type, name: type }] },
          index: { order: 1, name: 'Index', dynamic: true },
        },
      })
      await operator('POST', '/tokens', 201, {
        network: type,
        code: coin,
        symbol: coin,
        name: coin,
        decimals: 8,
        contractAddress: null,
      })
      const locked = await operator('POST', '/vaults/outputs/lock', 200)
      expect(locked.networks).toMatchObject([{ type, addressCheck: 'derived' }])
      const group = async (code: string) =>
        (await operator('POST', '/vaults/outputs/policy-groups', 201, { code, name: code })).id
      const [treasury, approvers] = [await group('treasury'), await group('approvers')]
      await operator('POST', '/invitations', 201, { email: 'treasurer@example.org', groupIds: [treasury] })
      await operator('POST', '/invitations', 201, { email: 'approver@example.org', groupIds: [approvers] })
      treasurer = await signInTo(server, 'treasurer@example.org')
      approver = await signInTo(server, 'approver@example.org')
      const policy = (body: object) => operator('POST', `/policy-groups/${treasury}/policies`, 201, body)
      await policy({ code: 'addresses', name: 'Addresses', actionType: 'create_address', effect: 'allow' })
      await policy({
        code: 'vote',
        name: 'Every transfer needs a vote',
        actionType: 'transfer',
        effect: 'requireApproval',
        approvalThreshold: 1,
        approvers: [{ kind: 'group', groupId: approvers }],
      })

      address = await treasurer('POST', '/vaults/outputs/addresses', 201, { network: type, segments: {}, token: coin })
      await faucet.pay(address.address, 100_000_000n)
      await faucet.mine(2)
      await until(async () => (await readTotals()) === '1 0 0')
      await expectBooksToEqualChain()
    })

    it('pays a recipient once after a vote; the change comes back and is no deposit, and the fee is booked', async () => {
      const toAddress = faucet.recipient(1)
      const { id, txHash } = await sent({ toAddress, amount: '0.25' })
      await untilMined(id)
      const { txHash: mined, fee } = await read(id)
      expect(mined).toBe(txHash)
      expect(BigInt(fee!)).toBeGreaterThan(0n)
      expect(await faucet.balanceOf(toAddress)).toBe(25_000_000n)
      const { items } = await treasurer('GET', `/vaults/outputs/deposits?addressId=${address.id}`, 200)
      expect(items).toHaveLength(1)
      await expectBooksToEqualChain()
    })

    it('T75 speeds up a payment that is stuck, and pays it once', async () => {
      const toAddress = faucet.recipient(2)
      const { id, txHash } = await sent({ toAddress, amount: '0.1', feeLevel: 'low' })
      const { speedUp } = await treasurer('POST', `${path}/${id}/replacement-preview`, 200)
      expect(speedUp).toMatchObject({ refusal: null, maxFee: { asset: coin } })
      const sped = await treasurer('POST', `${path}/${id}/speed-up`, 200, { txHash })
      // Where nodes do not replace transactions, a child pays for both, and the payment keeps its transaction.
      expect(sped.txHashes).toHaveLength(type === 'litecoin' ? 1 : 2)
      await untilMined(id)
      expect(await faucet.balanceOf(toAddress)).toBe(10_000_000n)
      await expectBooksToEqualChain()
    })

    it('cancels a payment where nodes replace by fee, and elsewhere says why it cannot', async () => {
      const toAddress = faucet.recipient(3)
      const { id, txHash } = await sent({ toAddress, amount: '0.1', feeLevel: 'low' })
      const { cancelOnChain } = await treasurer('POST', `${path}/${id}/replacement-preview`, 200)
      if (type === 'litecoin') {
        expect(cancelOnChain.refusal).toMatch(/replace/)
        await untilMined(id)
      } else {
        expect(cancelOnChain).toMatchObject({ refusal: null })
        await treasurer('POST', `${path}/${id}/cancel-on-chain`, 200, { txHash })
        await until(async () => {
          await faucet.mine(1)
          return (await read(id)).status === 'failed'
        })
        expect((await read(id)).failureReason).toMatch(/^CANCELLED/)
      }
      expect(await faucet.balanceOf(toAddress)).toBe(type === 'litecoin' ? 10_000_000n : 0n)
      await expectBooksToEqualChain()
    })

    it('T16 T17 takes a deposit back that a reorganisation removed, and credits it when it is mined again', async () => {
      const before = await readTotals()
      const hash = await faucet.pay(address.address, 5_000_000n)
      await faucet.mine(2)
      await until(async () => (await readTotals()) !== before)
      const height = (await node.rpc.call('getblockcount')) as number
      await node.rpc.call('invalidateblock', [await node.rpc.call('getblockhash', [height - 1])])
      for (const _block of [1, 2, 3]) await node.mineOnly(faucet.stranger, [])
      await until(async () => (await readTotals()) === before)
      await faucet.mine(2)
      await until(async () => (await readTotals()) !== before)
      const { items } = await treasurer('GET', `/vaults/outputs/deposits?addressId=${address.id}`, 200)
      expect(items.filter(({ txHash }) => txHash === hash)).toHaveLength(1)
      await expectBooksToEqualChain()
    })

    it('refuses an amount below dust, a payment to the sender and an address of another coin', async () => {
      const refused = async (body: object) =>
        JSON.stringify(
          await treasurer('POST', path, 400, { fromAddressId: address.id, token: coin, amount: '0.1', ...body }),
        )
      const toAddress = faucet.recipient(1)
      expect(await refused({ toAddress, amount: '0.000001' })).toContain(
        type === 'bitcoin' ? '0.00000294' : '0.0000294',
      )
      expect(await refused({ toAddress: address.address })).toContain('toAddress')
      const other = type === 'bitcoin' ? litecoin : bitcoin
      expect(await refused({ toAddress: addressOf(publicKey, other) })).toContain('toAddress')
    })
  },
)
