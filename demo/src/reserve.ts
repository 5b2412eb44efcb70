import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CreatePolicyBody, type Outcome, type Strongroom, StrongroomError } from '@strongroom/sdk'
import { authorityOf, followOrigin, type KeyStore, pinAuthority } from './authority.ts'
import type { Payment } from './chain.ts'
import { readJson, writeJson } from './data-files.ts'
import { signIn } from './sign-in.ts'
import { newPasskey, SoftwarePasskey, type StoredPasskey } from './software-passkey.ts'

export const reserveCode = 'reserve'
/** The people of the vault. Each has a passkey in software, because a terminal has no fingerprint reader. */
export const keeperNames = ['anna', 'ben', 'clara', 'david', 'ella'] as const
export type KeeperName = (typeof keeperNames)[number]
/** The keeper who also administers the vault. */
const administrator: KeeperName = 'ella'
const emailOf = (name: KeeperName) => `${name}@strongroom.localhost`

export const reserveDir = (dataDir: string) => join(dataDir, 'reserve')
/**
 * Returns the directory in which the wallet service keeps authorities. The wallet service refuses to start without it,
 * so deleting it does not end the protection.
 */
export const authorityDir = (dataDir: string) => join(dataDir, 'authorities')

/** Records that the vault is complete, with the data that its passkeys need to sign. */
export type Reserve = {
  vaultId: string
  /** URL of the API on this machine, and the origin of the pages. */
  baseUrl: string
  origin: string
  walletUrl: string
  addressId: string
  /** The sender of all payments, as its people know it. */
  address: string
  userIds: Record<KeeperName, string>
}

export type ReserveWay = {
  dataDir: string
  baseUrl: string
  origin: string
  adminEmail: string
  linkFor(email: string): Promise<string>
  wallet: { url: string; token: string }
  keyStore: KeyStore
  /** Funds an address on chain, once. */
  fund(payment: Payment): Promise<void>
}

/** Reads the reserve as the last start left it. Returns null if it is not complete. */
export const readReserve = (dataDir: string): Reserve | null =>
  readJson<Reserve>(join(reserveDir(dataDir), 'reserve.json'))

/**
 * Each person has a passkey for the pages of the service, and one for the page of the wallet service, which the
 * authority names.
 */
type Purpose = 'sign-in' | 'signing'

/** Reads the passkey of a person, from a file that only its owner can read. */
export function readPasskey(
  dataDir: string,
  name: KeeperName,
  { purpose, origin }: { purpose: Purpose; origin: string },
): SoftwarePasskey | null {
  const stored = readJson<StoredPasskey>(passkeyPath(dataDir, name, purpose))
  return stored === null ? null : new SoftwarePasskey(origin, stored)
}

const files: Record<Purpose, string> = { 'sign-in': 'passkey', signing: 'signing-key' }
const passkeyPath = (dataDir: string, name: KeeperName, purpose: Purpose) =>
  join(reserveDir(dataDir), `${name}.${files[purpose]}.json`)

/**
 * Returns the origin of the page on which people sign, which the wallet service serves. Its host differs from that of
 * the console, on the same machine.
 */
export const signingOriginOf = (walletUrl: string): string => `http://sign.localhost:${new URL(walletUrl).port}`

/** Reads a passkey, or makes it if its file does not exist. */
function ensurePasskey(dataDir: string, name: KeeperName, { purpose, origin }: { purpose: Purpose; origin: string }) {
  const known = readPasskey(dataDir, name, { purpose, origin })
  if (known !== null) return known
  // One person gets the other type of key that authenticators make, so that the demo has both.
  const made = newPasskey(name === 'clara' ? 'EdDSA' : 'ES256')
  writeJson(passkeyPath(dataDir, name, purpose), made)
  return new SoftwarePasskey(origin, made)
}

/**
 * Sets up a vault with `protection: votes` through the public API and the ceremony of the wallet service. As with the
 * other vault, the next start completes an interrupted set-up.
 */
