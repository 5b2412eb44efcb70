import { join } from 'node:path'
import {
  type Address,
  type CreateVaultBody,
  type Outcome,
  type Strongroom,
  StrongroomError,
  type Vault,
} from '@strongroom/sdk'
import { type Payment, token, tokenAddress } from './chain.ts'
import { readJson, writeJson } from './data-files.ts'
import { demoPolicies, type Groups } from './policies.ts'
import { demoRates } from './rates.ts'
import { signIn } from './sign-in.ts'

export const vaultCode = 'treasury'
export const people = {
  secondAdministrator: 'second.admin@strongroom.localhost',
  treasurer: 'treasurer@strongroom.localhost',
  secondTreasurer: 'second.treasurer@strongroom.localhost',
  thirdTreasurer: 'third.treasurer@strongroom.localhost',
  compliance: 'compliance@strongroom.localhost',
}
const addressLabel = 'Operations'
/** Compliance requests this address, so that something waits for the administrator from the first minute. */
const requestedLabel = 'Escrow'

export type OrganisationWay = {
  dataDir: string
  /** The URL of the server on this machine. */
  baseUrl: string
  adminEmail: string
  linkFor(email: string): Promise<string>
  wallet: { url: string; token: string }
  walletReady: Promise<unknown>
  /** Funds an address on chain, once. */
  fund(payment: Payment): Promise<void>
}

/**
 * Records that the organisation of a vault is complete. From then on its members manage it, and the demo does not
 * repair it.
 */
type Mark = { vaultId: string; walletUrl: string; address: string }

/**
 * Sets up the demo organisation through the public API. Each step looks before it creates, so that the next start
 * completes an interrupted set-up.
 * @returns the on-chain address of the treasurer, and the page of an item that waits for a vote of the administrator
 */
export async function ensureOrganisation(way: OrganisationWay): Promise<{ address: string; waitingPath: string }> {
  const markPath = join(way.dataDir, 'organisation.json')
  const mark = readJson<Mark>(markPath)
  const admin = await signIn(way.baseUrl, await way.linkFor(way.adminEmail))
  try {
    const found = await findVault(admin, vaultCode)
    // A member removed the demo's administrator from the vault, which is permitted.
    if (mark !== null && found === 'forbidden') return { ...mark, waitingPath: '/' }
    const vault = found === 'forbidden' ? null : found
    if (mark !== null && vault?.id === mark.vaultId) {
      if (vault.walletServiceUrl === mark.walletUrl && mark.walletUrl !== way.wallet.url) {
        await pointToWallet(admin, way)
        writeJson(markPath, { ...mark, walletUrl: way.wallet.url })
      }
      return { ...mark, waitingPath: await findWaiting(admin) }
    }
    const vaultId = await completeVault(admin, vault, way)
    // Policies name tokens and groups, which must exist before them.
    const [groups] = await Promise.all([completeGroups(admin), ensureTokens(admin, 'ethereum', ethereumTokens)])
    await Promise.all([completePolicies(admin, groups), completePeople(admin, groups, way)])
    const address = await completeAddress(admin, way)
    await way.fund({ address: address.address, isCredited: address.balances.length > 0 })
    await requestAddress(way)
    await completeGovernance(admin)
    writeJson(markPath, { vaultId, walletUrl: way.wallet.url, address: address.address } satisfies Mark)
    return { address: address.address, waitingPath: await findWaiting(admin) }
  } finally {
    await admin.auth.signOut()
  }
}

export async function findVault(admin: Strongroom, code: string): Promise<Vault | 'forbidden' | null> {
  try {
    return await admin.vault(code).get()
  } catch (error) {
    if (error instanceof StrongroomError && error.status === 403) return 'forbidden'
    if (error instanceof StrongroomError && error.status === 404) return null
    throw error
  }
}

/**
 * Registers the URL of the wallet service. Another port is another origin, to which a stored secret is not sent. Like
 * every change of the rules of the complete vault, it needs the vote of the second administrator.
 */
async function pointToWallet(admin: Strongroom, way: OrganisationWay): Promise<void> {
  const { url, token } = way.wallet
  const change = { walletServiceUrl: url, walletServiceSecret: token }
  const { pendingApproval } = await admin.vault(vaultCode).update(change)
  if (pendingApproval === null) return
  const second = await signIn(way.baseUrl, await way.linkFor(people.secondAdministrator))
  await second.vault(vaultCode).approvalRequests.approve(pendingApproval.id)
  await second.auth.signOut()
}

async function completeVault(admin: Strongroom, found: Vault | null, way: OrganisationWay): Promise<string> {
  const { wallet } = way
  const vault = found ?? (await admin.vaults.create(vaultDraft(wallet)))
  if (vault.walletServiceUrl !== wallet.url) await pointToWallet(admin, way)
  if (vault.lockedAt === null) await admin.vault(vaultCode).lock()
  return vault.id
}

function vaultDraft(wallet: OrganisationWay['wallet']): CreateVaultBody {
  return {
    vault: {
      code: vaultCode,
      name: 'Demo treasury',
      description: 'An organisation to try things with. Its funds are on a chain of this machine only.',
      walletServiceUrl: wallet.url,
      walletServiceSecret: wallet.token,
    },
    routes: {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      desk: {
        order: 1,
        name: 'Desk',
        variants: [
          { id: 1, code: 'operations', name: 'Operations' },
          { id: 2, code: 'payroll', name: 'Payroll' },
        ],
      },
      index: { order: 2, name: 'Index', dynamic: true },
    },
  }
}

