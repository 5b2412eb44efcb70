import { join } from 'node:path'
import { type Client, signIn } from './api-client.ts'
import { token, tokenAddress } from './chain.ts'
import { readJson, writeJson } from './data-files.ts'

export const vaultCode = 'treasury'
export const people = {
  treasurer: 'treasurer@strongroom.localhost',
  secondTreasurer: 'second.treasurer@strongroom.localhost',
  thirdTreasurer: 'third.treasurer@strongroom.localhost',
  compliance: 'compliance@strongroom.localhost',
}
const addressLabel = 'Operations'

type Way = {
  dataDir: string
  /** The URL of the server on this machine. */
  baseUrl: string
  adminEmail: string
  linkFor(email: string): Promise<string>
  wallet: { url: string; token: string }
  walletReady: Promise<unknown>
  /** Funds an address on chain, once. */
  fund(address: string, isCredited: boolean): Promise<void>
}

/** Records that the organisation of a vault is complete; from then on its members manage it and the demo does not repair it. */
type Mark = { vaultId: string; walletUrl: string; address: string }

type Vault = { id: string; lockedAt: string | null; walletServiceUrl: string }
type Page<Item> = { items: Item[] }
type Group = { id: string; code: string }
type Address = { id: string; address: string; label: string | null; balances: unknown[] }

/**
 * Sets up the demo organisation through the public API. Each step looks before it creates, so a set-up that was
 * interrupted is completed by the next start. Returns the on-chain address of the treasurer.
 */
export async function ensureOrganisation(way: Way): Promise<{ address: string }> {
  const markPath = join(way.dataDir, 'organisation.json')
  const mark = readJson<Mark>(markPath)
  const admin = await signIn(way.baseUrl, await way.linkFor(way.adminEmail))
  try {
    const { status, body: vault } = await admin.find<Vault>(`/vaults/${vaultCode}`)
    // A member removed the demo's administrator from the vault, which is permitted.
    if (mark !== null && status === 403) return mark
    if (mark !== null && vault?.id === mark.vaultId) {
      if (vault.walletServiceUrl === mark.walletUrl && mark.walletUrl !== way.wallet.url) {
        await pointToWallet(admin, way.wallet.url)
        writeJson(markPath, { ...mark, walletUrl: way.wallet.url })
      }
      return mark
    }
    const vaultId = await completeVault(admin, vault, way.wallet)
    // Policies name tokens and groups, which must exist before them.
    const [groups] = await Promise.all([completeGroups(admin), completeTokens(admin)])
    await Promise.all([completePolicies(admin, groups), completePeople(admin, groups, way)])
    const address = await completeAddress(admin, way)
    await way.fund(address.address, address.balances.length > 0)
    writeJson(markPath, { vaultId, walletUrl: way.wallet.url, address: address.address } satisfies Mark)
    return address
  } finally {
    await admin.signOut()
  }
}

async function pointToWallet(admin: Client, walletServiceUrl: string): Promise<void> {
  await admin.request('PATCH', `/vaults/${vaultCode}`, { walletServiceUrl })
}

async function completeVault(admin: Client, found: Vault | null, wallet: Way['wallet']): Promise<string> {
  const vault = found ?? (await admin.request<Vault>('POST', '/vaults', vaultDraft(wallet)))
  if (vault.walletServiceUrl !== wallet.url) await pointToWallet(admin, wallet.url)
  if (vault.lockedAt === null) await admin.request('POST', `/vaults/${vaultCode}/lock`)
  return vault.id
}

