import { expect } from 'vitest'
import { deliverDueTransfers } from '../../server/src/modules/money/delivery/deliver.ts'
import { runDueExports } from '../../server/src/modules/reports/exports/due-exports.ts'
import type { Method } from '../../server/src/testing/answer.ts'
import type { Person, TestApp } from '../../server/src/testing/app.ts'
import { fakeAddress } from '../../server/src/testing/fake-wallet.ts'
import {
  allowAll,
  createPolicy,
  createVaultFixture,
  deposit,
  ensureGroup,
  usdtContract,
  type VaultFixture,
} from '../../server/src/testing/fixtures.ts'

/** One action of a user. `picks` choose the user and the resource, modulo the number of candidates. */
export type Command = { verb: Verb; picks: [number, number, number] }
export type Size = { people: number; memberVotes: boolean }

/**
 * The effect of a command for the member: `hidden` must not change anything that they read, `seen` must change something,
 * and `other` may.
 */
type Action = { to: 'hidden' | 'seen' | 'other'; run(): Promise<void> }

type Grant = { id: string; canTransfer: boolean }
type Address = { id: string; address: string; owner: number; subjects: Map<string, Grant> }
type Operation = { type: 'transfer' | 'deposit'; id: string; address: Address; initiator: number | null }
type Transfer = Operation & { isOpen: boolean }
type Folder = { id: string; manager: number; addresses: Set<Address>; subjects: Map<string, Grant> }
type Group = { id: string; people: number[] }
type Category = { id: string; key: string; seenBy: 'everyone' | 'owner' | 'granted' }

export type Organisation = {
  vault: VaultFixture
  /** The member whose answers are compared: person 0 of the vault. */
  member: Person
  people: Person[]
  addresses: Address[]
  operations: Operation[]
  folders: Folder[]
  groups: Group[]
  categories: Category[]
  counterparties: { id: string; addressId: string; name: string }[]
  /** The group of counterparties. */
  suppliers: string
  requests: string[]
  payouts: string[]
  /** Files that any user requested. */
  exports: string[]
  policies: string[]
  /** Times at which something happened. */
  times: string[]
  sees(address: Address): boolean
  /** Makes a report of the given type as CSV for a user, with the widest permitted parameters, and returns its id. */
  makeFile(type: string, of: { who: number; parameters: object }): Promise<string>
  /** Reads with a clock that always shows the same time. */
  atTheEnd<Result>(read: () => Promise<Result>): Promise<Result>
  /** null when there is no resource for the command. */
  plan(command: Command): Action | null
}

/** Labels of all users have the same words, so that a search could find hidden ones. */
const labels = ['Payroll of the harbour', 'Savings', 'Harbour dues', '100% reserve_fund']

export const verbs = [
  'address',
  'deposit',
  'order',
  'payout',
  'vote',
  'cancel',
  'deliver',
  'label',
  'grant',
  'revoke',
  'folder',
  'renameFolder',
  'file',
  'unfile',
  'shareFolder',
  'unshareFolder',
  'deleteFolder',
  'adjust',
  'assign',
  'unassign',
  'describe',
  'relate',
  'request',
  'counterparty',
  'export',
  'administer',
  'elsewhere',
] as const
export type Verb = (typeof verbs)[number]

let number = 0

/**
 * A vault with users, an approver and an administrator, and a model of their visibility in a few lines without SQL. The
 * clock advances by a second for each command, and stands still otherwise.
 */
