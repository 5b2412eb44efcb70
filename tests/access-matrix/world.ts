import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'vitest'
import { canonicalJson } from '../../server/src/lib/canonical-json.ts'
import { newId } from '../../server/src/lib/ids.ts'
import { newSecret, sha256 } from '../../server/src/lib/secrets.ts'
import { signerOf } from '../../server/src/modules/reports/archives/manifest.ts'
import { makeFile } from '../../server/src/modules/reports/exports/make-file.ts'
import { exportJobs } from '../../server/src/modules/reports/exports/queries.ts'
import type { Person, TestApp } from '../../server/src/testing/app.ts'
import { createDirectory } from '../../server/src/testing/directory.ts'
import { fakeAddress, fakeTxHash } from '../../server/src/testing/fake-wallet.ts'
import {
  allowAll,
  createAddress,
  createPolicy,
  createVaultFixture,
  deposit,
  ensureGroup,
  type VaultFixture,
} from '../../server/src/testing/fixtures.ts'
import { asPng, pngOf } from '../../server/src/testing/images.ts'
import { StringFinder } from './string-finder.ts'

/**
 * The columns of the table. `nobody` stands for every invalid credential. The resources of the requests belong to the
 * owner, who shares them: `userViewer` sees them by a grant to the user, `groupViewer` by one to a group, and `grantee` may
 * also spend from the address. `directory` is the directory of a company, whose token opens its own endpoints alone.
 */
export const callerNames = [
  'nobody',
  'outsider',
  'owner',
  'userViewer',
  'groupViewer',
  'grantee',
  'other',
  'approver',
  'admin',
  'foreignAdmin',
  'platform',
  'service',
  'foreignService',
  'auditor',
  'directory',
] as const
export type CallerName = (typeof callerNames)[number]
export type Caller = { name: string; headers: Record<string, string>; email: string | null }

/**
 * The identifiers that requests refer to, and the code of their vault. They stay the same until `renew`, which must be
 * called when a write may have used one up.
 */
export type Resources = {
  code: string
  address(): Promise<string>
  payingAddress(): Promise<string>
  network(): Promise<string>
  image(): Promise<string>
  token(): Promise<string>
  heldRate(): Promise<string>
  platformChange(): Promise<string>
  deposit(): Promise<string>
  /** An event that contradicts a deposit. */
  quarantined(): Promise<string>
  transfer(): Promise<string>
  payout(): Promise<string>
  hold(): Promise<string>
  /** A hold on a person, placed by somebody other than the callers. */
  holdOnPerson(): Promise<string>
  adjustment(): Promise<string>
  lateRatedTransfer(): Promise<string>
  approvalRequest(): Promise<string>
  /** Hash of the version of the authority that waits, or was cancelled. */
  waitingVersion(): Promise<string>
  session(): Promise<string>
  invitation(): Promise<string>
  serviceToken(): Promise<string>
  serviceKey(): Promise<{ id: string; keyId: string }>
  /** A draft on the newest version of the rules. */
  changeSet(): Promise<string>
  withheldToken(): Promise<string>
  /** The newest version of the rules. */
  rulesVersion(): Promise<string>
  group(): Promise<string>
  membership(): Promise<{ id: string; userId: string }>
  /** A member who occurs nowhere else in these resources. */
  leaver(): Promise<string>
  disabledUser(): Promise<string>
  policy(): Promise<string>
  addressGrant(): Promise<{ id: string; grantId: string }>
  folder(): Promise<string>
  folderMember(): Promise<{ id: string; addressId: string }>
  folderGrant(): Promise<{ id: string; grantId: string }>
  counterparty(): Promise<string>
  counterpartyAddress(): Promise<{ id: string; addressId: string }>
  counterpartyGroup(): Promise<string>
  counterpartyMember(): Promise<{ id: string; counterpartyId: string }>
  category(): Promise<string>
  categoryKey(): Promise<string>
  categoryField(): Promise<{ id: string; fieldId: string }>
  assignment(): Promise<{ type: string; id: string; categoryId: string }>
  relation(): Promise<string>
  reportExport(): Promise<string>
  verification(): Promise<string>
  backtest(): Promise<string>
  route(): Promise<string>
  variant(): Promise<string>
}

