import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'vitest'
import { readConfig } from '../../server/src/config/config.ts'
import { unexplained, walkBalances } from '../../server/src/modules/money/reconciliations/chain-balances.ts'
import { verifyTransfers } from '../../server/src/modules/money/transfers/compare-order.ts'
import { verifyLedger } from '../../server/src/modules/money/verifications/verify-ledger.ts'
import { verifyAudit } from '../../server/src/modules/record/audit/verify.ts'
import { type RunningServer, startServer } from '../../server/src/start.ts'
import { buildProject } from '../../server/src/testing/build-project.ts'
import { bundledProgram } from '../../server/src/testing/bundled-program.ts'
import { createTestDatabase } from '../../server/src/testing/database.ts'
import { bitcoin, litecoin } from '../../wallet/src/chains/bitcoin/parameters.ts'
import { startLitecoinNode } from '../../wallet/src/testing/litecoin-node.ts'
import { openUtxoFaucet } from '../../wallet/src/testing/utxo-faucet.ts'
import { utxoConfigOf } from '../../wallet/src/testing/utxo-wallet.ts'
import { freePort } from './free-port.ts'
import { type Call, signInTo, until } from './running-service.ts'

const webhookSecret = 'an end-to-end webhook secret'
const walletToken = 'an-end-to-end-wallet-service-token'
export const path = '/vaults/outputs/transfers'

/** The networks of the vault, and the coin of each. */
export const coins = { bitcoin: 'BTC', litecoin: 'LTC' } as const
export type Type = keyof typeof coins
const parametersOf = { bitcoin, litecoin }

/** Starts a chain of each network, the service, and a wallet service as a process of its own, and sets up a vault with both networks. */
export async function openOutputsVault() {
  buildProject('build:wallet')
  const [database, port, ...networks] = await Promise.all([
    createTestDatabase(),
    freePort(),
    openNetwork('bitcoin'),
    openNetwork('litecoin'),
  ])
  const server = await startServer(
    readConfig({
      DEMO: 'true',
      PORT: '0',
      DATABASE_URL: database.url,
      STRONGROOM_ADMIN_EMAIL: 'operator@example.org',
      STRONGROOM_SECRET_KEY: 'an end-to-end key that is long enough',
      WALLET_WEBHOOK_SECRET: webhookSecret,
      GAS_CHECK: 'on',
      LOG_LEVEL: 'silent',
    }),
  )
  const entries = networks.map(async ({ type, node }) => {
    // JSON has no numbers of the type bigint.
    const { feeRateMax, spendMin, feeRates: _rates, ...config } = await utxoConfigOf(type, node)
    return [type, { ...config, feeRateMax: Number(feeRateMax), spendMin: Number(spendMin), askAgainSeconds: 1 }]
  })
  const chains = JSON.stringify(Object.fromEntries(await Promise.all(entries)))
  const start = () => startWalletProcess({ port, chains, databaseUrl: database.url, webhookOrigin: server.url })
  let wallet = await start()
  const people = await setUpVault(server, `http://127.0.0.1:${port}`)
  const [onBitcoin, onLitecoin] = networks
  return {
    server,
    ...people,
    networks: { bitcoin: onBitcoin!, litecoin: onLitecoin! },
    /** Kills the wallet service, as a power cut does, and starts it again. */
    async restartWallet() {
      await endProcess(wallet, 'SIGKILL')
      wallet = await start()
    },
    async stop() {
      await endProcess(wallet, 'SIGTERM')
      await server.stop()
      await database.drop()
      await Promise.all(networks.map(({ node }) => node.stop()))
    },
  }
}

export type OutputsVault = Awaited<ReturnType<typeof openOutputsVault>>

async function openNetwork(type: Type) {
  const parameters = parametersOf[type]
  const node = await startLitecoinNode(type)
  return { type, parameters, node, faucet: await openUtxoFaucet(node, parameters) }
}

type Launch = { port: number; chains: string; databaseUrl: string; webhookOrigin: string }