export async function createOrganisation(
  test: TestApp,
  { people: peopleCount, memberVotes }: Size,
): Promise<Organisation> {
  number += 1
  const code = `vault-${number}`
  let now = new Date()
  // Later than everything that happens here, but before any session expires. The start of a second, because the clock of the thread
  // that makes a file goes on, and files show seconds.
  const end = new Date(Math.floor(now.getTime() / 1_000 + 55 * 60) * 1_000)
  test.deps.clock = () => now
  const tick = (milliseconds = 1_000) => {
    now = new Date(now.getTime() + milliseconds)
  }
  const vault = await createVaultFixture(test, { code, adminEmail: `operator.${code}@example.org` })
  const { admin } = vault
  const everyone: Group = { id: vault.groups.everyone, people: [] }
  const people: Person[] = []
  const send = async <M extends Method, Url extends string>(by: Person, method: M, url: Url, body?: unknown) => {
    const answer = await by.send(method, `/vaults/${code}${url}`, body)
    expect(answer.status, `${method} ${url}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
    return answer.body
  }
  const join = async (groupId: string, person: Person) => {
    expect((await admin.post(`/policy-groups/${groupId}/members`, { userId: person.userId })).status).toBe(201)
  }
  const groups: Group[] = [everyone]
  for (const name of ['members', 'treasury', 'audit']) groups.push({ id: await ensureGroup(vault, name), people: [] })
  for (let personIndex = 0; personIndex < peopleCount; personIndex += 1) {
    const person = await test.signIn(`person-${personIndex}.${code}@example.org`)
    people.push(person)
    // The first three are all members; the others are distributed over the rest, including the compared member.
    for (const [index, group] of groups.entries()) {
      if (index === 0 || index === 1 || (personIndex + index + number) % 2 === 0) {
        if (index > 0) await join(group.id, person)
        group.people.push(personIndex)
      }
    }
  }
  const approver = await test.signIn(`approver.${code}@example.org`)
  await join(groups[1]!.id, approver)
  for (const action of ['counterparty_create', 'counterparty_group_create', 'counterparty_group_add']) {
    await allowAll(vault, action)
  }
  await allowAll(vault, 'create_address')
  const approvers = [approver, ...(memberVotes ? [people[0]!] : [])].map(({ userId }) => ({ kind: 'user', userId }))
  const votes = { effect: 'requireApproval', approvalThreshold: 1, approvers, adminBypass: false }
  const payroll = [{ selectorType: 'routeVariant', value: { route: 'purpose', variant: 'payroll' } }]
  const policies = [
    await createPolicy(vault, { code: 'votes', name: 'Votes', actionType: 'transfer', ...votes }),
    await createPolicy(vault, {
      code: 'payroll',
      name: 'Payroll',
      actionType: 'create_address',
      rules: [{ conditionType: 'require', selectors: payroll }],
      ...votes,
    }),
  ]

  const { id: suppliers } = await send(admin, 'post', '/counterparty-groups', { code: 'suppliers', name: 'Suppliers' })
  const rate = { usdRate: '3000.5', asOf: now.toISOString(), source: 'manual' }
  expect((await admin.post(`/tokens/${vault.tokens.eth.id}/rates`, rate)).status).toBe(201)

  const categories: Category[] = []
  for (const seenBy of ['everyone', 'owner', 'granted'] as const) {
    const viewScope = { everyone: 'vault_members', owner: 'owner_only', granted: 'restricted' }[seenBy]
    const { id, key } = await send(admin, 'post', '/operation-categories', {
      key: `for_${seenBy}`,
      name: 'One',
      viewScope,
    })
    await send(admin, 'post', `/operation-categories/${id}/fields`, { key: 'memo', label: 'Memo', type: 'text' })
    categories.push({ id, key, seenBy })
  }

  const addresses: Address[] = []
  const operations: Operation[] = []
  const transfers: Transfer[] = []
  const payouts: string[] = []
  const folders: Folder[] = []
  const counterparties: Organisation['counterparties'] = []
  const requests: string[] = []
  const exports: string[] = []
  const relations = new Set<string>()
  const times: string[] = []

  // The model of visibility.
  const subjectOf = (pick: number): { body: object; key: string; people: number[] } => {
    const index = pick % (people.length + groups.length)
    if (index < people.length) {
      const { userId } = people[index]!
      return { body: { subjectType: 'user', subjectId: userId }, key: userId, people: [index] }
    }
    const { id, people: reached } = groups[index - people.length]!
    return { body: { subjectType: 'group', subjectId: id }, key: id, people: reached }
  }
  const memberKeys = () => [
    people[0]!.userId,
    ...groups.filter((group) => group.people.includes(0)).map(({ id }) => id),
  ]
  const reaches = (subjects: Map<string, Grant>, mayTransfer = false) =>
    memberKeys().some((key) => subjects.has(key) && (!mayTransfer || subjects.get(key)!.canTransfer))
  const seesFolder = (folder: Folder) => folder.manager === 0 || reaches(folder.subjects)
  const sees = (address: Address) =>
    address.owner === 0 ||
    reaches(address.subjects) ||
    folders.some((folder) => reaches(folder.subjects) && folder.addresses.has(address))
  /** The member has a grant. */
  const mayTransfer = (address: Address) =>
    reaches(address.subjects, true) ||
    folders.some((folder) => reaches(folder.subjects, true) && folder.addresses.has(address))
  const seesOperation = ({ type, address, initiator }: Operation) =>
    sees(address) || initiator === 0 || (type === 'transfer' && memberVotes)
  /** The address is in nothing that the member reads: not even in a transfer that they initiated or vote on. */
  const knows = (address: Address) =>
    sees(address) || operations.some((operation) => operation.address === address && seesOperation(operation))
  const seesCategory = ({ seenBy }: Category, { address, initiator }: Operation) =>
    seenBy === 'everyone' || (seenBy === 'owner' && (address.owner === 0 || initiator === 0))
  const hiddenUnless = (isSeen: boolean): 'hidden' | 'seen' => (isSeen ? 'seen' : 'hidden')
  const hiddenOrOther = (isSeen: boolean): 'hidden' | 'other' => (isSeen ? 'other' : 'hidden')

  const pickOf = <Item>(items: Item[], pick: number): Item | null =>
    items.length === 0 ? null : items[pick % items.length]!
  const hold = (operation: Operation) => {
    operations.push(operation)
    return operation
  }

  const verbsOf: Record<Verb, (picks: Command['picks']) => Action | null> = {
    address([who, how]) {
      const owner = who % people.length
      return {
        to: hiddenUnless(owner === 0),
        async run() {
          const body = { network: 'ethereum', segments: { purpose: 'ops' }, token: how % 2 === 0 ? 'ETH' : 'USDT' }
          const label = labels[how % labels.length]
          const { id, address } = await send(people[owner]!, 'post', '/addresses', { ...body, label })
          addresses.push({ id, address, owner, subjects: new Map() })
        },
      }
    },
    deposit([which, how]) {
      const address = pickOf(addresses, which)
      if (address === null) return null
      return {
        to: hiddenUnless(sees(address)),
        async run() {
          const asset = how % 2 === 0 ? null : usdtContract
          const sender = pickOf(counterparties, how)?.name ?? 'somebody outside'
          const amount = `${(how % 90) + 10}`
          const { body } = await deposit(test, {
            address: address.address,
            asset,
            amount,
            fromAddress: fakeAddress(sender),
          })
          if (body.depositId) hold({ type: 'deposit', id: body.depositId, address, initiator: null })
        },
      }
    },
    order([which, who, where]) {
      const funded = addresses.filter((address) => operations.some((operation) => operation.address === address))
      const address = pickOf(funded, which)
      if (address === null) return null
      const elsewhere = addresses.filter((candidate) => candidate !== address)
      const initiator = mayTransfer(address) ? 0 : address.owner
      const toAddress =
        where % 3 === 0
          ? fakeAddress(pickOf(counterparties, where)?.name ?? 'a supplier')
          : where % 3 === 1
            ? pickOf(elsewhere, where)!.address
            : fakeAddress(`recipient ${who % 4}`)
      return {
        to: sees(address) ? 'other' : hiddenOrOther(memberVotes),
        async run() {
          const body = { fromAddressId: address.id, toAddress, token: who % 2 === 0 ? 'ETH' : 'USDT', amount: '1' }
          const metadata = { paymentPurpose: labels[who % labels.length], tags: ['march'] }
          const answer = await people[initiator]!.post(`/vaults/${code}/transfers`, { ...body, metadata })
          // 409: insufficient funds.
          expect([201, 409], JSON.stringify(answer.body)).toContain(answer.status)
          if (answer.status !== 201) return
          const transfer: Transfer = { type: 'transfer', id: answer.body.id, address, initiator, isOpen: true }
          transfers.push(transfer)
          hold(transfer)
        },
      }
    },
    payout([which, who, how]) {
      const funded = addresses.filter((address) => operations.some((operation) => operation.address === address))
      const address = pickOf(funded, which)
      if (address === null) return null
      const initiator = mayTransfer(address) ? 0 : address.owner
      return {
        to: sees(address) ? 'other' : hiddenOrOther(memberVotes),
        async run() {
          const rows = ['1', '2'].map((amount, i) => ({
            externalId: `${labels[who % labels.length]} ${payouts.length} ${i}`,
            fromAddressId: address.id,
            toAddress: fakeAddress(`recipient ${(who + i) % 4}`),
            token: who % 2 === 0 ? 'ETH' : 'USDT',
            amount,
          }))
          const url = `/vaults/${code}/payouts` as const
          const answer = await people[initiator]!.post(url, { name: labels[how % labels.length], rows })
          // 409: insufficient funds.
          expect([201, 409], JSON.stringify(answer.body)).toContain(answer.status)
          if (answer.status !== 201) return
          const { id, status } = answer.body
          payouts.push(id)
          const { items } = (await people[initiator]!.get(`${url}/${id}/rows`)).body
          for (const { transferId } of items) hold({ type: 'transfer', id: transferId, address, initiator })
          if (status === 'awaiting_approval' && how % 2 === 0)
            await send(approver, 'post', `/payouts/${id}/${how % 3 === 0 ? 'reject' : 'approve'}`)
        },
      }
    },
    vote([which, how]) {
      const transfer = pickOf(
        transfers.filter(({ isOpen }) => isOpen),
        which,
      )
      if (transfer === null) return null
      return {
        to: hiddenOrOther(seesOperation(transfer)),
        async run() {
          transfer.isOpen = false
          await send(approver, 'post', `/transfers/${transfer.id}/${how % 3 === 0 ? 'reject' : 'approve'}`)
        },
      }
    },
    cancel([which]) {
      const transfer = pickOf(
        transfers.filter(({ isOpen }) => isOpen),
        which,
      )
      if (transfer === null) return null
      return {
        to: hiddenOrOther(seesOperation(transfer)),
        async run() {
          transfer.isOpen = false
          await send(people[transfer.initiator!]!, 'post', `/transfers/${transfer.id}/cancel`)
        },
      }
    },
    deliver([how]) {
      return {
        // The voters of a payout follow its rows.
        to: hiddenOrOther(payouts.length > 0 || transfers.some(seesOperation)),
        async run() {
          tick(61_000)
          await deliverDueTransfers(test.deps)
          for (const { id, status } of vault.wallet.transfers()) {
            if (status === 'queued') how % 4 === 0 ? vault.wallet.fail(id, 'refused') : vault.wallet.confirm(id)
          }
          tick(61_000)
          await deliverDueTransfers(test.deps)
        },
      }
    },
    label([which, how]) {
      const address = pickOf(addresses, which)
      if (address === null) return null
      return {
        to: sees(address) ? 'seen' : hiddenOrOther(knows(address)),
        run: async () => {
          const label = `${labels[how % labels.length]} ${now.getTime()}`
          await send(people[address.owner]!, 'patch', `/addresses/${address.id}`, { label, tags: ['march'] })
        },
      }
    },
    grant([which, whom, how]) {
      const address = pickOf(addresses, which)
      const subject = subjectOf(whom)
      if (address === null || subject.key === people[address.owner]!.userId) return null
      const isForMember = subject.people.includes(0)
      const isHidden = address.owner !== 0 && !isForMember
      return {
        to: isHidden ? 'hidden' : hiddenOrSeenByGrant(isForMember && !sees(address)),
        async run() {
          const body = { ...subject.body, canTransfer: how % 2 === 0 }
          const { id } = await send(people[address.owner]!, 'post', `/addresses/${address.id}/grants`, body)
          address.subjects.set(subject.key, { id, canTransfer: body.canTransfer })
        },
      }
    },
    revoke([which, whom]) {
      const address = pickOf(
        addresses.filter(({ subjects }) => subjects.size > 0),
        which,
      )
      if (address === null) return null
      const [key, { id }] = pickOf([...address.subjects], whom)!
      return {
        to: hiddenOrOther(address.owner === 0 || memberKeys().includes(key)),
        async run() {
          await send(people[address.owner]!, 'delete', `/addresses/${address.id}/grants/${id}`)
          address.subjects.delete(key)
        },
      }
    },
    folder([who, how]) {
      const manager = who % people.length
      return {
        to: hiddenUnless(manager === 0),
        async run() {
          const { id } = await send(people[manager]!, 'post', '/address-groups', { name: labels[how % labels.length] })
          folders.push({ id, manager, addresses: new Set(), subjects: new Map() })
        },
      }
    },
    renameFolder([which]) {
      const folder = pickOf(folders, which)
      if (folder === null) return null
      return {
        to: hiddenUnless(seesFolder(folder)),
        async run() {
          await send(people[folder.manager]!, 'patch', `/address-groups/${folder.id}`, { name: `At ${now.getTime()}` })
        },
      }
    },
    file([which, what]) {
      const folder = pickOf(folders, which)
      if (folder === null) return null
      const candidates = addresses.filter(
        (address) => address.owner === folder.manager && !folder.addresses.has(address),
      )
      const address = pickOf(candidates, what)
      if (address === null) return null
      return {
        to: hiddenUnless(seesFolder(folder)),
        async run() {
          const body = { addressId: address.id }
          await send(people[folder.manager]!, 'post', `/address-groups/${folder.id}/members`, body)
          folder.addresses.add(address)
        },
      }
    },
    unfile([which, what]) {
      const folder = pickOf(
        folders.filter((folder) => folder.addresses.size > 0),
        which,
      )
      if (folder === null) return null
      const address = pickOf([...folder.addresses], what)!
      return {
        to: hiddenUnless(seesFolder(folder)),
        async run() {
          await send(people[folder.manager]!, 'delete', `/address-groups/${folder.id}/members/${address.id}`)
          folder.addresses.delete(address)
        },
      }
    },
    shareFolder([which, whom, how]) {
      const folder = pickOf(folders, which)
      const subject = subjectOf(whom)
      if (folder === null || subject.key === people[folder.manager]!.userId) return null
      const isForMember = subject.people.includes(0)
      return {
        to: seesFolder(folder) ? 'other' : hiddenUnless(isForMember),
        async run() {
          const body = { ...subject.body, canTransfer: how % 2 === 0 }
          const { id } = await send(people[folder.manager]!, 'post', `/address-groups/${folder.id}/grants`, body)
          folder.subjects.set(subject.key, { id, canTransfer: body.canTransfer })
        },
      }
    },
    unshareFolder([which, whom]) {
      const folder = pickOf(
        folders.filter(({ subjects }) => subjects.size > 0),
        which,
      )
      if (folder === null) return null
      const [key, { id }] = pickOf([...folder.subjects], whom)!
      return {
        to: hiddenOrOther(seesFolder(folder)),
        async run() {
          await send(people[folder.manager]!, 'delete', `/address-groups/${folder.id}/grants/${id}`)
          folder.subjects.delete(key)
        },
      }
    },
    deleteFolder([which]) {
      const folder = pickOf(folders, which)
      if (folder === null) return null
      return {
        to: hiddenUnless(seesFolder(folder)),
        async run() {
          await send(people[folder.manager]!, 'delete', `/address-groups/${folder.id}`)
          folders.splice(folders.indexOf(folder), 1)
        },
      }
    },
    adjust([which, how]) {
      const address = pickOf(addresses, which)
      if (address === null) return null
      return {
        to: hiddenUnless(sees(address)),
        async run() {
          const { eth, usdt } = vault.tokens
          const body = { addressId: address.id, tokenId: how % 2 === 0 ? eth.id : usdt.id, reason: 'Opening balance' }
          await send(admin, 'post', '/adjustments', { ...body, amount: '7' })
        },
      }
    },
    assign([which, what]) {
      const operation = pickOf(operations, which)
      if (operation === null) return null
      const category = pickOf(categories, what)!
      return {
        to: hiddenOrOther(seesOperation(operation) && seesCategory(category, operation)),
        async run() {
          const values = { memo: `At ${now.getTime()}` }
          await send(admin, 'put', `/operations/${operation.type}/${operation.id}/categories/${category.id}`, {
            values,
          })
          assigned.add({ operation, category })
        },
      }
    },
    unassign([which]) {
      const assignment = pickOf([...assigned], which)
      if (assignment === null) return null
      const { operation, category } = assignment
      return {
        to: hiddenOrOther(seesOperation(operation) && seesCategory(category, operation)),
        async run() {
          for (const entry of assigned) {
            if (entry.operation === operation && entry.category === category) assigned.delete(entry)
          }
          await send(admin, 'delete', `/operations/${operation.type}/${operation.id}/categories/${category.id}`)
        },
      }
    },
    describe([which, how]) {
      const operation = pickOf(operations, which)
      if (operation === null) return null
      return {
        to: hiddenOrOther(seesOperation(operation)),
        async run() {
          const body = { note: `At ${now.getTime()}`, paymentPurpose: labels[how % labels.length] }
          await send(
            people[operation.address.owner]!,
            'patch',
            `/operations/${operation.type}/${operation.id}/metadata`,
            body,
          )
        },
      }
    },
    relate([which, what, how]) {
      const source = pickOf(operations, which)
      const target = pickOf(operations, what)
      if (source === null || target === null || source === target) return null
      const relationType = pickOf(['correction', 'replacement'], how)!
      const key = [source.id, target.id].sort().join() + relationType
      if (relations.has(key)) return null
      return {
        to: hiddenOrOther(seesOperation(source) && seesOperation(target)),
        async run() {
          relations.add(key)
          await send(admin, 'post', '/operation-relations', {
            sourceOperationType: source.type,
            sourceOperationId: source.id,
            targetOperationType: target.type,
            targetOperationId: target.id,
            relationType,
          })
        },
      }
    },
    request([who]) {
      const initiator = who % people.length
      return {
        to: initiator === 0 ? 'seen' : hiddenUnless(memberVotes),
        async run() {
          const body = { network: 'ethereum', segments: { purpose: 'payroll' } }
          requests.push((await send(people[initiator]!, 'post', '/addresses', body)).request.id)
        },
      }
    },
    counterparty([how]) {
      return {
        to: 'seen',
        async run() {
          const name = `Supplier ${now.getTime()}`
          const address = { network: 'ethereum', address: fakeAddress(name) }
          const body = { name, kind: how % 2 === 0 ? 'company' : 'individual', addresses: [address] }
          const created = await send(people[1]!, 'post', '/counterparties', body)
          counterparties.push({ id: created.id, addressId: created.addresses[0]!.id, name })
          await send(people[1]!, 'post', `/counterparty-groups/${suppliers}/members`, { counterpartyId: created.id })
        },
      }
    },
    export([who]) {
      const requester = who % people.length
      return {
        to: requester === 0 ? 'other' : 'hidden',
        async run() {
          exports.push(await makeFile('transaction_activity', { who: requester, parameters: {} }))
        },
      }
    },
    administer([how]) {
      return {
        to: 'hidden',
        async run() {
          if (how % 2 === 0) await test.signIn(people[1]!.email)
          else {
            const body = { email: `guest-${now.getTime()}.${code}@example.org`, groupIds: [groups[1]!.id] }
            expect((await admin.post('/invitations', body)).status).toBe(201)
          }
        },
      }
    },
    elsewhere([how]) {
      return {
        to: 'hidden',
        async run() {
          // Addresses are found by the vault's own keys; the event names an address that nobody here has.
          const { body } = await deposit(test, { address: fakeAddress(`elsewhere ${number} ${how}`), amount: '5' })
          expect(body.outcome).toBe('unmatched')
        },
      }
    },
  }
  const makeFile: Organisation['makeFile'] = async (type, { who, parameters }) => {
    const body = { ...parameters, format: 'csv', includeShared: true }
    const { id } = await send(people[who]!, 'post', `/reports/${type}/exports`, body)
    await runDueExports(test.deps, new AbortController().signal)
    return id
  }
  const assigned = new Set<{ operation: Operation; category: Category }>()
  const hiddenOrSeenByGrant = (isNew: boolean): 'seen' | 'other' => (isNew ? 'seen' : 'other')

  return {
    vault,
    member: people[0]!,
    people,
    addresses,
    operations,
    folders,
    groups,
    categories,
    counterparties,
    suppliers,
    requests,
    payouts,
    exports,
    policies: policies.map(({ id }) => id),
    times,
    sees,
    makeFile,
    async atTheEnd(read) {
      test.deps.clock = () => end
      try {
        return await read()
      } finally {
        test.deps.clock = () => now
      }
    },
    plan({ verb, picks }) {
      const action = verbsOf[verb](picks)
      if (action === null) return null
      return {
        to: action.to,
        async run() {
          tick()
          times.push(now.toISOString())
          await action.run()
        },
      }
    },
  }
}