/** Secret strings by the callers who may not read them; the sets grow with what requests of the tests create. */
type Secrets = {
  /** Of the vault: for its members. */
  vault: Set<string>
  /** Of the owner alone: an address that is not shared and its deposits; and the grants on the others. */
  owner: Set<string>
  /** Of the owner's shared resources: labels, addresses, deposits, folders. */
  shared: Set<string>
  /** Of the transfers from shared addresses, which their voters see too. */
  asked: Set<string>
  /** Of the owner's other requests, which their voters see. */
  requested: Set<string>
  /** Of the other member alone, who may also edit categories. */
  other: Set<string>
  /** For administrators: invitations and service tokens. */
  administrators: Set<string>
}

export const serviceKeyBody = () => ({
  name: `Key ${fresh()}`,
  publicKey: generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64url'),
})

export const viewerNames = ['userViewer', 'groupViewer', 'grantee'] as const
type Viewer = (typeof viewerNames)[number]
type GroupName = 'members' | 'approvers' | 'administrators' | 'auditors' | 'viewers'

type Party = {
  vault: VaultFixture
  people: Record<'owner' | Viewer | 'other' | 'approver' | 'admin' | 'auditor', Person>
  serviceToken: string
  resources: Resources
  secrets: Secrets
  renew(): void
  /** Another person in groups of the vault. */
  join(name: string, ...groups: GroupName[]): Promise<Person>
  /** Another address, deposit and transfer of the owner that are not shared. */
  actAsOwner(): Promise<void>
}

export type World = {
  main: Party
  rival: Party
  /** Everyone but `nobody`, who comes in several kinds: none, malformed, unknown, expired and revoked credentials. */
  callers: Record<Exclude<CallerName, 'nobody'>, Caller>
  refused: Caller[]
  /** Identifiers that never existed, in the vault of that code. */
  absentIn(code: string): Resources
  /** Returns the strings in a text that no answer to this caller may contain, unless the request contained them. */
  secretsIn(text: string, caller: string): string[]
}

const counterpartyActions = ['counterparty_create', 'counterparty_update', 'counterparty_archive'].flatMap((action) => [
  action,
  action.replace('counterparty', 'counterparty_group'),
])
counterpartyActions.push('counterparty_group_add', 'counterparty_group_remove')

let counter = 0
/** A number that no request has used yet. */
export const fresh = () => ++counter

