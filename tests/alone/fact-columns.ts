import { readFile } from 'node:fs/promises'
import type { Facts } from '../../server/src/modules/rules/selectors/facts.ts'

/** The columns that each fact of policies is read from. A fact without columns is a value of the request or of the service. */
export const columnsOfFacts: Record<keyof Facts, string[]> = {
  now: [],
  initiatorId: [],
  initiatorGroupIds: ['policy_group_memberships.group_id', 'policy_group_memberships.user_id'],
  initiatorKind: ['users.kind'],
  operationId: [],
  token: [
    'tokens.code',
    'tokens.contract_address',
    'tokens.network_id',
    'withheld_tokens.token_id',
    'addresses.token_id',
  ],
  amount: ['tokens.decimals'],
  summed: [],
  usdRate: ['token_rates.as_of', 'token_rates.source', 'token_rates.token_id', 'token_rates.usd_rate'],
  available: [
    ...['ledger_accounts.balance', 'ledger_accounts.purpose', 'ledger_accounts.address_id', 'ledger_accounts.token_id'],
    ...['adjustments.amount', 'adjustments.address_id', 'adjustments.token_id', 'approval_requests.resolved_result_id'],
    ...['approval_requests.action', 'approval_requests.status', 'governance.threshold', 'vaults.protection'],
  ],
  networkSlug: ['networks.slug', 'networks.type', 'networks.coin_type', 'addresses.network_id'],
  sourceAddressId: ['addresses.id'],
  sourceAddress: ['addresses.address', 'addresses.derivation_path'],
  addressGroupIds: ['address_group_members.address_id', 'address_group_members.group_id'],
  routeVariants: [
    ...['addresses.segments', 'routes.code', 'routes.position', 'routes.id'],
    ...['variants.code', 'variants.path_id', 'variants.route_id'],
  ],
  destination: [],
  destinationType: ['addresses.address_key', 'counterparty_addresses.address_key', 'counterparty_addresses.network_id'],
  counterparty: [
    ...['counterparties.kind', 'counterparties.created_at', 'counterparty_addresses.counterparty_id'],
    ...['counterparty_group_memberships.counterparty_id', 'counterparty_group_memberships.group_id'],
  ],
  destinationAddedAt: ['counterparty_addresses.created_at'],
  isFirstPayment: ['paid_recipients.address_key'],
  isLookAlike: ['paid_recipients.address_key', 'addresses.address_key', 'counterparty_addresses.address_key'],
  counterpartyGroupIds: ['counterparty_group_memberships.group_id', 'counterparty_groups.archived_at'],
  category: [
    ...['category_assignments.category_id', 'category_assignments.operation_id', 'category_assignments.position'],
    ...['operation_categories.key', 'operation_categories.applies_to', 'operation_categories.archived'],
    ...['operation_categories.assign_scope', 'operation_categories.view_scope', 'operation_categories.edit_scope'],
    ...['category_grants.category_id', 'category_grants.subject', 'category_grants.subject_type'],
    ...[
      'category_grants.subject_id',
      'category_grants.can_view',
      'category_grants.can_assign',
      'category_grants.can_edit',
    ],
  ],
  maxFee: [],
  riskScore: [],
  velocity: [
    ...['operations.address_id', 'operations.amount', 'operations.created_at', 'operations.initiator_id'],
    ...['operations.status', 'operations.token_id', 'operations.type', 'operations.usd_rate'],
    ...['operations.usd_rate_added_at', 'transfers.created_at', 'transfers.to_address_key'],
  ],
}

/** Columns that the same statements read and that are not facts, with the reason. */
const noFacts: Record<string, RegExp> = {
  'keys of joins, and times and numbers of versions': /\.(vault_id|id|updated_at|version)$/,
  'the rules themselves, which the versions hold': /^(policies|policy_approvers|policy_groups|rules_heads)\./,
  'whether somebody may order at all, which is asked before the policies':
    /^(address_grants|address_group_grants|holds)\.|^(addresses\.owner_id|tokens\.enabled|users\.disabled_at|vaults\.locked_at)$/,
  'who votes on a category, which the versions hold': /^category_approvers\.|^operation_categories\.(approval_|allow_)/,
  'words and pictures':
    /\.(name|symbol|description|color|emoji|avatar_uri|logo_uri|image|username|email|label|created_by_id|updated_by_id)$/,
  'what the book shows, and what an archived entry refuses before the policies':
    /^(counterparties\.archived_at|counterparty_addresses\.address|counterparty_groups\.(code|created_at))$/,
  'when a counterparty came into a group': /^counterparty_group_memberships\.created_at$/,
  'the form of metadata': /^category_fields\.|^category_assignments\.(assigned_by_id|created_at|values)$/,
  'who granted a category, and when': /^category_grants\.(created_at|grantor_id)$/,
  'how a category looks': /^operation_categories\.(created_at|is_system)$/,
  'of an operation, which nobody changes': /^operations\.(counterparty_id|network_id)$/,
  'whether an exposure stops an address, which is asked before the policies': /^ledger_accounts\.exposure$/,
  'what a screen shows of a token or of a person':
    /^(tokens\.(contract_key|created_at|dust_limit)|users\.is_platform_admin|vaults\.code)$/,
}

const factColumns = new Set(Object.values(columnsOfFacts).flat())

/** Columns that policies read and that no fact and no reason names. */
export const unnamedOf = (read: Iterable<string>): string[] =>
  [...read].filter((name) => !factColumns.has(name) && !Object.values(noFacts).some((pattern) => pattern.test(name)))

/** Columns that a fact names and that no statement reads. */
export const unreadOf = (read: Set<string>): string[] => [...factColumns].filter((name) => !read.has(name))

/** The facts that are read from a column. */
export const factsOfColumn = (name: string): string[] =>
  Object.entries(columnsOfFacts).flatMap(([fact, columns]) => (columns.includes(name) ? [fact] : []))

/** Returns what one person does to each fact, as docs/governance.md says. */
export async function namedOperations(): Promise<Record<string, string[]>> {
  const manual = await readFile(new URL('../../docs/governance.md', import.meta.url), 'utf8')
  const [, section = ''] = manual.split('### What one person does to them\n')
  const [table = ''] = section.split('\n## ')
  const rows = [...table.matchAll(/^\| `(\w+)` +\|([^|]*)\|/gm)]
  return Object.fromEntries(rows.map(([, fact, text]) => [fact!, [...text!.matchAll(/`(\w+)`/g)].map(([, id]) => id!)]))
}
