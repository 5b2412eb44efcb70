import pg from 'pg'
import { deriveAddress } from '../addresses.ts'
import { openChain } from '../chains/bitcoin/open-chain.ts'
import { bitcoin, litecoin } from '../chains/bitcoin/parameters.ts'
import type { Chain } from '../chains/chain.ts'
import type { UtxoConfig } from '../chains/settings.ts'
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
import { type LitecoinNode, startLitecoinNode } from './litecoin-node.ts'
import { openUtxoFaucet } from './utxo-faucet.ts'

type Type = 'bitcoin' | 'litecoin'
const never = () => new Promise<never>(() => undefined)

/** Settings of a network on the node of a test. */
export async function utxoConfigOf(
  type: Type,
  { url, rpc }: LitecoinNode,
  { confirmations = 2 }: { confirmations?: number } = {},
): Promise<UtxoConfig> {
  return {
    type,
    rpcUrl: url,
    genesis: (await rpc.call('getblockhash', [0])) as string,
    confirmations,
    pollMilliseconds: 50,
    startBlock: 100,
    watchDepth: 50,
    feeRates: { low: 1_000n, medium: 2_000n, high: 4_000n },
    feeRateMax: 1_000_000n,
    spendMin: 10_000n,
  }
}

/**
 * Opens the parts of a wallet service and a node. A test runs their passes one by one.
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
  let config = await utxoConfigOf(type, node, settings)
  const open = async (): Promise<Chain> => openChain(type, config, pool)
  let chain = await open()
  const parts = () => ({ pool, keyring, authorities: null, chain, log })
  const faucet = await openUtxoFaucet(node, parameters)

  const headOf = async () => BigInt((await node.rpc.call('getblockcount')) as number)

  const watch = async (head: bigint) => {
    while ((await watchBlocks(parts(), head)).moreBlocks) {
      // One pass does not reach the head.
    }
  }

  return {
    node,
    pool,
    parameters,
    ...faucet,
    clientId,
    keyring,
    chain: () => chain,
    /** Goes on as another process, which knows only the content of the database. */
    async restart(changes: { confirmations?: number } = {}) {
      config = { ...config, ...changes }
      chain = await open()
    },
    derive: (derivationPath: string) =>
      deriveAddress({ pool, keyring, chain }, clientId, { coinType: parameters.coinType, derivationPath }),
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
    /** Makes a pass of the sender, as if the pauses after failed attempts were over. */
    async send() {
      await pool.query("update wallet.transfers set next_attempt_at = now() where status = 'queued' or resend")
      await sendTransfers(parts())
    },
    /** Runs a process that sends until it comes to the point, and is killed there: it does nothing more, and its connections end. */
    async sendAndDie(point: SendPoint) {
      const name = `dies-${point}`
      const mortal = new pg.Pool({ connectionString: database.url, application_name: name })
      mortal.on('error', () => undefined)
      // A connection in use reports its end itself.
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
      await watch(head)
    },
    /** Makes only the passes of `follow` that report deposits. */
    watch: async () => watch(await headOf()),
    /** Returns the balance of an address by the reports of the wallet service: deposits less amounts and fees of payments. */
    async booksOf(address: string): Promise<bigint> {
      const { rows } = await pool.query<{ books: string }>(
        `select ((select coalesce(sum(amount), 0) from wallet.deposits where tx ->> 'toAddress' = $1 and orphaned_at is null)
           - (select coalesce(sum(fee + case when status = 'confirmed' then amount else 0 end), 0) from wallet.transfers
              where from_address = $1 and status in ('confirmed', 'failed') and fee is not null))::text as books`,
        [address],
      )
      return BigInt(rows[0]!.books)
    },
    async stop() {
      await pool.end()
      await node.stop()
      await database.drop()
    },
  }
}

export type UtxoWallet = Awaited<ReturnType<typeof openUtxoWallet>>