export async function ensureReserve(way: ReserveWay): Promise<void> {
  const known = readReserve(way.dataDir)
  if (known !== null) return keepReserve(known, way)
  mkdirSync(reserveDir(way.dataDir), { recursive: true, mode: 0o700 })
  const admin = await signIn(way.baseUrl, await way.linkFor(way.adminEmail))
  try {
    const vaultId = await completeVault(admin, way)
    const groups = await completeRules(admin)
    const enrolled = await Promise.all(keeperNames.map((name) => enrol(admin, groups, name, way)))
    const { id: addressId, address } = await completeAddress(enrolled[0]!.person, way)
    const keepers = enrolled.map(({ id, name }) => ({ id, key: signingKeyOf(name, way) }))
    const document = authorityOf(vaultId, keepers, null)
    await pinAuthority(way.keyStore, reserveCode, document, join(reserveDir(way.dataDir), 'authority-1.json'))
    // The person who protects the vault needs a passkey.
    const { person } = enrolled.find(({ name }) => name === administrator)!
    await person.vault(reserveCode).protection.update({ protection: 'votes' })
    await Promise.all(enrolled.map(({ person }) => person.auth.signOut()))
    const userIds = Object.fromEntries(enrolled.map(({ name, id }) => [name, id])) as Reserve['userIds']
    await followPages(userIds, way)
    writeReserve(way, { vaultId, addressId, address, userIds })
  } finally {
    await admin.auth.signOut()
  }
}

function writeReserve(
  { dataDir, baseUrl, origin, wallet }: ReserveWay,
  rest: Pick<Reserve, 'vaultId' | 'addressId' | 'address' | 'userIds'>,
) {
  const reserve: Reserve = { ...rest, baseUrl, origin, walletUrl: wallet.url }
  writeJson(join(reserveDir(dataDir), 'reserve.json'), reserve)
}

/**
 * Adapts the vault to changed ports: the URL of the wallet service and the origin of the signing keys contain a port.
 */
async function keepReserve(known: Reserve, way: ReserveWay): Promise<void> {
  if (known.walletUrl !== way.wallet.url) await pointToWallet(way)
  await followPages(known.userIds, way)
  writeReserve(way, known)
}

/**
 * Registers the URL of the wallet service. In a protected vault, the passkey of an administrator confirms this change.
 */
async function pointToWallet({ dataDir, baseUrl, origin, linkFor, wallet }: ReserveWay): Promise<void> {
  const key = readPasskey(dataDir, administrator, { purpose: 'sign-in', origin })
  if (key === null) throw new Error(`the passkey of ${administrator} is gone`)
  const person = await signInWith(key, administrator, { baseUrl, linkFor })
  await person.vault(reserveCode).update({ walletServiceUrl: wallet.url, walletServiceSecret: wallet.token })
  await person.auth.signOut()
}

/** Signs a keeper in. The passkey of the keeper confirms the calls that need a confirmation. */
async function signInWith(key: SoftwarePasskey, name: KeeperName, way: Pick<ReserveWay, 'baseUrl' | 'linkFor'>) {
  const person: Strongroom = await signIn(way.baseUrl, await way.linkFor(emailOf(name)), async (call) =>
    key.confirm(call, await person.me.prepareConfirmation(call as Parameters<typeof person.me.prepareConfirmation>[0])),
  )
  return person
}

const signingKeyOf = (name: KeeperName, { dataDir, wallet }: Pick<ReserveWay, 'dataDir' | 'wallet'>) =>
  ensurePasskey(dataDir, name, { purpose: 'signing', origin: signingOriginOf(wallet.url) })

/**
 * Makes the authority name the current page of the wallet service. Until then it may name another page, such as the
 * page of the service.
 */
async function followPages(userIds: Reserve['userIds'], way: ReserveWay): Promise<void> {
  const keepers = keeperNames.map((name) => ({ id: userIds[name], key: signingKeyOf(name, way) }))
  const findSigner = (credentialId: string, origin: string): SoftwarePasskey | null => {
    const keys = keeperNames.flatMap((name) =>
      (['signing', 'sign-in'] as const).map((purpose) => readPasskey(way.dataDir, name, { purpose, origin })),
    )
    return keys.find((key) => key?.id.toString('base64url') === credentialId) ?? null
  }
  await followOrigin(way.wallet, keepers, findSigner)
}