const ether = { code: 'ETH', symbol: 'ETH', name: 'Ether', decimals: 18, contractAddress: null }
const ethereumTokens = [ether, { ...token, contractAddress: tokenAddress }]

type TokenDraft = Omit<Parameters<Strongroom['tokens']['create']>[0], 'network'>

/** Creates the tokens of a network that are missing, with their rates. */
export async function ensureTokens(admin: Strongroom, network: string, wanted: TokenDraft[]): Promise<void> {
  const { items } = await admin.tokens.list({ network, limit: 100 }).page()
  const missing = wanted.filter(({ code }) => !items.some((item) => item.code === code))
  await Promise.all(
    missing.map(async (body) => {
      const { id } = await admin.tokens.create({ network, ...body })
      // The server reads its rates only once a minute. Recording the rate here values deposits that arrive earlier.
      const usdRate = demoRates[body.code]!
      await admin.tokens.recordRate(id, { usdRate, asOf: new Date().toISOString(), source: 'demo' })
    }),
  )
}

async function completeGroups(admin: Strongroom): Promise<Groups> {
  const { policyGroups } = admin.vault(vaultCode)
  const { items } = await policyGroups.list({ limit: 100 }).page()
  const ensure = async (code: string, name: string) =>
    (items.find((group) => group.code === code) ?? done(await policyGroups.create({ code, name }))).id
  const [treasury, compliance] = await Promise.all([ensure('treasury', 'Treasury'), ensure('compliance', 'Compliance')])
  return { treasury, compliance, administrators: items.find(({ code }) => code === 'administrators')!.id }
}

async function completePolicies(admin: Strongroom, groups: Groups): Promise<void> {
  const { policies } = admin.vault(vaultCode)
  const { items } = await policies.list({ limit: 100 }).page()
  const missing = demoPolicies(groups).filter(({ code }) => !items.some((item) => item.code === code))
  await Promise.all(missing.map(({ groupId, ...policy }) => policies.create(groupId, policy)))
}

async function completePeople(admin: Strongroom, groups: Groups, way: OrganisationWay): Promise<void> {
  const members = [
    { email: people.secondAdministrator, groupId: groups.administrators },
    { email: people.treasurer, groupId: groups.treasury },
    { email: people.secondTreasurer, groupId: groups.treasury },
    { email: people.thirdTreasurer, groupId: groups.treasury },
    { email: people.compliance, groupId: groups.compliance },
  ]
  await ensureMembers(admin.vault(vaultCode), members, way)
}

type SignInWay = Pick<OrganisationWay, 'baseUrl' | 'linkFor'>
type Member = { email: string; groupId: string }

/** Signs the users in for the first time, which makes them members, so that the demo can be used at once. */
export async function ensureMembers(
  vault: ReturnType<Strongroom['vault']>,
  members: Member[],
  way: SignInWay,
): Promise<void> {
  const invitations = await vault.invitations.list()
  await Promise.all(
    members.map(async ({ email, groupId }) => {
      const status = invitations.find((invitation) => invitation.email === email)?.status
      if (status === 'accepted') return
      if (status !== 'pending') await vault.invitations.create({ email, groupIds: [groupId] })
      const person = await signIn(way.baseUrl, await way.linkFor(email))
      await person.auth.signOut()
    }),
  )
}

async function completeAddress(admin: Strongroom, way: OrganisationWay): Promise<Address> {
  const { items } = await admin.vault(vaultCode).addresses.list({ search: addressLabel, limit: 100 }).page()
  const found = items.find(({ label }) => label === addressLabel)
  if (found !== undefined) return found
  await way.walletReady
  const treasurer = await signIn(way.baseUrl, await way.linkFor(people.treasurer))
  const order = { network: 'ethereum', segments: { desk: 'operations' }, token: token.code, label: addressLabel }
  const { value: created } = await treasurer.vault(vaultCode).addresses.create(order)
  await treasurer.auth.signOut()
  if (created === null) throw new Error(`a policy holds the creation of the address ${addressLabel} for approval`)
  return created
}

async function requestAddress(way: OrganisationWay): Promise<void> {
  const compliance = await signIn(way.baseUrl, await way.linkFor(people.compliance))
  const { approvalRequests, addresses } = compliance.vault(vaultCode)
  const { items } = await approvalRequests.list({ limit: 1 }).page()
  if (items.length === 0) {
    const order = { network: 'ethereum', segments: { desk: 'payroll' }, token: token.code, label: requestedLabel }
    await addresses.create(order)
  }
  await compliance.auth.signOut()
}

/** Requires the vote of the other administrator for changes of the rules from now on. */
async function completeGovernance(admin: Strongroom): Promise<void> {
  const { governance } = admin.vault(vaultCode)
  if ((await governance.get()).threshold > 0) return
  await governance.update({ threshold: 1, looseningDelayHours: 0, tighteningDelayHours: 0 })
}

/** Returns the page of the newest item that waits for a vote of the administrator, or the first page of the console. */
async function findWaiting(admin: Strongroom): Promise<string> {
  const [item] = (await admin.inbox.list({ limit: 1 }).page()).items
  if (item === undefined) return '/'
  const kind = item.kind === 'approval_request' ? 'request' : item.kind
  return `/v/${item.vault.code}/approvals/${kind}/${item.id}`
}

/**
 * Returns the value of a change that took effect at once. During the set-up of a vault, changes of its rules need no
 * votes.
 */
export function done<Value>({ value }: Outcome<Value, unknown>): Value {
  if (value === null) throw new Error('a change of a vault of the demo waits for votes')
  return value
}
