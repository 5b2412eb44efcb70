import { HDKey } from '@scure/bip32'
import pg from 'pg'
import { deriveAddress } from '../addresses.ts'
import { addressOf, readAddress, scriptOf } from '../chains/bitcoin/addresses.ts'
import { openChain } from '../chains/bitcoin/open-chain.ts'
import { bitcoin, litecoin } from '../chains/bitcoin/parameters.ts'
import { amountOf } from '../chains/bitcoin/rpc.ts'
import type { Coin } from '../chains/bitcoin/sizes.ts'
import type { Chain } from '../chains/chain.ts'
import { addClient, findClientByName } from '../clients.ts'
import { migrate } from '../database/migrate.ts'
import { watchBlocks } from '../deposits/watch-blocks.ts'
import { openKeyring } from '../keys/keyring.ts'
import { openLog } from '../log.ts'
import { followBlocks } from '../transfers/follow-blocks.ts'
import { getTransfer, orderTransfer } from '../transfers/order-transfer.ts'
import { quoteReplacement, replaceTransaction } from '../transfers/replace-transaction.ts'
import { sendTransfers } from '../transfers/send-transfers.ts'
import type { SendPoint } from '../transfers/sign-transfers.ts'
import { createTestDatabase, testPassphrase } from './database.ts'
import { startLitecoinNode } from './litecoin-node.ts'
import { signTransaction } from './sign-transaction.ts'

type Type = 'bitcoin' | 'litecoin'
const never = () => new Promise<never>(() => undefined)

/**
 * The parts of a wallet service and a node, whose passes a test makes one by one.
 * tidy: long because it lists what tests do with them
 */