export async function createWorld(test: TestApp): Promise<World> {
  const main = await createParty(test, 'harbour')
  const rival = await createParty(test, 'summit')
  const outsider = await test.signIn('outsider@example.org')
  const platform = await test.signIn('platform@example.org', { isPlatformAdmin: true })
  const directory = await createDirectory(test, ['directory.example'])

  const all = ({ secrets }: Party) => Object.values(secrets)
  const finder = new StringFinder([...all(main), ...all(rival)])
  const withheld: Record<string, Set<string>[]> = {
    outsider: [...all(main), ...all(rival)],
    platform: [...all(main), ...all(rival)],
    foreignAdmin: all(main),
    foreignService: all(main),
    admin: all(rival),
    auditor: all(rival),
    owner: [...all(rival), main.secrets.other, main.secrets.administrators],
    other: [...all(rival), ...without(main.secrets, 'vault', 'other')],
    approver: [...all(rival), ...without(main.secrets, 'vault', 'asked', 'requested')],
    service: [...all(rival), ...without(main.secrets, 'vault')],
  }
  for (const name of viewerNames) {
    withheld[name] = [...all(rival), ...without(main.secrets, 'vault', 'shared', 'asked')]
  }
  return {
    main,
    rival,
    callers: {
      outsider: toCaller('outsider', outsider),
      owner: toCaller('owner', main.people.owner),
      userViewer: toCaller('userViewer', main.people.userViewer),
      groupViewer: toCaller('groupViewer', main.people.groupViewer),
      grantee: toCaller('grantee', main.people.grantee),
      other: toCaller('other', main.people.other),
      approver: toCaller('approver', main.people.approver),
      admin: toCaller('admin', main.people.admin),
      foreignAdmin: toCaller('foreignAdmin', rival.people.admin),
      platform: toCaller('platform', platform),
      service: { name: 'service', headers: bearer(main.serviceToken), email: null },
      foreignService: { name: 'foreignService', headers: bearer(rival.serviceToken), email: null },
      auditor: toCaller('auditor', main.people.auditor),
      directory: { name: 'directory', headers: bearer(directory.token), email: null },
    },
    refused: await createRefused(test, main),
    absentIn: (code) => absentResources(code),
    secretsIn(text, caller) {
      const hidden = withheld[caller] ?? [...all(main), ...all(rival)]
      return [...finder.foundIn(text)].filter((string) => hidden.some((secrets) => secrets.has(string)))
    },
  }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export function toCaller(name: string, person: Person): Caller {
  return { name, headers: bearer(person.token), email: person.email }
}

/** The first part of an e-mail address, which is also the user's name. */
export function nameOf({ email }: Person): string {
  return email.split('@')[0]!
}

function without(secrets: Secrets, ...known: (keyof Secrets)[]): Set<string>[] {
  return Object.entries(secrets)
    .filter(([name]) => !known.includes(name as keyof Secrets))
    .map(([, strings]) => strings)
}

/** The wallet service shows an authority and a waiting version. Returns the hash of the waiting version. */
function showAuthority({ id, wallet }: VaultFixture): string {
  const format = 'strongroom-authority-2'
  const empty = { format, vaultId: id, keys: [], groups: [], addresses: [], rules: [] }
  const authority = { ...empty, version: 1, change: { group: 'treasurers', votes: 1 } }
  const hash = hashOf(authority)
  const next = { ...authority, version: 2, previous: hash }
  const inForceAt = '2030-01-02T03:04:05.000Z'
  const pending = { authority: next, version: 2, hash: hashOf(next), inForceAt }
  wallet.authority = { authority, version: 1, hash, pending }
  return pending.hash
}

const hashOf = (document: object) => sha256(canonicalJson(document)).toString('hex')

/** A vault with users, a service, and one resource of each kind. */
async function createParty(test: TestApp, code: string): Promise<Party> {
  // A platform administrator, whose name the others read: it must not be made of the code of the vault.
  const vault = await createVaultFixture(test, { code, adminEmail: `operator.${fresh()}@example.org` })
  const waitingVersion = showAuthority(vault)
  const groups = {
    administrators: vault.groups.administrators,
    approvers: await ensureGroup(vault, 'approvers'),
    members: await ensureGroup(vault, 'members'),
    auditors: await ensureGroup(vault, 'auditors'),
    viewers: await ensureGroup(vault, 'viewers'),
  }
  const { members } = groups
  const join = async (name: string, ...groupNames: (keyof typeof groups)[]) => {
    const person = await test.signIn(`${name}.${code}@example.org`)
    for (const groupName of groupNames) {
      await post(vault.admin, `/policy-groups/${groups[groupName]}/members`, { userId: person.userId })
    }
    return person
  }
  const people = {
    owner: await join('owner', 'members'),
    userViewer: await join('user-viewer', 'members'),
    groupViewer: await join('group-viewer', 'viewers'),
    grantee: await join('grantee', 'members'),
    other: await join('other', 'members'),
    approver: await join('approver', 'approvers'),
    admin: await join('admin', 'administrators'),
    // In a group with policies as well, which must not let an auditor act; and an approver who may not vote.
    auditor: await join('auditor', 'auditors', 'members', 'approvers'),
  }
  const { admin, owner, other } = people
  await allowAll(vault, 'create_address')
  await createPolicy(vault, {
    code: 'votes',
    name: 'Votes',
    actionType: 'transfer',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: groups.approvers }],
  })
  await createPolicy(vault, {
    code: 'payroll-addresses',
    name: 'Payroll addresses',
    actionType: 'create_address',
    effect: 'requireApproval',
    approvalThreshold: 1,
    rules: [
      {
        conditionType: 'require',
        selectors: [{ selectorType: 'routeVariant', value: { route: 'purpose', variant: 'payroll' } }],
      },
    ],
    approvers: [{ kind: 'group', groupId: groups.approvers }],
  })
  for (const action of counterpartyActions) await allowAll(vault, action)
  await createPolicy(vault, {
    groupId: groups.approvers,
    code: 'watch',
    name: 'Watch',
    actionType: 'hold_place',
    effect: 'allow',
  })
  const service = await post(admin, `/vaults/${code}/service-tokens`, { name: 'Bookkeeping', groupIds: [members] })
  // Only the first use within an hour is written.
  await test.client({ authorization: `Bearer ${service.token}` }).get('/auth/session')

  const secrets: Secrets = {
    // The members of a vault know each other.
    vault: new Set([
      ...[vault.id, code, vault.groups.everyone, ...Object.values(groups)],
      ...[owner, other, admin, people.approver].map(nameOf),
    ]),
    owner: new Set(),
    shared: new Set(),
    asked: new Set(),
    requested: new Set(),
    other: new Set(),
    administrators: new Set([service.id, service.token]),
  }
  for (const route of vault.vault.routes) {
    secrets.vault.add(route.id)
    for (const variant of route.variants) secrets.vault.add(variant.id)
  }

  const addressOf = async (person: Person, label: string, secretTo: Set<string>) => {
    const address = await createAddress(person, { vault: code, token: 'ETH', label })
    for (const secret of [address.id, address.address, label]) secretTo.add(secret)
    return address
  }
  const depositTo = async (address: { address: string }, secretTo: Set<string>) => {
    const txHash = fakeTxHash(`${code} ${fresh()}`)
    const answer = await deposit(test, { address: address.address, amount: '1000', txHash })
    for (const secret of [txHash, answer.body.depositId]) secretTo.add(secret)
    return answer.body.depositId as string
  }
  const paying = await addressOf(owner, `paying of ${code}`, secrets.asked)
  const saved = await addressOf(owner, `savings of ${code}`, secrets.shared)
  const hidden = await addressOf(owner, `private of ${code}`, secrets.requested)
  const filed = await addressOf(owner, `in a folder of ${code}`, secrets.shared)
  const others = await addressOf(other, `of another in ${code}`, secrets.other)
  // Without quarantined events, because an adjustment beside one waits for a second administrator.
  const adjusted = await addressOf(owner, `adjusted of ${code}`, secrets.owner)
  await depositTo(paying, secrets.shared)
  const depositId = await depositTo(saved, secrets.shared)
  await depositTo(hidden, secrets.owner)
  await depositTo(others, secrets.other)

  const order = async (fromAddressId: string, secretTo: Set<string>) => {
    const toAddress = fakeAddress(`recipient ${fresh()}`)
    const { id } = await post(owner, `/vaults/${code}/transfers`, { fromAddressId, toAddress, amount: '0.5' })
    for (const secret of [id, toAddress]) secretTo.add(secret)
    return id as string
  }
  const transfer = () => order(paying.id, secrets.asked)
  await order(hidden.id, secrets.requested)
  const subjects = [
    { subjectType: 'user', subjectId: people.userViewer.userId, canTransfer: false },
    { subjectType: 'group', subjectId: groups.viewers, canTransfer: false },
    { subjectType: 'user', subjectId: people.grantee.userId, canTransfer: true },
  ]
  const shareTo = async (
    url: `/vaults/${string}/${'addresses' | 'address-groups'}/${string}`,
    subject: object,
    secretTo: Set<string>,
  ) => {
    const { id } = await post(owner, `${url}/grants`, subject)
    secretTo.add(id)
    return id as string
  }
  for (const { id } of [paying, saved]) {
    for (const subject of subjects) await shareTo(`/vaults/${code}/addresses/${id}`, subject, secrets.owner)
  }
  const createFolder = async (secretTo: Set<string>, ...addresses: { id: string }[]) => {
    const name = `Folder ${fresh()} of ${code}`
    const { id } = await post(owner, `/vaults/${code}/address-groups`, { name })
    for (const secret of [id, name]) secretTo.add(secret)
    for (const address of addresses)
      await post(owner, `/vaults/${code}/address-groups/${id}/members`, { addressId: address.id })
    return id as string
  }
  await createFolder(secrets.owner, hidden, saved)
  const leaver = async () => (await join(`leaver-${fresh()}`, 'members')).userId
  const group = async () => {
    const name = `group-${fresh()}`
    const { id } = await post(admin, `/vaults/${code}/policy-groups`, { code: name, name })
    secrets.vault.add(id)
    return id as string
  }
  const counterparty = async () => {
    const body = { name: `Supplier ${fresh()} of ${code}`, kind: 'company' }
    const { id } = await post(owner, `/vaults/${code}/counterparties`, body)
    for (const secret of [id, body.name]) secrets.vault.add(secret)
    return id as string
  }
  const counterpartyGroup = async () => {
    const name = `suppliers-${fresh()}`
    const { id } = await post(owner, `/vaults/${code}/counterparty-groups`, { code: name, name })
    secrets.vault.add(id)
    return id as string
  }
  // One transfer in each final status, so that lists have something to show.
  await transfer()
  await post(people.approver, `/vaults/${code}/transfers/${await transfer()}/approve`)
  await post(people.approver, `/vaults/${code}/transfers/${await transfer()}/reject`)
  await post(owner, `/vaults/${code}/transfers/${await transfer()}/cancel`)

  const kept = new Map<string, Promise<unknown>>()
  const renew = () => kept.clear()
  const keep = <Value>(name: string, create: () => Promise<Value>) => {
    return () => {
      if (!kept.has(name)) kept.set(name, create())
      return kept.get(name) as Promise<Value>
    }
  }
  const newestCategory = keep('category', async () => {
    const key = `category_${fresh()}`
    const { id } = await post(admin, `/vaults/${code}/operation-categories`, { key, name: 'A category' })
    for (const secret of [id, key]) secrets.vault.add(secret)
    const editor = { subjectType: 'user', subjectUserId: other.userId, canEdit: true }
    const grants = [categoryGrant(await group()), editor]
    const answer = await admin.put(`/vaults/${code}/operation-categories/${id}/grants`, { grants })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    for (const grant of answer.body.grants) secrets.other.add(grant.id)
    return { id: id as string, key }
  })
  const category = async () => (await newestCategory()).id
  const addField = async () => {
    const id = await category()
    const body = { key: `field_${fresh()}`, label: 'A field', type: 'text' }
    const { id: fieldId } = await post(admin, `/vaults/${code}/operation-categories/${id}/fields`, body)
    secrets.vault.add(fieldId)
    return { id, fieldId: fieldId as string, key: body.key }
  }
  const folder = keep('folder', async () => {
    const id = await createFolder(secrets.shared, saved, filed)
    for (const subject of subjects) await shareTo(`/vaults/${code}/address-groups/${id}`, subject, secrets.owner)
    return id
  })
  const resources: Resources = {
    code,
    address: async () => saved.id,
    payingAddress: async () => paying.id,
    network: async () => vault.networks.ethereum.id,
    image: keep('image', async () => {
      const { status, body } = await vault.admin.put(`/vaults/${code}/image`, pngOf(`image ${fresh()}`), asPng)
      expect(status).toBe(200)
      return body.logoUri!.split('/').at(-1) as string
    }),
    token: async () => vault.tokens.eth.id,
    heldRate: keep('heldRate', async () => {
      const name = `H${fresh()}`
      const contractAddress = fakeAddress(`contract of ${name}`)
      const token = { network: 'ethereum', code: name, symbol: name, name, decimals: 6, contractAddress }
      const { id } = await post(vault.admin, '/tokens', token)
      const rate = (usdRate: string) => {
        const asOf = new Date(Date.now() - 86_400_000 + fresh()).toISOString()
        return vault.admin.post(`/tokens/${id}/rates`, { usdRate, asOf, source: 'manual' })
      }
      expect((await rate('1')).status).toBe(201)
      const held = await rate('9')
      expect(held.status).toBe(202)
      return held.body.id as string
    }),
    platformChange: keep('platformChange', async () => {
      const row = {
        action: 'token_update',
        target_id: vault.tokens.eth.id,
        payload: JSON.stringify({ name: `E${fresh()}` }),
      }
      await test.deps.db.deleteFrom('platform_changes').where('status', '=', 'held').execute()
      const id = newId()
      const heldChange = { id, status: 'held', created_by_id: vault.admin.userId, created_at: new Date() }
      await test.deps.db
        .insertInto('platform_changes')
        .values({ ...row, ...heldChange })
        .execute()
      return id
    }),
    deposit: async () => depositId,
    quarantined: keep('quarantined', async () => {
      const txHash = fakeTxHash(`${code} ${fresh()}`)
      for (const amount of ['3', '4']) await deposit(test, { address: hidden.address, amount, txHash })
      const { body } = await admin.get(`/vaults/${code}/deposits?outcome=quarantined`)
      const { id } = body.items.find((deposit) => deposit.txHash === txHash)!
      for (const secret of [id, txHash]) secrets.vault.add(secret)
      return id as string
    }),
    transfer: keep('transfer', transfer),
    payout: keep('payout', async () => {
      const row = { externalId: `salary ${fresh()} of ${code}`, toAddress: fakeAddress(`recipient ${fresh()}`) }
      const rows = [{ ...row, fromAddressId: paying.id, amount: '0.5' }]
      const { id } = await post(owner, `/vaults/${code}/payouts`, { name: `payout ${code}`, rows })
      for (const secret of [id, row.externalId, row.toAddress]) secrets.asked.add(secret)
      return id as string
    }),
    hold: keep('hold', async () => {
      // On an address that no other request uses.
      const address = await createAddress(owner, { vault: code })
      for (const secret of [address.id, address.address]) secrets.owner.add(secret)
      const body = { subjectType: 'address', subjectId: address.id, reason: `hold ${fresh()}` }
      const { id } = await post(admin, `/vaults/${code}/holds`, body)
      for (const secret of [id, body.reason]) secrets.owner.add(secret)
      return id as string
    }),
    waitingVersion: async () => waitingVersion,
    holdOnPerson: keep('holdOnPerson', async () => {
      const person = await test.signIn(`held.${fresh()}@example.org`)
      await post(vault.admin, `/policy-groups/${members}/members`, { userId: person.userId })
      const body = { subjectType: 'user', subjectId: person.userId, reason: `hold ${fresh()}` }
      const { id } = await post(vault.admin, `/vaults/${code}/holds`, body)
      for (const secret of [id, body.reason]) secrets.administrators.add(secret)
      return id as string
    }),
    adjustment: keep('adjustment', async () => {
      const reason = `adjustment ${fresh()} of ${code}`
      const body = { addressId: adjusted.id, tokenId: vault.tokens.eth.id, amount: '1', reason }
      const { id } = await post(admin, `/vaults/${code}/adjustments`, body)
      for (const secret of [id, reason]) secrets.owner.add(secret)
      return id as string
    }),
    lateRatedTransfer: keep('lateRatedTransfer', async () => {
      const id = await transfer()
      const { createdAt, tokenId } = (await owner.get(`/vaults/${code}/transfers/${id}`)).body
      // The rate is fresh enough for this transfer, but not for transfers that are ordered later.
      const asOf = new Date(Date.parse(createdAt) - 15 * 60_000).toISOString()
      await post(vault.admin, `/tokens/${tokenId}/rates`, { usdRate: '3000', asOf, source: 'manual' })
      return id
    }),
    approvalRequest: keep('approvalRequest', async () => {
      const answer = await owner.post(`/vaults/${code}/addresses`, {
        network: 'ethereum',
        segments: { purpose: 'payroll' },
      })
      expect(answer.status, JSON.stringify(answer.body)).toBe(202)
      secrets.requested.add(answer.body.request.id)
      return answer.body.request.id as string
    }),
    session: keep('session', async () => {
      const { token } = await test.signIn(owner.email)
      const { id } = await test.deps.db
        .selectFrom('sessions')
        .select('id')
        .where('token_hash', '=', sha256(token))
        .executeTakeFirstOrThrow()
      return id
    }),
    invitation: keep('invitation', async () => {
      const email = `invited-${fresh()}.${code}@example.org`
      const { id, token } = await post(admin, '/invitations', { email, groupIds: [members] })
      for (const secret of [email, id, token]) secrets.administrators.add(secret)
      return id
    }),
    serviceToken: keep('serviceToken', async () => {
      const body = { name: `Service ${fresh()}`, groupIds: [members] }
      const { id, token } = await post(admin, `/vaults/${code}/service-tokens`, body)
      for (const secret of [id, token]) secrets.administrators.add(secret)
      return id
    }),
    serviceKey: async () => {
      const body = { name: `Service ${fresh()}`, groupIds: [members] }
      const { id } = await post(admin, `/vaults/${code}/service-tokens`, body)
      const added = await post(admin, `/vaults/${code}/service-tokens/${id}/keys`, serviceKeyBody())
      for (const secret of [id, added.id]) secrets.administrators.add(secret)
      return { id, keyId: added.id }
    },
    changeSet: async () => {
      const change = { action: 'policy_group_create', payload: { code: `drafted-${fresh()}`, name: 'A drafted group' } }
      const { id } = await post(admin, `/vaults/${code}/change-sets`, { title: `Draft ${fresh()}`, changes: [change] })
      secrets.administrators.add(id)
      return id
    },
    withheldToken: keep('withheldToken', async () => {
      const [id, created_at] = [newId(), test.clock.now()]
      const contract = fakeAddress(`token ${fresh()}`)
      const token = { id, network_id: vault.networks.ethereum.id, code: `T${fresh()}`, symbol: 'T', name: 'A token' }
      const more = { contract_address: contract, contract_key: contract.toLowerCase(), decimals: 6 }
      await test.deps.db
        .insertInto('tokens')
        .values({ ...token, ...more, created_at, updated_at: created_at })
        .execute()
      await test.deps.db
        .insertInto('withheld_tokens')
        .values({ vault_id: vault.id, token_id: id, created_at })
        .execute()
      return id
    }),
    rulesVersion: async () => {
      const { body } = await admin.get(`/vaults/${code}/rules/versions?limit=1`)
      return String(body.items[0]!.number)
    },
    group: keep('group', group),
    leaver: keep('leaver', leaver),
    disabledUser: keep('disabledUser', async () => {
      const id = await leaver()
      await post(vault.admin, `/users/${id}/disable`, { reason: 'Left' })
      return id
    }),
    membership: keep('membership', async () => {
      const id = await group()
      const userId = `machine-${fresh()}`
      await post(admin, `/policy-groups/${id}/members`, { userId })
      return { id, userId }
    }),
    policy: keep('policy', async () => {
      const { id } = await createPolicy(vault, {
        code: `policy-${fresh()}`,
        name: 'To be changed',
        actionType: 'create_address',
        effect: 'allow',
      })
      secrets.vault.add(id)
      return id
    }),
    addressGrant: keep('addressGrant', async () => {
      const subject = { subjectType: 'group', subjectId: await group() }
      const grantId = await shareTo(`/vaults/${code}/addresses/${saved.id}`, subject, secrets.owner)
      return { id: saved.id, grantId }
    }),
    folder,
    folderMember: async () => ({ id: await folder(), addressId: filed.id }),
    folderGrant: keep('folderGrant', async () => {
      const id = await folder()
      const subject = { subjectType: 'group', subjectId: await group() }
      return { id, grantId: await shareTo(`/vaults/${code}/address-groups/${id}`, subject, secrets.owner) }
    }),
    counterparty: keep('counterparty', counterparty),
    counterpartyAddress: keep('counterpartyAddress', async () => {
      const id = await counterparty()
      const body = { network: 'ethereum', address: fakeAddress(`supplier ${fresh()}`) }
      const address = await post(owner, `/vaults/${code}/counterparties/${id}/addresses`, body)
      for (const secret of [address.id, body.address]) secrets.vault.add(secret)
      return { id, addressId: address.id }
    }),
    counterpartyGroup: keep('counterpartyGroup', counterpartyGroup),
    counterpartyMember: keep('counterpartyMember', async () => {
      const id = await counterpartyGroup()
      const counterpartyId = await counterparty()
      await post(owner, `/vaults/${code}/counterparty-groups/${id}/members`, { counterpartyId })
      return { id, counterpartyId }
    }),
    category,
    categoryKey: async () => (await newestCategory()).key,
    categoryField: keep('categoryField', async () => {
      const { id, fieldId } = await addField()
      return { id, fieldId }
    }),
    assignment: keep('assignment', async () => {
      const { id, key } = await addField()
      const params = { type: 'transfer', id: await transfer(), categoryId: id }
      const value = `Invoice ${fresh()} of ${code}`
      const url = `/vaults/${code}/operations/transfer/${params.id}/categories/${id}` as const
      const answer = await owner.put(url, { values: { [key]: value } })
      expect(answer.status, JSON.stringify(answer.body)).toBe(201)
      for (const secret of [value, answer.body.id]) secrets.asked.add(secret)
      return params
    }),
    relation: keep('relation', async () => {
      const { id } = await post(owner, `/vaults/${code}/operation-relations`, relationBody(await transfer(), depositId))
      secrets.shared.add(id)
      return id as string
    }),
    verification: async () => {
      const { status, body } = await admin.post(`/vaults/${code}/ledger/verifications`)
      expect(status).toBe(202)
      return body.id
    },
    backtest: keep('backtest', async () => {
      const order = { draft: { mode: 'add', policies: [] }, from: '2020-01-01' }
      const { status, body } = await admin.post(`/vaults/${code}/policies/backtest`, order)
      expect(status).toBe(202)
      return body.id as string
    }),
    reportExport: keep('reportExport', async () => {
      const answer = await owner.post(`/vaults/${code}/reports/transaction_activity/exports`, { format: 'csv' })
      expect(answer.status, JSON.stringify(answer.body)).toBe(202)
      await makeExports(test)
      secrets.owner.add(answer.body.id)
      return answer.body.id as string
    }),
    route: async () => vault.vault.routes.find((route) => route.code === 'purpose')!.id,
    variant: async () => vault.vault.routes.find((route) => route.code === 'purpose')!.variants[1]!.id,
  }
  const actAsOwner = async () => {
    const address = await addressOf(owner, `new of ${code} ${fresh()}`, secrets.owner)
    await depositTo(address, secrets.owner)
    await order(address.id, secrets.requested)
  }
  return { vault, people, serviceToken: service.token, resources, secrets, renew, join, actAsOwner }
}

