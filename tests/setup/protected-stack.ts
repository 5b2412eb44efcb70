import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { encodeFunctionData, erc20Abi, type Hex, parseEther } from 'viem'
import { readConfig } from '../../server/src/config/config.ts'
import { confirmationHeader, hashOfBody } from '../../server/src/http/confirmation.ts'
import { type RunningServer, startServer } from '../../server/src/start.ts'
import type { Address } from '../../server/src/testing/answer.ts'
import { Authenticator } from '../../server/src/testing/authenticator.ts'
import { createTestDatabase, createWalletDatabase } from '../../server/src/testing/database.ts'
import { startAnvil } from '../../wallet/src/anvil.ts'
import { AuthorityStore } from '../../wallet/src/authority/store.ts'
import { type RunningWallet, startWallet } from '../../wallet/src/start-wallet.ts'
import { testPassphrase } from '../../wallet/src/testing/database.ts'
import { controlChain } from '../../wallet/src/testing/local-chain.ts'
import { deployTestToken, type Faucet, openFaucet } from '../../wallet/src/testing/test-token.ts'
import { freePort } from './free-port.ts'
import { type LyingService, startLyingService } from './lying-service.ts'
import { type Call, signInTo, tokenOf, until } from './running-service.ts'

export const walletToken = 'a-protected-stack-wallet-service-token'
const webhookSecret = 'a protected stack webhook secret'

export type Member = { id: string; email: string; token: string }

/** Everything that runs where people protect a vault: the service behind a proxy, the wallet service with its page, and a chain. */
export type ProtectedStack = {
  server: RunningServer
  proxy: LyingService
  wallet: RunningWallet
  signingPage: string
  faucet: Faucet
  /** The contract of TUSD. */
  token: Hex
  /** The databases of the service and of the wallet service. */
  service: pg.Pool
  keeper: pg.Pool
  store: AuthorityStore
  clientId: string
  operator: Call
  stop(): Promise<void>
}

