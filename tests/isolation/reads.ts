import type { App } from '../../server/src/http/endpoints.ts'
import { newId } from '../../server/src/lib/ids.ts'
import { type ReportType, reportTypes } from '../../server/src/modules/reports/catalogue/catalogue.ts'
import { describedApiOf } from '../../server/src/testing/described-api.ts'
import type { Organisation } from './organisation.ts'

type Parameter = { in: string; name: string; required?: boolean; schema: { enum?: string[]; type?: string } }
type Operation = { operationId: string; security?: unknown[]; parameters?: Parameter[] }
export type ReadOperation = Operation & { path: string; queries: Parameter[] }

/** Every GET of openapi.json that requires a signed-in caller; a new one is included automatically. */
export function readOperationsOf(app: App): ReadOperation[] {
  const { paths } = describedApiOf(app) as unknown as { paths: Record<string, { get?: Operation }> }
  return Object.entries(paths).flatMap(([path, { get }]) =>
    // Its cursors are sealed and never equal; a test beside its routes shows that they and their number tell nothing.
    // The endpoints for directories refuse every caller of an organisation; their tests show that directories are isolated.
    get?.security === undefined || get.operationId === 'listChanges' || path.startsWith('/scim/')
      ? []
      : [{ ...get, path, queries: (get.parameters ?? []).filter((parameter) => parameter.in === 'query') }],
  )
}

/**
 * Reads, by operation: first one without filters, then one for each possible value of each parameter, for each resource
 * that can be read by an id.
 */
export function readsOf(
  operations: ReadOperation[],
  organisation: Organisation,
): { plain: string[]; filtered: string[] }[] {
  const values = valuesOf(organisation)
  const idsUnder = idsBySegment(organisation)
  return operations.map(({ operationId, path, queries }) => {
    const known = queries.filter(({ name }) => name !== 'cursor')
    const choicesOf = ({ name, schema }: Parameter): string[] => {
      // Versions of the rules; of reports it is a time.
      if (name === 'to' && schema.type === 'integer') return ['1', '2']
      const choices = values[name] ?? schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : undefined)
      if (choices === undefined) throw new Error(`${operationId} has the parameter ${name}; say what to put into it`)
      return choices.filter((choice) => name !== 'format' || textFormats.includes(choice))
    }
    const widths: Record<string, string>[] = [{}]
    if (known.some(({ name }) => name === 'includeShared')) widths.push({ includeShared: 'true' })
    if (known.some(({ name }) => name === 'access')) widths.push({ access: 'all' }, { access: 'shared' })
    const required = known.filter((parameter) => parameter.required === true)
    const bases = subjectsOf(operationId, required, choicesOf).flatMap((base) =>
      widths.map((width) => ({ ...base, ...width })),
    )
    const [first, ...others] = pathsOf(path, organisation, idsUnder)
    const isFile = known.some(({ name }) => name === 'format')
    const files = isFile ? [toUrl(first!, { ...bases[widths.length - 1], format: 'csv' })] : []
    const plain = [...bases.slice(0, widths.length).map((base) => toUrl(first!, base)), ...files]
    const filtered = [first!, ...others].flatMap((url) =>
      bases.flatMap((base) => [
        toUrl(url, base),
        ...known.flatMap((parameter) =>
          choicesOf(parameter).map((value) => toUrl(url, { ...base, [parameter.name]: value })),
        ),
      ]),
    )
    return { plain, filtered: [...new Set(filtered)].filter((url) => !plain.includes(url)) }
  })
}

/** The others are files whose content depends on when they were made. */
const textFormats = ['json', 'csv']

function toUrl(url: string, query: Record<string, string>): string {
  const search = new URLSearchParams(query).toString()
  return search === '' ? url : `${url}?${search}`
}

/** The required query parameters, in every possible form. */
function subjectsOf(
  operationId: string,
  required: Parameter[],
  choicesOf: (parameter: Parameter) => string[],
): Record<string, string>[] {
  let all: Record<string, string>[] = [{}]
  for (const parameter of required) {
    all = all.flatMap((query) => choicesOf(parameter).map((value) => ({ ...query, [parameter.name]: value })))
  }
  // Required by the operation, but not by its schema: one of two.
  const either = operationId === 'reportAddressActivity' ? ['addressId', 'folderId'] : []
  if (either.length === 0) return all
  return either.flatMap((name) =>
    choicesOf({ in: 'query', name, schema: {} }).flatMap((value) => all.map((query) => ({ ...query, [name]: value }))),
  )
}

function pathsOf(path: string, { vault, operations }: Organisation, idsUnder: Record<string, string[]>): string[] {
  const filled = path.replace('{code}', vault.code)
  // For platform administrators. These organisations have none.
  if (/\/(users\/\{id\}\/|(identity-providers|directories)\/\{id\})/.test(filled))
    return [filled.replace('{id}', newId())]
  // Versions are numbered from 1.
  if (filled.includes('/{number}')) return ['1', '2'].map((number) => filled.replace('{number}', number))
  // An image of the organisation has no key that a stranger could know: it is a hash of its content.
  if (filled.includes('/images/{key}')) return [filled.replace('{key}', '0'.repeat(64))]
  if (filled.includes('/operations/{type}/{id}')) {
    const absent = { type: 'transfer', id: newId() }
    return [...operations, absent].map(({ type, id }) => filled.replace('{type}/{id}', `${type}/${id}`))
  }
  const parameter = /\/([^/]+)\/\{id\}/.exec(filled)
  if (parameter === null) {
    if (filled.includes('{')) throw new Error(`Say what to put into ${path}`)
    return [filled]
  }
  const ids = idsUnder[parameter[1]!]
  if (ids === undefined) throw new Error(`Say which ids there are in ${path}`)
  return [...ids, newId()].map((id) => filled.replace('{id}', id))
}

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id)