/** Makes all files that wait, without the thread that the service starts for each: it loads for half a second. */
async function makeExports({ deps }: TestApp): Promise<void> {
  const { db, slowReads, clock, config, sealKey } = deps
  const keys = { signer: signerOf(sealKey), trusted: new Set([sealKey.keyId]) }
  const around = { db, slowReads, clock, organisationName: config.organisationName, ...keys }
  for (;;) {
    const taken = await exportJobs.take(db, clock())
    if (taken === null) return
    expect(await makeFile(around, taken, { onPercent: () => {}, isStopped: () => false })).toBe(true)
  }
}

/** The deposit corrects the transfer. */
export function relationBody(transferId: string, depositId: string) {
  const source = { sourceOperationType: 'deposit', sourceOperationId: depositId }
  return { ...source, targetOperationType: 'transfer', targetOperationId: transferId, relationType: 'correction' }
}

export function categoryGrant(groupId: string) {
  return { subjectType: 'group', subjectGroupId: groupId, canAssign: true }
}

function absentResources(code: string): Resources {
  const nothing = async () => newId(new Date())
  return {
    code,
    address: nothing,
    payingAddress: nothing,
    network: nothing,
    image: async () => sha256(`image ${fresh()}`).toString('hex'),
    token: nothing,
    heldRate: nothing,
    platformChange: nothing,
    deposit: nothing,
    quarantined: nothing,
    transfer: nothing,
    payout: nothing,
    hold: nothing,
    holdOnPerson: nothing,
    adjustment: nothing,
    lateRatedTransfer: nothing,
    approvalRequest: nothing,
    waitingVersion: async () => sha256(`version ${fresh()}`).toString('hex'),
    session: nothing,
    invitation: nothing,
    serviceToken: nothing,
    serviceKey: async () => ({ id: await nothing(), keyId: await nothing() }),
    changeSet: nothing,
    withheldToken: nothing,
    rulesVersion: async () => '1000000',
    group: nothing,
    membership: async () => ({ id: await nothing(), userId: `machine-${fresh()}` }),
    leaver: nothing,
    disabledUser: nothing,
    policy: nothing,
    addressGrant: async () => ({ id: await nothing(), grantId: await nothing() }),
    folder: nothing,
    folderMember: async () => ({ id: await nothing(), addressId: await nothing() }),
    folderGrant: async () => ({ id: await nothing(), grantId: await nothing() }),
    counterparty: nothing,
    counterpartyAddress: async () => ({ id: await nothing(), addressId: await nothing() }),
    counterpartyGroup: nothing,
    counterpartyMember: async () => ({ id: await nothing(), counterpartyId: await nothing() }),
    category: nothing,
    categoryKey: async () => `category_${fresh()}_of_nobody`,
    categoryField: async () => ({ id: await nothing(), fieldId: await nothing() }),
    assignment: async () => ({ type: 'transfer', id: await nothing(), categoryId: await nothing() }),
    relation: nothing,
    reportExport: nothing,
    verification: nothing,
    backtest: nothing,
    route: nothing,
    variant: nothing,
  }
}

