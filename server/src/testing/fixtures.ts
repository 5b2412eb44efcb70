import { expect } from 'vitest'
import type { Address, AnswerOf, Network, Policy, Token, Vault } from './answer.ts'
import type { Person, TestApp } from './app.ts'
import type { FakeKeys } from './fake-account-keys.ts'
import { type FakeWallet, fakeAddress, fakeTxHash, startFakeWallet } from './fake-wallet.ts'

export type VaultFixture = {
  /** The code of the vault, as paths name it. */
  code: string
  id: string
  vault: Vault
  wallet: FakeWallet
  /** A platform administrator. They are also an administrator of the vault, as its creator. */
  admin: Person
  networks: { ethereum: Network }
  tokens: { eth: Token; usdt: Token }
  groups: { administrators: string; everyone: string }
}

export const usdtContract = '0xdAC17F958D2ee523a2206206994597C13D831ec7'

/** The derivation structure of fixtures: m/44/<coin type>/<purpose>/<index>. */
export const fixtureRoutes = {
  network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
  purpose: {
    order: 1,
    name: 'Purpose',
    variants: [
      { id: 1, code: 'ops', name: 'Operations' },
      { id: 2, code: 'payroll', name: 'Payroll' },
    ],
  },
  index: { order: 2, name: 'Index', dynamic: true },
}

/**
 * Creates a locked vault with a fake wallet, the network ethereum, and the tokens ETH (18) and USDT (6). Call it several times
 * with different codes for several vaults. `wallet.close()` need not be called: its server keeps no process alive.
 */
export async function createVaultFixture(
  test: TestApp,
  {
    code = 'main-vault',
    adminEmail = 'operator@example.org',
    routes = fixtureRoutes as object,
    isLocked = true,
    keys = null,
  }: { code?: string; adminEmail?: string; routes?: object; isLocked?: boolean; keys?: FakeKeys | null } = {},
): Promise<VaultFixture> {
  const wallet = await startFakeWallet()
  wallet.keys = keys
  const admin = await test.signIn(adminEmail, { isPlatformAdmin: true })
  const created = await admin.post('/vaults', {
    vault: { code, name: 'Main vault', walletServiceUrl: wallet.url, walletServiceSecret: wallet.secret },
    routes,
  })
  expect(created.status).toBe(201)
  const eth = await ensureToken(admin, { code: 'ETH', symbol: 'ETH', name: 'Ether', decimals: 18 })
  const usdt = await ensureToken(admin, {
    code: 'USDT',
    symbol: 'USDT',
    name: 'Tether USD',
    decimals: 6,
    contractAddress: usdtContract,
  })
  const vault = isLocked ? await admin.post(`/vaults/${code}/lock`) : await admin.get(`/vaults/${code}`)
  expect(vault.status).toBe(200)
  const groups = await test.deps.db
    .selectFrom('policy_groups')
    .select(['id', 'code'])
    .where('vault_id', '=', vault.body.id)
    .where('is_system', '=', true)
    .execute()
  const groupId = (name: string) => groups.find((group) => group.code === name)!.id
  return {
    code,
    id: vault.body.id,
    vault: vault.body,
    wallet,
    admin,
    networks: { ethereum: vault.body.networks.find((network) => network.coinType === 60)! },
    tokens: { eth, usdt },
    groups: { administrators: groupId('administrators'), everyone: groupId('everyone') },
  }
}

async function ensureToken(admin: Person, token: Record<string, unknown>): Promise<Token> {
  const answer = await admin.post('/tokens', { network: 'ethereum', contractAddress: null, ...token })
  if (answer.status === 201) return answer.body
  expect(answer.status).toBe(409)
  const { body } = await admin.get('/tokens?network=ethereum&limit=100')
  return body.items.find((item) => item.code === token.code)!
}

/** Returns the profile, as it stands beside an id, of a person who has not changed it. */
export function profileOf({ userId, email }: Person) {
  return { userId, kind: 'person', name: email.split('@')[0]!, image: null }
}

/** Signs a person in and adds them to groups of the vault, by code. Groups that do not exist yet are created. */
export async function addMember(
  test: TestApp,
  vault: VaultFixture,
  email: string,
  groupCodes: string[] = ['members'],
): Promise<Person> {
  const person = await test.signIn(email)
  for (const code of groupCodes) {
    const id = await ensureGroup(vault, code)
    const answer = await vault.admin.post(`/policy-groups/${id}/members`, { userId: person.userId })
    expect([201, 409], JSON.stringify(answer.body)).toContain(answer.status)
  }
  return person
}

/** Returns the id of the vault's group with this code, and creates the group when it does not exist. */
export async function ensureGroup(vault: VaultFixture, code: string): Promise<string> {
  const created = await vault.admin.post(`/vaults/${vault.code}/policy-groups`, { code, name: code })
  if (created.status === 201) return created.body.id
  expect(created.status, JSON.stringify(created.body)).toBe(409)
  const { body } = await vault.admin.get(`/vaults/${vault.code}/policy-groups?limit=100`)
  return body.items.find((group) => group.code === code)!.id
}

/** Creates a policy in the group `everyone` unless `groupId` names another one; returns the wire Policy. */
export async function createPolicy(
  vault: VaultFixture,
  { groupId = vault.groups.everyone, ...policy }: Record<string, unknown> & { groupId?: string },
): Promise<Policy> {
  const answer = await vault.admin.post(`/policy-groups/${groupId}/policies`, policy)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

/** Allows every member of the vault the action, by a policy of the group `everyone` without rules. */
export async function allowAll(vault: VaultFixture, actionType: string): Promise<void> {
  await createPolicy(vault, {
    code: `allow-all-${actionType.replaceAll('_', '-')}`,
    name: `Allow ${actionType}`,
    actionType,
    effect: 'allow',
  })
}

/** Creates an address through HTTP and returns the wire Address. The purpose is `ops` by default. */
export async function createAddress(
  person: Person,
  {
    vault = 'main-vault',
    network = 'ethereum',
    segments = { purpose: 'ops' },
    ...rest
  }: { vault?: string; network?: string; segments?: Record<string, string>; token?: string; label?: string } = {},
): Promise<Address> {
  const answer = await person.post(`/vaults/${vault}/addresses`, { network, segments, ...rest })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

let deposits = 0

/** Posts a deposit to the webhook as the wallet would. `asset` is a contract or null for the coin, `amount` is in token units. */
export async function deposit(
  test: TestApp,
  {
    address,
    asset = null,
    amount,
    network = 'ethereum',
    txHash = fakeTxHash(`deposit ${++deposits}`),
    fromAddress = fakeAddress('somebody outside'),
    ...rest
  }: {
    address: string
    asset?: string | null
    amount: string
    network?: string
    txHash?: string
    fromAddress?: string
    index?: number
    blockTime?: string
  },
): Promise<AnswerOf<'post', '//webhooks/wallet'>> {
  const tx = { network, asset, amount, toAddress: address, txHash, fromAddress, ...rest }
  const answer = await test.anonymous.post('//webhooks/wallet', { kind: 'TOPUP', tx })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer
}
