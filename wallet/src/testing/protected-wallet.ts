import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Hex, parseEther } from 'viem'
import { startAnvil } from '../anvil.ts'
import type { Authority, Authorization, Order } from '../authority/documents.ts'
import { pinAuthority } from '../authority/protection.ts'
import { AuthorityStore } from '../authority/store.ts'
import type { WalletConfig } from '../config.ts'
import { startWallet } from '../start-wallet.ts'
import { createTestDatabase } from './database.ts'
import { controlChain } from './local-chain.ts'
import { authority, authorize, listed, order, requestOf, type TestKey, team } from './signing.ts'
import { openFaucet } from './test-token.ts'
import { call, deriveTestAddress, testConfig, waitFor } from './wallet-client.ts'

export type State = { status: string; txHash: string | null; txHashes: string[]; failureReason: string | null }
export type Refused = { details: string }

export type ProtectedWallet = Awaited<ReturnType<typeof startProtectedWallet>>

/** Starts a wallet service with a client for each name and a local chain. Returns the actions of people and attackers on them. */
export async function startProtectedWallet(names: string[], changes: Partial<WalletConfig> = {}) {
  const [anvil, database, directory] = await Promise.all([
    startAnvil(),
    createTestDatabase(),
    mkdtemp(join(tmpdir(), 'aut-')),
  ])
  const tokenOf = (name: string) => `token-of-the-vault-${name}-0001`
  const clients = names.map((name) => ({ name, token: tokenOf(name) }))
  const place = { databaseUrl: database.url, rpcUrl: anvil.rpcUrl, authorityDir: directory }
  const config = testConfig({ ...place, clients, ...changes })
  const pool = new pg.Pool({ connectionString: database.url })
  const chain = controlChain(anvil.rpcUrl)
  const faucet = openFaucet(anvil.rpcUrl)
  let running = await startWallet(config)
  let pathCount = 0

  const clientIdOf = async (name: string): Promise<string> => {
    const { rows } = await pool.query('select id from wallet.clients where name = $1', [name])
    return rows[0].id
  }

  const send = <T>(token: string, path: string, body?: object) =>
    call<T>(running.url, path, { token, ...(body === undefined ? {} : { body }) })

  /** Pins an authority, as the command does. Returns the address, the token and the functions that make orders of the client. */
  async function protect(name: string, changes: Partial<Authority> = {}) {
    const clientId = await clientIdOf(name)
    const pinned = { ...authority, vaultId: `vault-${name}`, ...changes }
    await pinAuthority(pool, new AuthorityStore(directory), clientId, pinned)
    const derivationPath = `m/44/60/0/${pathCount++}`
    const fromAddress = await deriveTestAddress(running.url, derivationPath, tokenOf(name))
    await chain.setBalance(fromAddress, parseEther('5'))
    // All orders have the same expiry, because the rows of a payout share it.
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const make = makerOf({ vaultId: pinned.vaultId, fromAddress, derivationPath, expiresAt })
    const sign = (signed: Order, approvers: TestKey[] = []) =>
      authorize(signed, { by: team.anna, approvers, under: pinned })
    return { clientId, pinned, make, sign, fromAddress, token: tokenOf(name) }
  }

  return {
    anvil,
    chain,
    config,
    directory,
    faucet,
    pool,
    clientIdOf,
    tokenOf,
    send,
    url: () => running.url,
    protect,
    ...transfersOf(send, pool),
    nonceOf: (address: string) => faucet.getTransactionCount({ address: address as Hex }),
    async restart(whileStopped: () => Promise<void> = async () => undefined) {
      await running.stop()
      await whileStopped()
      running = await startWallet(config)
    },
    async stop() {
      await running.stop()
      await pool.end()
      await anvil.stop()
      await database.drop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const makerOf =
  (fixed: Partial<Order>) =>
  (transferId: string, values: Partial<Order> = {}): Order => ({
    ...{ ...order, toAddress: listed, amount: '7' },
    ...{ ...fixed, transferId, ...values },
  })

type Send = <T>(token: string, path: string, body?: object) => ReturnType<typeof call<T>>

/** Returns functions that send orders as the service does, and functions that wait for their outcome. */
function transfersOf(send: Send, pool: pg.Pool) {
  return {
    /** Inserts a transfer as an attacker with write access to the database of the wallet service. */
    async forge(clientId: string, signed: Order, authorization: Authorization | null) {
      await pool.query(
        `insert into wallet.transfers (client_id, id, network, coin_type, derivation_path, from_address, to_address,
           amount, max_fee, signed_order) values ($1, $2, 'ethereum', 60, $3, $4, $5, $6, $7, $8)`,
        [
          ...[clientId, signed.transferId, signed.derivationPath, signed.fromAddress, signed.toAddress],
          ...[signed.amount, signed.maxFee ?? null, authorization === null ? null : JSON.stringify(authorization)],
        ],
      )
    },
    /** Sends an order with its authorization, as the service does. */
    hand: (token: string, signed: Order, authorization: unknown = authorize(signed, { by: team.anna })) =>
      send<State & Refused>(token, '/transfers', { ...requestOf(signed), authorization }),
    stateOf: async (token: string, id: string) => (await send<State>(token, `/transfers/${id}`)).body,
    settled: (token: string, id: string) =>
      waitFor(`${id} to settle`, async () => {
        const { body } = await send<State>(token, `/transfers/${id}`)
        return (body.status === 'confirmed' || body.status === 'failed') && body
      }),
    untilBroadcast: (token: string, id: string) =>
      waitFor(`the broadcast of ${id}`, async () => {
        const { status, txHash } = (await send<State>(token, `/transfers/${id}`)).body
        return status === 'broadcast' && txHash
      }),
    /** Waits until the wallet service has tried to sign, and waits itself for a reason that begins with `reason`. */
    untilWaits: (id: string, reason: string) =>
      waitFor(`${id} to wait`, async () => {
        const { rows } = await pool.query('select last_error from wallet.transfers where id = $1', [id])
        return rows[0].last_error?.startsWith(reason) ?? false
      }),
  }
}
