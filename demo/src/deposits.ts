import { join } from 'node:path'
import type { CreatePolicyBody, Strongroom } from '@strongroom/sdk'
import { type CoinNetwork, coins } from './coins.ts'
import { readJson, writeJson } from './data-files.ts'
import { done, ensureMembers, ensureTokens, findVault, type OrganisationWay } from './organisation.ts'
import { signIn } from './sign-in.ts'

export const depositsCode = 'deposits'
export const cashier = 'cashier@strongroom.localhost'

type Way = Pick<OrganisationWay, 'dataDir' | 'baseUrl' | 'adminEmail' | 'linkFor' | 'wallet'>
type Addresses = Record<CoinNetwork, string>
/** Records that the vault is complete. From then on its members manage it. */
type Mark = { walletUrl: string; addresses: Addresses }

/**
 * Sets up the vault with Bitcoin and Litecoin through the public API. Each step looks before it creates, so that the next start completes
 * an interrupted set-up.
 * @returns the address of the vault on each network
 */
export async function ensureDeposits(way: Way): Promise<Addresses> {
  const path = join(way.dataDir, 'deposits.json')
  const mark = readJson<Mark>(path)
  if (mark?.walletUrl === way.wallet.url) return mark.addresses
  const admin = await signIn(way.baseUrl, await way.linkFor(way.adminEmail))
  try {
    const addresses = mark?.addresses ?? (await completeVault(admin, way))
    const { url: walletServiceUrl, token: walletServiceSecret } = way.wallet
    if (mark !== null) await admin.vault(depositsCode).update({ walletServiceUrl, walletServiceSecret })
    writeJson(path, { walletUrl: way.wallet.url, addresses } satisfies Mark)
    return addresses
  } finally {
    await admin.auth.signOut()
  }
}

async function completeVault(admin: Strongroom, way: Way): Promise<Addresses> {
  const found = await findVault(admin, depositsCode)
  if (found === 'forbidden') throw new Error(`the administrator of the demo may not enter the vault ${depositsCode}`)
  const vault =
    found ??
    (await admin.vaults.create({
      vault: {
        code: depositsCode,
        name: 'Demo deposits',
        description: 'Bitcoin and Litecoin, on chains of this machine only.',
        walletServiceUrl: way.wallet.url,
        walletServiceSecret: way.wallet.token,
      },
      routes: {
        network: {
          order: 0,
          name: 'Network',
          variants: coins.map(({ coinType: id, network: code, name }) => ({ id, code, name })),
        },
        index: { order: 1, name: 'Index', dynamic: true },
      },
    }))
  for (const { network, code, symbol, name } of coins)
    await ensureTokens(admin, network, [{ code, symbol, name, decimals: 8, contractAddress: null }])
  if (vault.lockedAt === null) await admin.vault(depositsCode).lock()
  const groupId = await completeRules(admin)
  await ensureMembers(admin.vault(depositsCode), [{ email: cashier, groupId }], way)
  return await completeAddresses(way)
}

/** The cashier orders, and an administrator approves. */
async function completeRules(admin: Strongroom): Promise<string> {
  const { policyGroups, policies } = admin.vault(depositsCode)
  const present = (await policyGroups.list({ limit: 100 }).page()).items
  const code = 'cashiers'
  const known = present.find((group) => group.code === code)
  const cashiers = known?.id ?? done(await policyGroups.create({ code, name: 'Cashiers' })).id
  const administrators = present.find((group) => group.code === 'administrators')!.id
  const wanted: CreatePolicyBody[] = [
    { code: 'addresses', name: 'Cashiers create addresses', actionType: 'create_address', effect: 'allow' },
    {
      code: 'transfers',
      name: 'Every transfer: an administrator',
      actionType: 'transfer',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: administrators }],
    },
  ]
  const codes = (await policies.list({ limit: 100 }).page()).items.map((policy) => policy.code)
  const missing = wanted.filter((policy) => !codes.includes(policy.code))
  await Promise.all(missing.map((policy) => policies.create(cashiers, policy)))
  return cashiers
}

async function completeAddresses(way: Way): Promise<Addresses> {
  const person = await signIn(way.baseUrl, await way.linkFor(cashier))
  const { addresses } = person.vault(depositsCode)
  const { items } = await addresses.list({ limit: 100 }).page()
  const complete = async ({ network, code: token, name: label }: (typeof coins)[number]) => {
    const found = items.find((address) => address.network === network)
    const address = found ?? done(await addresses.create({ network, segments: {}, token, label }))
    return [network, address.address]
  }
  const entries = await Promise.all(coins.map(complete))
  await person.auth.signOut()
  return Object.fromEntries(entries) as Addresses
}