async function completeVault(admin: Strongroom, { wallet }: ReserveWay): Promise<string> {
  const found = await admin
    .vault(reserveCode)
    .get()
    .catch((error: unknown) => {
      if (error instanceof StrongroomError && error.status === 404) return null
      throw error
    })
  const vault =
    found ??
    (await admin.vaults.create({
      vault: {
        code: reserveCode,
        name: 'Demo reserve',
        description: 'A protected vault: nothing leaves without the passkeys of its people.',
        walletServiceUrl: wallet.url,
        walletServiceSecret: wallet.token,
      },
      routes: {
        network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
        index: { order: 1, name: 'Index', dynamic: true },
      },
    }))
  if (vault.lockedAt === null) await admin.vault(reserveCode).lock()
  return vault.id
}

type Groups = { keepers: string; administrators: string }

/** Creates the rules of the service. The authority of the wallet service demands the same votes again. */
async function completeRules(admin: Strongroom): Promise<Groups> {
  const { policyGroups, policies } = admin.vault(reserveCode)
  const code = 'keepers'
  const present = (await policyGroups.list({ limit: 100 }).page()).items
  const groupId =
    present.find((group) => group.code === code)?.id ?? done(await policyGroups.create({ code, name: 'Keepers' })).id
  const known = (await policies.list({ limit: 100 }).page()).items
  const wanted: CreatePolicyBody[] = [
    { code: 'addresses', name: 'Keepers create addresses', actionType: 'create_address', effect: 'allow' },
    {
      code: 'two-votes',
      name: 'Every transfer: two other keepers',
      actionType: 'transfer',
      effect: 'requireApproval',
      approvalThreshold: 2,
      approvers: [{ kind: 'group', groupId }],
    },
  ]
  const missing = wanted.filter(({ code: wantedCode }) => !known.some((policy) => policy.code === wantedCode))
  await Promise.all(missing.map((policy) => policies.create(groupId, policy)))
  return { keepers: groupId, administrators: present.find((group) => group.code === 'administrators')!.id }
}

/** Invites a person, signs them in and adds their passkey, with the same requests as the console. */
async function enrol(admin: Strongroom, groups: Groups, name: KeeperName, way: ReserveWay) {
  const { invitations } = admin.vault(reserveCode)
  const isInvited = (await invitations.list()).some(({ email }) => email === emailOf(name))
  const groupIds = name === administrator ? [groups.keepers, groups.administrators] : [groups.keepers]
  if (!isInvited) await invitations.create({ email: emailOf(name), groupIds })
  const key = ensurePasskey(way.dataDir, name, { purpose: 'sign-in', origin: way.origin })
  const person = await signInWith(key, name, way)
  const { user } = await person.auth.getCurrentSession()
  const present = (await person.me.listPasskeys().page()).items
  const credentialId = key.id.toString('base64url')
  if (!present.some((passkey) => passkey.credentialId === credentialId)) {
    const { creation } = await person.me.preparePasskey()
    const body = { name: 'Software passkey of the demo', credential: await key.register(creation) }
    const added = done(await person.me.addPasskey(body))
    // Compares the key that its owner sees with the key that the service has, before the wallet service trusts it.
    if (added.publicKey !== key.publicKey.toString('base64url'))
      throw new Error(`the service has another key of ${name}`)
  }
  return { name, id: user.id, key, person }
}

async function completeAddress(person: Strongroom, way: ReserveWay): Promise<{ id: string; address: string }> {
  const { addresses } = person.vault(reserveCode)
  const found = (await addresses.list({ limit: 1 }).page()).items[0]
  const order = { network: 'ethereum', segments: {}, token: 'ETH', label: 'Reserve' }
  const address = found ?? done(await addresses.create(order))
  await way.fund({ address: address.address, isCredited: address.balances.length > 0 })
  return address
}

function done<Value>({ value }: Outcome<Value, unknown>): Value {
  if (value === null) throw new Error('A change of the vault reserve waits for votes')
  return value
}