export async function startProtectedStack(): Promise<ProtectedStack> {
  const stops: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step()
  }
  try {
    return { ...(await start(stops)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(stops: (() => Promise<unknown>)[]): Promise<Omit<ProtectedStack, 'stop'>> {
  const anvil = await startAnvil()
  stops.push(() => anvil.stop())
  const [database, walletDatabase] = await Promise.all([createTestDatabase(), createWalletDatabase()])
  stops.push(database.drop, walletDatabase.drop)
  const faucet = openFaucet(anvil.rpcUrl)
  const token = await deployTestToken(faucet)
  const [servicePort, proxyPort, walletPort] = [await freePort(), await freePort(), await freePort()]
  const signingPage = `http://sign.localhost:${walletPort}`
  const proxy = await startLyingService(`http://127.0.0.1:${servicePort}`, proxyPort)
  stops.push(proxy.close)
  const server = await startServer(
    readConfig({
      DEMO: 'true',
      PORT: String(servicePort),
      PUBLIC_URL: proxy.url,
      CONSOLE: 'on',
      DATABASE_URL: database.url,
      STRONGROOM_ADMIN_EMAIL: 'operator@example.org',
      STRONGROOM_SECRET_KEY: 'a protected stack key that is long enough',
      WALLET_WEBHOOK_SECRET: webhookSecret,
      LOG_LEVEL: 'silent',
    }),
  )
  stops.push(server.stop)
  const authorityDir = await mkdtemp(join(tmpdir(), 'protected-stack-'))
  stops.push(() => rm(authorityDir, { recursive: true }))
  const wallet = await startWallet({
    databaseUrl: walletDatabase.url,
    passphrase: testPassphrase,
    logLevel: 'silent',
    port: walletPort,
    host: '127.0.0.1',
    chains: { ethereum: { rpcUrl: anvil.rpcUrl, chainId: anvil.chainId, confirmations: 1, pollMilliseconds: 100 } },
    webhookUrl: `http://127.0.0.1:${servicePort}/webhooks/wallet`,
    webhookSecret,
    clients: [{ name: 'treasury', token: walletToken }],
    authorityDir,
    signing: { origin: signingPage, consoleOrigin: proxy.url },
  })
  stops.push(() => wallet.stop())
  const keeper = new pg.Pool({ connectionString: walletDatabase.url })
  const service = new pg.Pool({ connectionString: database.url })
  stops.push(
    () => keeper.end(),
    () => service.end(),
  )
  await controlChain(anvil.rpcUrl).setAutomine(true)
  const operator = await signInTo(server, 'operator@example.org')
  const clientId = (await keeper.query('select id from wallet.clients')).rows[0].id
  const store = new AuthorityStore(authorityDir)
  return { server, proxy, wallet, signingPage, faucet, token, service, keeper, store, clientId, operator }
}

/** Opens the vault `treasury`, in which two approvers vote on every transfer; each initiator has an address with ETH and TUSD. */
export async function openVault<Name extends string>(
  { server, wallet, operator, token, faucet }: ProtectedStack,
  names: Record<Name, 'initiators' | 'approvers'>,
): Promise<{ vaultId: string; members: Record<Name, Member>; addresses: Map<Name, Address> }> {
  const { id: vaultId } = await operator('POST', '/vaults', 201, {
    vault: { code: 'treasury', name: 'Treasury', walletServiceUrl: wallet.url, walletServiceSecret: walletToken },
    routes: {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      index: { order: 1, name: 'Index', dynamic: true },
    },
  })
  const coin = { network: 'ethereum', code: 'ETH', symbol: 'ETH', name: 'Ether', decimals: 18, contractAddress: null }
  await operator('POST', '/tokens', 201, coin)
  const dollar = { network: 'ethereum', code: 'TUSD', symbol: 'TUSD', name: 'Test dollar', decimals: 6 }
  await operator('POST', '/tokens', 201, { ...dollar, contractAddress: token })
  await operator('POST', '/vaults/treasury/lock', 200)
  const group = (code: string) => operator('POST', '/vaults/treasury/policy-groups', 201, { code, name: code })
  const groups = { initiators: await group('initiators'), approvers: await group('approvers') }
  const members = {} as Record<Name, Member>
  for (const [name, of] of Object.entries(names) as [Name, keyof typeof groups][]) {
    const email = `${name}@example.org`
    await operator('POST', '/invitations', 201, { email, groupIds: [groups[of].id] })
    const { user } = await (await signInTo(server, email))('GET', '/auth/session', 200)
    members[name] = { id: user.id, email, token: await tokenOf(server, email) }
  }
  const twoVotes = {
    effect: 'requireApproval',
    approvalThreshold: 2,
    approvers: [{ kind: 'group', groupId: groups.approvers.id }],
  }
  for (const policy of [
    { code: 'addresses', name: 'Addresses', actionType: 'create_address', effect: 'allow' },
    { code: 'two-votes', name: 'Every transfer needs two votes', actionType: 'transfer', ...twoVotes },
  ])
    await operator('POST', `/policy-groups/${groups.initiators.id}/policies`, 201, policy)
  const addresses = new Map<Name, Address>()
  for (const name of (Object.keys(names) as Name[]).filter((name) => names[name] === 'initiators')) {
    const call = await signInTo(server, members[name].email)
    const wanted = { network: 'ethereum', segments: {}, token: 'ETH' }
    const address = await call('POST', '/vaults/treasury/addresses', 201, wanted)
    await fund(faucet, address.address as Hex, token)
    await until(async () => (await call('GET', '/vaults/treasury/balances', 200)).totals.length === 2)
    addresses.set(name, address)
  }
  return { vaultId, members, addresses }
}

async function fund(faucet: Faucet, to: Hex, token: Hex): Promise<void> {
  const args = [to, 1_000_000_000n] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  for (const transaction of [
    { to, value: parseEther('200') },
    { to: token, data },
  ]) {
    const hash = await faucet.sendTransaction({ ...transaction, chain: null })
    await faucet.waitForTransactionReceipt({ hash })
  }
}

/** Has the operator switch the protection of the vault on, who confirms it with a passkey. */
export async function switchOn({ operator, proxy }: ProtectedStack): Promise<void> {
  const key = new Authenticator(proxy.url)
  const { creation } = await operator('POST', '/users/me/passkeys/options', 200, {})
  await operator('POST', '/users/me/passkeys', 201, { name: 'Phone', credential: await key.register(creation) })
  const protection = { protection: 'votes' }
  const confirmed = { method: 'PUT', path: '/api/v1/vaults/treasury/protection', bodyHash: hashOfBody(protection)! }
  const prepared = await operator('POST', '/users/me/passkeys/confirmation', 200, confirmed)
  const header = Buffer.from(JSON.stringify(await key.confirm(confirmed, prepared))).toString('base64url')
  await operator('PUT', '/vaults/treasury/protection', 200, protection, { [confirmationHeader]: header })
}