async function createRefused(test: TestApp, { people, resources, vault, join }: Party): Promise<Caller[]> {
  const expired = await test.signIn(people.admin.email)
  await test.deps.db
    .updateTable('sessions')
    .set({ expires_at: new Date(test.clock.now().getTime() - 1) })
    .where('token_hash', '=', sha256(expired.token))
    .execute()
  const revoked = await test.signIn(people.admin.email)
  expect((await revoked.post('/auth/sign-out')).status).toBe(204)
  const disabled = await join('disabled', 'administrators')
  await test.deps.db
    .updateTable('users')
    .set({ disabled_at: test.clock.now() })
    .where('id', '=', disabled.userId)
    .execute()
  // Ended in the table, because revoking through the API also disables the user, which is another guard.
  const endedServiceToken = async (end: { revoked_at: Date } | { expires_at: Date }): Promise<string> => {
    const body = { name: 'Ended', groupIds: [vault.groups.administrators] }
    const { id, token } = await post(people.admin, `/vaults/${resources.code}/service-tokens`, body)
    await test.deps.db.updateTable('service_tokens').set(end).where('id', '=', id).execute()
    return token
  }
  const now = test.clock.now()
  const refused = (name: string, headers: Record<string, string>): Caller => ({ name, headers, email: null })
  return [
    refused('anonymous', {}),
    refused('malformed', { authorization: 'Bearer x' }),
    refused('wrong scheme', { authorization: `Basic ${people.admin.token}` }),
    refused('unknown token', bearer(newSecret())),
    refused('unknown service token', bearer(`srk_${newSecret()}`)),
    refused('expired session', bearer(expired.token)),
    refused('revoked session', bearer(revoked.token)),
    refused('disabled user', bearer(disabled.token)),
    refused('revoked service token', bearer(await endedServiceToken({ revoked_at: now }))),
    refused('expired service token', bearer(await endedServiceToken({ expires_at: now }))),
  ]
}

async function post<Url extends string>(person: Person, url: Url, body?: unknown) {
  const answer = await person.post(url, body)
  expect([200, 201], `${url}: ${JSON.stringify(answer.body)}`).toContain(answer.status)
  return answer.body
}