function vaultDraft(wallet: Way['wallet']) {
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

async function completeTokens(admin: Client): Promise<void> {
  const { items } = await admin.request<Page<{ code: string }>>('GET', '/tokens?network=ethereum&limit=100')
  const ether = { code: 'ETH', symbol: 'ETH', name: 'Ether', decimals: 18, contractAddress: null }
  const wanted = [ether, { ...token, contractAddress: tokenAddress }]
  const missing = wanted.filter(({ code }) => !items.some((item) => item.code === code))
  await Promise.all(missing.map((one) => admin.request('POST', '/tokens', { network: 'ethereum', ...one })))
}

type Groups = { administrators: string; treasury: string; compliance: string }

async function completeGroups(admin: Client): Promise<Groups> {
  const path = `/vaults/${vaultCode}/policy-groups`
  const { items } = await admin.request<Page<Group>>('GET', `${path}?limit=100`)
  const ensure = async (code: string, name: string) =>
    (items.find((group) => group.code === code) ?? (await admin.request<Group>('POST', path, { code, name }))).id
  const [treasury, compliance] = await Promise.all([ensure('treasury', 'Treasury'), ensure('compliance', 'Compliance')])
  return { treasury, compliance, administrators: items.find(({ code }) => code === 'administrators')!.id }
}

async function completePolicies(admin: Client, groups: Groups): Promise<void> {
  const { items } = await admin.request<Page<{ code: string }>>('GET', `/vaults/${vaultCode}/policies?limit=100`)
  const missing = policiesOf(groups).filter(({ code }) => !items.some((item) => item.code === code))
  await Promise.all(
    missing.map(({ groupId, ...policy }) => admin.request('POST', `/policy-groups/${groupId}/policies`, policy)),
  )
}

/** Three layers by amount: small needs no vote, medium one of the treasury, large two of it and one of compliance. */
function policiesOf({ administrators, treasury, compliance }: Groups) {
  const allow = { effect: 'allow' }
  const votes = (approvalThreshold: number, groupId: string) => ({
    effect: 'requireApproval',
    approvalThreshold,
    approvers: [{ kind: 'group', groupId }],
  })
  const when = (code: string, ...amounts: object[]) => ({
    actionType: 'transfer',
    groupId: treasury,
    rules: [
      {
        conditionType: 'require',
        selectors: [
          { selectorType: 'token', value: code },
          ...amounts.map((value) => ({ selectorType: 'amount', value })),
        ],
      },
    ],
  })
  const above = (value: string) => ({ op: 'gt', value })
  const upTo = (value: string) => ({ op: 'lte', value })
  const newAddress = { actionType: 'create_address', ...allow }
  return [
    { code: 'treasury-addresses', name: 'The treasury creates addresses', groupId: treasury, ...newAddress },
    { code: 'admin-addresses', name: 'Administrators create addresses', groupId: administrators, ...newAddress },
    { code: 'tusd-small', name: 'Up to 100 TUSD', ...when('TUSD', upTo('100')), ...allow },
    {
      code: 'tusd-medium',
      name: 'Up to 10,000 TUSD: one of the treasury',
      ...when('TUSD', above('100'), upTo('10000')),
      ...votes(1, treasury),
    },
    // A large amount matches both policies, and each has its own threshold.
    {
      code: 'tusd-large-treasury',
      name: 'Above 10,000 TUSD: two of the treasury',
      ...when('TUSD', above('10000')),
      ...votes(2, treasury),
    },
    {
      code: 'tusd-large-compliance',
      name: 'Above 10,000 TUSD: one of compliance',
      ...when('TUSD', above('10000')),
      ...votes(1, compliance),
    },
    { code: 'eth-small', name: 'Up to 0.1 ETH', ...when('ETH', upTo('0.1')), ...allow },
    {
      code: 'eth-large',
      name: 'Above 0.1 ETH: two of the treasury',
      ...when('ETH', above('0.1')),
      ...votes(2, treasury),
    },
  ]
}

/** Users become members when they sign in; the demo does it for them, so that it can be used at once. */
async function completePeople(admin: Client, groups: Groups, way: Way): Promise<void> {
  type Invitation = { email: string; status: string }
  const invitations = await admin.request<Invitation[]>('GET', `/vaults/${vaultCode}/invitations`)
  const members = [
    { email: people.treasurer, groupId: groups.treasury },
    { email: people.secondTreasurer, groupId: groups.treasury },
    { email: people.thirdTreasurer, groupId: groups.treasury },
    { email: people.compliance, groupId: groups.compliance },
  ]
  await Promise.all(
    members.map(async ({ email, groupId }) => {
      const status = invitations.find((invitation) => invitation.email === email)?.status
      if (status === 'accepted') return
      if (status !== 'pending') await admin.request('POST', '/invitations', { email, groupIds: [groupId] })
      const person = await signIn(way.baseUrl, await way.linkFor(email))
      await person.signOut()
    }),
  )
}

async function completeAddress(admin: Client, way: Way): Promise<Address> {
  const path = `/vaults/${vaultCode}/addresses`
  const { items } = await admin.request<Page<Address>>('GET', `${path}?search=${addressLabel}&limit=100`)
  const found = items.find(({ label }) => label === addressLabel)
  if (found !== undefined) return found
  await way.walletReady
  const treasurer = await signIn(way.baseUrl, await way.linkFor(people.treasurer))
  const order = { network: 'ethereum', segments: { desk: 'operations' }, token: token.code, label: addressLabel }
  const created = await treasurer.request<Address>('POST', path, order)
  await treasurer.signOut()
  return created
}