function idsBySegment(organisation: Organisation): Record<string, string[]> {
  const {
    addresses,
    operations,
    folders,
    requests,
    payouts,
    exports,
    counterparties,
    suppliers,
    categories,
    groups,
    policies,
  } = organisation
  return {
    addresses: idsOf(addresses),
    deposits: idsOf(operations.filter(({ type }) => type === 'deposit')),
    transfers: idsOf(operations.filter(({ type }) => type === 'transfer')),
    'address-groups': idsOf(folders),
    'approval-requests': requests,
    payouts,
    holds: [],
    exports,
    verifications: [],
    backtests: [],
    'change-sets': [],
    'service-tokens': [],
    counterparties: idsOf(counterparties),
    'counterparty-groups': [suppliers],
    'operation-categories': idsOf(categories),
    'policy-groups': idsOf(groups),
    policies,
    invitations: [],
    tokens: idsOf(Object.values(organisation.vault.tokens)),
  }
}

/** The parameters with which each report has content for the member. */
export function parametersOfReports(organisation: Organisation): Record<string, object> {
  const { addresses, counterparties, suppliers, categories, vault, times } = organisation
  const addressId = addresses.find(({ owner }) => owner === 0)!.id
  const from = times[0]!
  const special: Partial<Record<ReportType, object>> = {
    address_activity: { addressId },
    account_statement: { addressId, tokenId: vault.tokens.eth.id },
    counterparty_activity: { counterpartyId: counterparties[0]!.id },
    counterparty_group_activity: { counterpartyGroupId: suppliers },
    category_analytics: { categoryKey: categories[0]!.key },
  }
  return Object.fromEntries(reportTypes.map((type) => [type, { from, ...special[type] }]))
}

/** The values for each query parameter, of resources that the member sees and of resources that they do not. */
function valuesOf(organisation: Organisation): Record<string, string[]> {
  const { addresses, operations, folders, people, counterparties, suppliers, categories, vault, policies, times } =
    organisation
  const { eth, usdt } = vault.tokens
  const absent = newId()
  const addressIds = [...idsOf(addresses), absent]
  const folderIds = [...idsOf(folders), absent]
  const operationIds = [...idsOf(operations), absent]
  const userIds = people.map(({ userId }) => userId)
  const counterpartyIds = [...idsOf(counterparties), absent]
  const keys = categories.map(({ key }) => key)
  const instants = [times.at(0)!, times.at(times.length >> 1)!, times.at(-1)!]
  const pair = (items: string[]) => [...items, items.slice(0, 2).join()]
  return {
    limit: ['1', '2'],
    search: ['harbour', 'a', '0x', '%', '_', addresses[0]!.address.slice(2, 8)],
    q: ['harbour', '0x', addresses[0]!.address.slice(0, 8), ...addresses.map(({ id }) => id), ...operationIds],
    userId: userIds,
    actor: userIds,
    target: operationIds,
    action: ['create_address', 'transfer'],
    at: instants,
    exceptions: ['operationsWithoutUsdRate', 'unmatchedOperations,uncategorizedOperations'],
    addressId: addressIds,
    subjectId: addressIds,
    folderId: folderIds,
    groupId: [suppliers, absent],
    tokenId: [eth.id, usdt.id],
    token: ['ETH', 'USDT'],
    asset: ['ETH', 'USDT'],
    network: ['ethereum', 'nowhere'],
    counterpartyId: counterpartyIds,
    counterpartyGroupId: [suppliers, absent],
    counterpartyAddressId: counterparties.map(({ addressId }) => addressId),
    category: keys,
    categoryKey: keys,
    paymentPurpose: ['Savings', 'Harbour dues'],
    decisionPolicyId: policies,
    txHash: [`0x${'1'.repeat(64)}`],
    sourceOperationId: operationIds,
    targetOperationId: operationIds,
    from: [...instants, '2020-01-01'],
    to: [...instants, '2020-01-01'],
    timezone: ['Pacific/Auckland'],
    baseCurrency: ['USD'],
    statuses: ['confirmed', 'awaiting_approval,pending', 'rejected,cancelled,failed'],
    flowTypes: ['internal', 'external', 'internal,external'],
    tokenIds: pair([eth.id, usdt.id]),
    assets: pair(['ETH', 'USDT']),
    networkIds: ['ethereum'],
    ownAddressIds: pair(addressIds),
    addressIds: pair(addressIds),
    folderIds: pair(folderIds),
    counterpartyIds: pair(counterpartyIds),
    counterpartyGroupIds: [suppliers],
    counterpartyAddressIds: pair(counterparties.map(({ addressId }) => addressId)),
    categories: pair(keys),
    categoryKeys: pair(keys),
    categoryField: ['memo:nothing'],
    initiatorIds: pair(userIds),
    approvalPolicyIds: pair(policies),
    feePayerIds: pair(addressIds),
    feeKinds: ['payment', 'cancellation,failure'],
    minimumAmount: ['5'],
    maximumAmount: ['50'],
    status: ['awaiting_approval', 'pending,failed', 'confirmed'],
    sequence: ['1', '2'],
    initiatorId: [...userIds, absent],
  }
}