export async function openUtxoWallet(type: Type, settings: { confirmations?: number } = {}) {
  const parameters = type === 'bitcoin' ? bitcoin : litecoin
  const [node, database] = await Promise.all([startLitecoinNode(type), createTestDatabase()])
  const pool = new pg.Pool({ connectionString: database.url })
  pool.on('error', () => undefined)
  await migrate(pool)
  const keyring = await openKeyring(pool, testPassphrase)
  await addClient(pool, keyring, type)
  const clientId = (await findClientByName(pool, type))!
  const log = openLog('silent')
  const open = async (): Promise<Chain> =>
    openChain(
      type,
      {
        type,
        rpcUrl: node.url,
        genesis: (await node.rpc.call('getblockhash', [0])) as string,
        confirmations: settings.confirmations ?? 2,
        pollMilliseconds: 50,
        startBlock: 100,
        watchDepth: 50,
        feeRates: { low: 1_000n, medium: 2_000n, high: 4_000n },
        feeRateMax: 1_000_000n,
        spendMin: 10_000n,
      },
      pool,
    )
  let chain = await open()
  const parts = () => ({ pool, keyring, authorities: null, chain, log })
  const faucet = HDKey.fromMasterSeed(Buffer.alloc(32, 7))
  const faucetScript = scriptOf(faucet.publicKey!)
  const stranger = scriptOf(HDKey.fromMasterSeed(Buffer.alloc(32, 8)).publicKey!)
  await node.mine(110, faucetScript)
  let faucetBlock = 0
  let minedTo = 0

  const headOf = async () => BigInt((await node.rpc.call('getblockcount')) as number)

  /** Blocks of a branch that was left must not be made again, so each pays another script. */
  const mine = async (count = 1) => {
    minedTo += 1
    await node.mine(count, scriptOf(HDKey.fromMasterSeed(Buffer.alloc(32, 9)).derive(`m/${minedTo}`).publicKey!))
  }

  return {
    node,
    pool,
    parameters,
    faucet,
    stranger,
    clientId,
    keyring,
    mine,
    chain: () => chain,
    /** Another process, which knows what the database has. */
    async restart() {
      chain = await open()
    },
    derive: (derivationPath: string) =>
      deriveAddress({ pool, keyring, chain }, clientId, { coinType: parameters.coinType, derivationPath }),
    /** Signs a payment of the faucet with a block reward of its own. */
    async payFrom(toAddress: string, amount: bigint) {
      faucetBlock += 1
      const hash = await node.rpc.call('getblockhash', [faucetBlock])
      const block = (await node.rpc.call('getblock', [hash, 2])) as {
        tx: { txid: string; vout: { n: number; value: unknown }[] }[]
      }
      const { txid, vout } = block.tx[0]!
      const coin: Coin = { txHash: txid, index: vout[0]!.n, amount: amountOf(vout[0]!.value)! }
      const payment = { toAddress, amount }
      return await signTransaction(
        faucet,
        { coins: [coin], payment, change: coin.amount - amount - 10_000n },
        parameters,
      )
    },
    async order(id: string, order: { derivationPath: string; fromAddress: string; toAddress: string; amount: bigint }) {
      const { amount, ...rest } = order
      const sent = { id, network: type, coinType: parameters.coinType, contractAddress: null, ...rest }
      return await orderTransfer(parts(), clientId, { ...sent, amount: amount.toString() })
    },
    read: (id: string) => getTransfer(pool, clientId, id),
    quote: async (id: string) => quoteReplacement(parts(), await getTransfer(pool, clientId, id)),
    async replace(id: string, kind: 'payment' | 'cancellation') {
      const transfer = await getTransfer(pool, clientId, id)
      await replaceTransaction(parts(), transfer, kind, { txHash: transfer.tx_hashes.at(-1) ?? null })
    },
    /** The rest after a failed attempt is over. */
    async send() {
      await pool.query("update wallet.transfers set next_attempt_at = now() where status = 'queued' or resend")
      await sendTransfers(parts())
    },
    /** A process that sends until it comes to the point, and is killed there: nothing of it runs on, and its connections end. */
    async sendAndDie(point: SendPoint) {
      const name = `dies-${point}`
      const mortal = new pg.Pool({ connectionString: database.url, application_name: name })
      mortal.on('error', () => undefined)
      // A connection that is in use tells its own end.
      mortal.on('connect', (client) => client.on('error', () => undefined))
      await new Promise<void>((reached) => {
        const at = async (here: SendPoint) => {
          if (here !== point) return
          Object.assign(mortal, { connect: never, query: never })
          reached()
          await never()
        }
        void sendTransfers({ ...parts(), pool: mortal, at }).catch(() => undefined)
      })
      await pool.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [name])
    },
    async follow() {
      const head = await headOf()
      while (await followBlocks(parts(), head)) {
        // One pass does not reach the head.
      }
      while ((await watchBlocks(parts(), head)).moreBlocks) {
        // As above.
      }
    },
    /** The chain's balance of an address, by the outputs that the node knows. */
    async balanceOf(address: string): Promise<bigint> {
      const script = Buffer.from(readAddress(address, parameters)!.script).toString('hex')
      const { total_amount } = (await node.rpc.call('scantxoutset', ['start', [`raw(${script})`]])) as {
        total_amount: unknown
      }
      return amountOf(total_amount)!
    },
    /** The balance of an address after what the wallet service told: deposits that stand, less amounts and fees of payments. */
    async booksOf(address: string): Promise<bigint> {
      const { rows } = await pool.query<{ books: string }>(
        `select ((select coalesce(sum(amount), 0) from wallet.deposits where tx ->> 'toAddress' = $1 and orphaned_at is null)
           - (select coalesce(sum(fee + case when status = 'confirmed' then amount else 0 end), 0) from wallet.transfers
              where from_address = $1 and status in ('confirmed', 'failed') and fee is not null))::text as books`,
        [address],
      )
      return BigInt(rows[0]!.books)
    },
    recipient: (index: number) =>
      addressOf(HDKey.fromMasterSeed(Buffer.alloc(32, 10)).derive(`m/${index}`).publicKey!, parameters),
    async stop() {
      await pool.end()
      await node.stop()
      await database.drop()
    },
  }
}

export type UtxoWallet = Awaited<ReturnType<typeof openUtxoWallet>>
