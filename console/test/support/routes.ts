import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { operationsOf, orderTransfer, stranger } from './orders.ts'
import { consoleRoot } from './sources.ts'
import { type Person, type Stack, vaultCode } from './stack.ts'

/** A page that is visited, and by whom it looks different. */
export type Visit = { route: string; path: string; person: Person }

/** Pages whose parts are chosen by a search parameter, and pages that others than the administrator see differently. */
const more: Record<string, { search?: string[]; people?: Person[] }> = {
  'v.$code.index': { people: ['admin', 'treasurer', 'compliance'] },
  'v.$code.send': { people: ['treasurer', 'admin'] },
  'v.$code.approvals.index': { search: ['', '?state=decided', '?state=mine'], people: ['secondTreasurer'] },
  'v.$code.approvals.transfer.$id': { people: ['secondTreasurer', 'admin'] },
  'v.$code.people': { search: ['', '?tab=groups', '?tab=invitations', '?tab=tokens'] },
  'v.$code.policies.index': { people: ['admin', 'compliance'] },
  'v.$code.policies.$id': { people: ['admin', 'compliance'] },
  'v.$code.policies.new': { search: ['', '?from=template'] },
  'v.$code.books': {
    search: ['', '?part=entries', '?part=held', '?part=unmatched', '?part=verification', '?part=adjust'],
  },
  platform: {
    search: ['', 'people', 'networks', 'tokens', 'rates', 'events', 'record', 'health'].map((part) =>
      part === '' ? '' : `?part=${part}`,
    ),
  },
}

/** Every route of the console, by the names of its files: a new page is visited without being named here. */
export function routeNames(): string[] {
  return readdirSync(join(consoleRoot, 'src/routes'))
    .map((name) => name.replace(/\.tsx$/, ''))
    .filter((name) => name !== '__root' && name !== 'v.$code' && !name.startsWith('-'))
    .sort()
}

export async function visitsOf(stack: Stack): Promise<Visit[]> {
  const ids = await idsOf(stack)
  return routeNames().flatMap((route) => {
    const { search = [''], people = ['admin'] } = more[route] ?? {}
    const paths = pathsOf(route, ids)
    return people.flatMap((person) =>
      paths.flatMap((path) => search.map((text) => ({ route, path: `${path}${text}`, person }))),
    )
  })
}

/** Below one page of the reference are all of them: its kinds, an operation that reads, one that writes, and the largest. */
const referencePaths = [
  '/docs',
  '/docs/errors',
  '/docs/transfers',
  '/docs/transfers/createTransfer',
  '/docs/history/listHistory',
  '/docs/reports/reportAccountStatement',
]

/** The file `v.$code.policies.$id` is the page /v/treasury/policies/{id of a policy}, and `me_.sessions` is /me/sessions. */
function pathsOf(route: string, ids: Record<string, string[]>): string[] {
  if (route === 'docs.$') return referencePaths
  const path = `/${route}`
    .replaceAll(/_?\./g, '/')
    .replace('$code', vaultCode)
    .replace(/\/index$/, '')
  const parameter = /\$\w+/.exec(path)?.[0]
  if (parameter === undefined) return [path === '' ? '/' : path]
  const values = ids[route.split('.').slice(2).join('.')]
  if (values === undefined) throw new Error(`support/routes.ts does not know an example for the page ${route}`)
  return values.map((value) => path.replace(parameter, value))
}

/** Something for each page that shows one thing. */
async function idsOf(stack: Stack): Promise<Record<string, string[]>> {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const key = `travel_${Date.now()}`
  const [address, waiting, deposits, policies, category, confirmed] = await Promise.all([
    operationsOf(stack),
    orderTransfer(stack, '290'),
    vault.deposits.list({ limit: 1 }).page(),
    vault.policies.list({ limit: 1 }).page(),
    vault.operationCategories.create({ key, name: 'Travel', emoji: '✈️', color: '#1D4ED8' }),
    vault.transfers.list({ status: 'confirmed', limit: 1 }).page(),
  ])
  const change = {
    action: 'policy_group_create' as const,
    payload: { code: `night-${Date.now()}`, name: 'Night shift' },
  }
  const changeSet = await vault.changeSets.create({ title: 'A group for the night shift', changes: [change] })
  const [request, payout, book] = [await requestOf(stack), await payoutOf(stack), await bookOf(stack)]
  return {
    'addresses.$id': [address.id],
    'approvals.transfer.$id': [waiting.id],
    'approvals.request.$id': [request],
    'transfers.$id': [waiting.id, ...confirmed.items.map(({ id }) => id)],
    'deposits.$id': [deposits.items[0]!.id, nobodys],
    'policies.$id': [policies.items[0]!.id, nobodys],
    'categories.$id': [category.value!.id],
    'rules.$id': [changeSet.id],
    'payouts.$id': [payout],
    'approvals.payout.$id': [payout],
    ...book,
    'reports.$type': reportTypes,
  }
}

/** An id that nothing has. */
const nobodys = 'c00000000000000000000000'

const reportTypes = [
  'address_activity',
  'counterparty_activity',
  'counterparty_group_activity',
  'transaction_activity',
  'asset_movement',
  'account_statement',
  'operations_exceptions',
  'operations',
  'fees',
  'approval_activity',
  'category_analytics',
]

/** Two payments that the treasury votes on as one. */
async function payoutOf(stack: Stack): Promise<string> {
  const { payouts } = (await stack.client('treasurer')).vault(vaultCode)
  const fromAddressId = (await operationsOf(stack)).id
  const rows = ['110', '120'].map((amount) => ({
    externalId: `rent-${amount}-${Date.now()}`,
    fromAddressId,
    toAddress: stranger,
    token: 'TUSD',
    amount,
  }))
  return (await payouts.create({ name: 'Rents', rows })).id
}

/** An entry of the address book and a group of it, which an administrator may make from now on. */
async function bookOf(stack: Stack): Promise<Record<string, string[]>> {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const { items } = await vault.policyGroups.list({ limit: 100 }).page()
  const administrators = items.find(({ code }) => code === 'administrators')!.id
  for (const actionType of ['counterparty_create', 'counterparty_group_create'] as const) {
    const code = `${actionType.replaceAll('_', '-')}-${Date.now()}`
    await vault.policies.create(administrators, { code, name: 'The address book', actionType, effect: 'allow' })
  }
  const entry = await vault.counterparties.create({ name: 'Lawyers', kind: 'company' })
  const group = await vault.counterpartyGroups.create({ code: `suppliers-${Date.now()}`, name: 'Suppliers' })
  return { 'address-book.$id': [entry.value!.id], 'address-book.groups.$id': [group.value!.id] }
}

/** A change that waits for a vote: the address book asks the administrators from now on. */
async function requestOf(stack: Stack): Promise<string> {
  const vault = (await stack.client('admin')).vault(vaultCode)
  const { items: groups } = await vault.policyGroups.list({ limit: 100 }).page()
  const groupOf = (code: string) => groups.find((group) => group.code === code)!.id
  await vault.policies.create(groupOf('treasury'), {
    code: `book-${Date.now()}`,
    name: 'Entries of the address book',
    actionType: 'counterparty_create',
    effect: 'requireApproval',
    approvalThreshold: 1,
    approvers: [{ kind: 'group', groupId: groupOf('administrators') }],
  })
  const treasurer = (await stack.client('treasurer')).vault(vaultCode)
  const { pendingApproval } = await treasurer.counterparties.create({ name: 'Landlord', kind: 'company' })
  return pendingApproval!.id
}