async function startWalletProcess({ port, chains, databaseUrl, webhookOrigin }: Launch): Promise<ChildProcess> {
  const child = fork(await bundledProgram('wallet/dist/cli.js'), ['serve'], {
    execArgv: [],
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: databaseUrl,
      PORT: `${port}`,
      WALLET_PASSPHRASE: 'an end-to-end passphrase',
      WALLET_CHAINS: chains,
      WEBHOOK_URL: `${webhookOrigin}/webhooks/wallet`,
      WEBHOOK_SECRET: webhookSecret,
      WALLET_CLIENTS: JSON.stringify([{ name: 'end-to-end', token: walletToken }]),
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the wallet service ended with ${code} while it was starting`)
    }),
  ])
  return child
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

async function setUpVault(server: RunningServer, walletServiceUrl: string) {
  const operator = await signInTo(server, 'operator@example.org')
  await operator('POST', '/vaults', 201, {
    vault: { code: 'outputs', name: 'Outputs', walletServiceUrl, walletServiceSecret: walletToken },
    routes: {
      network: {
        order: 0,
        name: 'Network',
        variants: [bitcoin, litecoin].map(({ type, coinType: id }) => ({ id, code: type, name: type })),
      },
      index: { order: 1, name: 'Index', dynamic: true },
    },
  })
  for (const [network, code] of Object.entries(coins))
    await operator('POST', '/tokens', 201, {
      network,
      code,
      symbol: code,
      name: code,
      decimals: 8,
      contractAddress: null,
    })
  await operator('POST', '/vaults/outputs/lock', 200)
  const group = async (code: string) =>
    (await operator('POST', '/vaults/outputs/policy-groups', 201, { code, name: code })).id
  const [treasury, approvers] = [await group('treasury'), await group('approvers')]
  await operator('POST', '/invitations', 201, { email: 'treasurer@example.org', groupIds: [treasury] })
  await operator('POST', '/invitations', 201, { email: 'approver@example.org', groupIds: [approvers] })
  const treasurer = await signInTo(server, 'treasurer@example.org')
  const approver = await signInTo(server, 'approver@example.org')
  const policy = (body: object) => operator('POST', `/policy-groups/${treasury}/policies`, 201, body)
  await policy({ code: 'addresses', name: 'Addresses', actionType: 'create_address', effect: 'allow' })
  for (const actionType of ['transfer', 'transfer_resolve'])
    await policy({
      code: actionType.replace('_', '-'),
      name: `A vote for each ${actionType}`,
      actionType,
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: approvers }],
    })
  return { operator, treasurer, approver }
}

/** Returns what people and strangers do on one network of the vault. */
export function actOn(vault: OutputsVault, type: Type) {
  const { server, treasurer, approver, networks } = vault
  const { node, faucet, parameters } = networks[type]
  const read = (id: string) => treasurer('GET', `${path}/${id}`, 200)
  const order = (from: Address, body: object) =>
    treasurer('POST', path, 201, { fromAddressId: from.id, token: coins[type], ...body })
  const approve = (id: string) => approver('POST', `${path}/${id}/approve`, 200, {})
  const standingOf = async ({ id }: Address) => {
    const { totals } = await treasurer('GET', `/vaults/outputs/balances?summary=true&addressId=${id}`, 200)
    const [total] = totals
    return total === undefined ? '' : `${total.availableDecimal} ${total.reservedDecimal} ${total.exposureDecimal}`
  }
  return {
    type,
    coin: coins[type],
    parameters,
    node,
    faucet,
    treasurer,
    read,
    order,
    approve,
    standingOf,
    heldBy: (address: Address) => heldBy(treasurer, address),
    createAddress: (): Promise<Address> =>
      treasurer('POST', '/vaults/outputs/addresses', 201, { network: type, segments: {}, token: coins[type] }),
    depositsOf: async ({ id }: Address) =>
      (await treasurer('GET', `/vaults/outputs/deposits?addressId=${id}`, 200)).items,
    /** Orders and approves a payment, and returns it when its transaction is sent. */
    async sent(from: Address, body: object) {
      const { id } = await order(from, body)
      await approve(id)
      await until(async () => (await read(id)).txHash !== null)
      return await read(id)
    },
    /** Lets the service ask the wallet service about a transfer now, as if the ten minutes between two questions had passed. */
    askNow: (id: string) =>
      server.deps.db.updateTable('deliveries').set({ next_attempt_at: new Date() }).where('id', '=', id).execute(),
    /** Waits until the transactions that wait for a block are as wanted. */
    untilPool: (isWanted: (hashes: string[]) => boolean) =>
      until(async () => isWanted((await node.rpc.call('getrawmempool')) as string[])),
    /** Mines until the transfer has ended, and returns it. */
    async ended(id: string) {
      await until(async () => {
        await faucet.mine(1)
        return ['confirmed', 'failed'].includes((await read(id)).status)
      })
      return await read(id)
    },
    expectAgreement: (...addresses: Address[]) => expectAgreement(vault, type, addresses),
  }
}

/** Expects that books, wallet service and chain agree on the addresses, and that no verifier finds a difference. */
async function expectAgreement({ server, operator, networks }: OutputsVault, type: Type, addresses: Address[]) {
  const { faucet } = networks[type]
  for (const address of addresses) {
    const held = () => heldBy(operator, address)
    await expect.poll(held, { message: address.address }).toBe(await faucet.balanceOf(address.address))
  }
  const { differences, tokens } = await operator('GET', '/vaults/outputs/ledger/reconciliation', 200)
  expect(differences).toEqual([])
  expect(tokens.map(({ difference }) => difference)).toEqual(tokens.map(() => '0'))
  const { id: vaultId } = await operator('GET', '/vaults/outputs', 200)
  const deadline = () => AbortSignal.timeout(30_000)
  for await (const { page } of walkBalances(server.deps, vaultId, { after: null, deadline })) {
    const found = page.map(({ onChain, ...booked }) => [
      booked.address,
      onChain === null ? null : unexplained(booked, onChain),
    ])
    expect(found).toEqual(page.map(({ address }) => [address, 0n]))
  }
  expect((await verifyLedger(server.deps.db)).differences).toEqual([])
  expect((await verifyTransfers(server.deps.db)).differences).toEqual([])
  expect((await verifyAudit(server.deps.db)).map(({ fault }) => fault)).toEqual([null, null])
}

async function heldBy(reader: Call, { id }: Address): Promise<bigint> {
  const { totals } = await reader('GET', `/vaults/outputs/balances?summary=true&addressId=${id}`, 200)
  return totals.reduce((sum, { available, reserved }) => sum + BigInt(available) + BigInt(reserved), 0n)
}

export type Address = { id: string; address: string }
