import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

/** Tables whose rows have an owner: a scope decides what a member reads of them. */
const owned = [
  'addresses',
  'operations',
  'transfers',
  'transfer_hashes',
  'unconfirmed_transfers',
  'deposits',
  'ledger_accounts',
  'ledger_entries',
  'adjustments',
  'category_assignments',
  'operation_relations',
  'address_grants',
  'address_groups',
  'address_group_members',
  'address_group_grants',
  'address_group_membership_log',
  'paid_recipients',
]

/** Queries that read owned rows without a viewer, each with the reason. */
const allowed: Record<string, string> = {
  'vaults/wallets/verifyAddresses': 'the verifier acts for nobody',
  'vaults/wallets/listUnknown': 'the books are compared with the wallet service, which acts for nobody',
  'vaults/wallets/setWalletMark': 'only the highest index of a vault, for the comparison with the wallet service',
  'vaults/addresses/findNextIndex': 'the next free index is the vault’s and is decided before anybody owns it',
  'operations/assignments/findAssignment': 'for the writer of an operation that was found in scope',
  'address-book/counterparties/listTakenAddresses':
    'only whether an on-chain address is taken, which the chain may not have twice',
  'money/deposits/findEventTargets': 'the webhook acts for nobody',
  'money/deposits/verifyDeposits': 'the verifier acts for nobody',
  'money/deposits/findDepositsByKey': 'the webhook acts for nobody',
  'money/deposits/lockDeposit': 'the webhook acts for nobody',
  'money/deposits/commitWalletEvents': 'the webhook acts for nobody',
  'money/deposits/creditUnmatchedEvents': 'the webhook acts for nobody; of an address that is being created',
  'money/deposits/creditQuarantinedEvent': 'an event that two people decided on',
  'money/ledger/lockAccountOf': 'the account of a deposit that was found visible, or that the chain took back',
  'money/ledger/listStatement': 'of an account that findAccount has found in scope',
  'money/ledger/postEntries': 'of accounts of an operation that its writer was allowed',
  'money/verifications/verifyLedger': 'the verifier acts for nobody',
  'money/verifications/verifyLedgerSeals': 'as verifyLedger',
  'money/ledger/listSealedContents':
    'for the verifier and the task that seals, and of a transfer that was found visible',
  'money/ledger/getLedgerEvidence': 'of a transfer that was found visible',
  'money/adjustments/planAdjustment': 'of an address of the vault, for its administrators',
  'money/adjustments/assertAdjustable': 'as planAdjustment',
  'money/ledger/listAdjustments': 'for administrators and auditors, who read the whole vault',
  'rules/rules-versions/readRules':
    'the folders that rules name, for those who read the rules, with every address in them',
  'vaults/grants/verifyOwners': 'the verifier acts for nobody',
  'vaults/folders/verifyFolders': 'the verifier acts for nobody',
  'money/orders/readSignatures': 'of a transfer that was found visible, or for delivery, which acts for nobody',
  'money/payouts/listOrderedRows': 'of a payout that the caller ordered',
  'money/delivery/lockAccounts': 'for delivery, which acts for nobody',
  'operations/assignments/moveToFront': 'for the writer of an operation that was found in scope',
  'record/audit/verifySubjects': 'the verifier acts for nobody',
  'money/ledger/listTokenSums': 'the reconciliation, which is the administrators’',
  'money/reconciliations/listBooked':
    'the reconciliation, which is the administrators’, and its task, which acts for nobody',
  'record/notifications/claimNotifications': 'the mailer has no viewer; the recipients have been decided',
  'money/deposits/findQuarantined': 'of an event that its vault resolves under dual control',
  'money/deposits/lockQuarantined': 'as findQuarantined, at the last vote',
  'operations/feed/correctOperationAmount': 'for the writer of a correction that two people decided',
  'operations/categories/hasValues': 'only whether any value exists, for the editor of the definition',
  'operations/assignments/listFirstCategoryKeys': 'of the transfers of a payout that was locked for its last vote',
  'operations/changes/readChanges': 'in each vault of a user, as the viewer that listViewers says they are there',
  'operations/relations/findExistingRelations': 'sums what relates to an operation that was found in scope',
  'registry/images/keepImage': 'only whether the subject of the image still shows it',
  'registry/images/deleteImages': 'as keepImage, for housekeeping',
  'rules/holds/findActiveHold': 'only whether something that was found is held',
  'rules/votes/listWithoutQuorum': 'for the mail about a quorum that is lost, which has no viewer',
  'money/transfers/findDeliveryState': 'by the id of a transfer that was found visible',
  'money/delivery/listTaken': 'only which parts of a transaction pay other transfers of the vault',
  'money/delivery/findFree':
    'only which part of the transaction that is to be settled pays no other transfer of the vault',
  'reports/archives/listAccounts': 'for administrators and auditors, who read the whole vault',
  'reports/archives/listTransferIds': 'as listAccounts',
  'reports/requests/nameFew': 'ids only, in the scope that the filter it is given holds',
  'vaults/wallets/findNewestAddressId':
    'an administrator changes the wallet service; only whether addresses came since',
  'vaults/wallets/pickUnchecked': 'as pickSamples; they are derived from shown keys',
  'vaults/wallets/pickSamples': 'an administrator changes the wallet service, which is asked for the same addresses',
  'rules/decisions/sumVelocity': 'limits count everybody’s transfers; a trace hides the sums',
  'rules/decisions/sumVelocityOfBatch': 'as sumVelocity',
  'rules/decisions/sumUnderLock': 'as sumVelocity',
  'rules/policy-groups/lockForAdministrator': 'of a table that is one of two, neither of them anybody’s',
  'rules/governance/vaultOf': 'of a table that is one of three, none of them anybody’s',
  'rules/policy-groups/listGroupsAmong': 'an administrator writes a policy; only whether the ids exist',
  'rules/policies/findMissingReferences': 'an administrator writes a policy; only whether what it names exists',
  'money/transfers/moveTransfers': 'by the ids of transfers that this very statement confirms',
  'money/transfers/lockAnswerable': 'for delivery, which acts for nobody',
  'money/delivery/applyReports': 'for delivery, which acts for nobody',
  'money/delivery/paidByOthers': 'only which hashes or outputs are those of other transfers of the vault',
  'money/delivery/findPayers': 'for delivery, which acts for nobody; only the addresses of the vault that paid a fee',
  'money/delivery/listStrangers': 'for delivery, which acts for nobody; only which ids belong to no transfer',
  'registry/tokens/listVaultIdsUsingToken': 'ids of vaults, to put a change of the token on their records',
  'money/inbox/listInbox': 'over all vaults of a user: what they vote on or asked for, which they may read by its id',
  'money/inbox/countWaiting': 'over all vaults of a user: how much of what they vote on waits for them',
  'money/holds/wakeQueued': 'only which deliveries of a vault are tried again, after a release of a hold',
  'money/holds/findAffected': 'who hears of a hold: how many transfers it affects, and who ordered them',
  'money/holds/lockHoldOn': 'of a subject that its caller has locked, only what holds it',
  'money/screening/findQuestion': 'the screening asks for nobody',
  'money/holds/lockActiveHold': 'by the id of a hold that was found visible, for the release that was voted on',
  'money/payouts/hasTransferHeld': 'of a payout that was locked, only whether it is held',
  'money/ledger/sealLate': 'the command of an operator, who owns the database',
  'money/payouts/listHoldsOnRows': 'of addresses that findSources has found in scope',
  'money/payouts/listDuePayouts': 'ids only, for the task that expires them, which acts for nobody',
  'money/orders/findHoldOnTransfer': 'of a transfer that was locked for a vote, only what holds it',
  'money/payouts/listStoredPayouts':
    'by the ids of payouts that were locked, and for the verifier, which acts for nobody',
  'money/transfers/listStoredOrders':
    'by the ids of transfers that were locked, and for the verifier, which acts for nobody',
  'money/orders/assertNotPlaced':
    'only whether the id of a signed order was taken, which a preview gave to its initiator',
  'money/orders/lockAvailable': 'by the id of an address that findSource has found in scope',
  'money/orders/lockAccountsOf': 'of addresses that findSources has found in scope',
  'money/transfers/lockTransfersOf': 'by the id of a payout that was locked',
  'money/orders/listCoins': 'of addresses that findSource or findSources has found in scope',
  'money/orders/findOrderNow': 'by the id of a transfer that was found visible',
  'money/transfers/lockTransfers': 'for delivery, which acts for nobody',
  'money/transfers/lockTransfer':
    'by the id of a transfer that was found visible, and for delivery, which acts for nobody',
}

/** The names of files that may have queries: a query stands in `queries.ts`, or in the only file that uses it. */
const holdsQueries = /^(?!.*\.test\.ts$).*\.ts$/

const modules = fileURLToPath(new URL('../modules/', import.meta.url))

describe('T39 every exported query of owned data', () => {
  const files = readdirSync(modules, { recursive: true, encoding: 'utf8' }).filter((name) => holdsQueries.test(name))
  const unscoped = files.flatMap((file) => findUnscopedReaders(resolve(modules, file), readFile))

  it('takes a viewer, or is on the list of exceptions with its reason', () => {
    expect(files.length).toBeGreaterThanOrEqual(200)
    expect(unscoped.filter((name) => !(name in allowed))).toEqual([])
  })

  it('is not on the list of exceptions if it takes a viewer', () => {
    expect(Object.keys(allowed).filter((name) => !unscoped.includes(name))).toEqual([])
  })
})

describe('T39 the search for queries without a scope', () => {
  const found = (source: string, others: Record<string, string> = {}) => {
    const read = (path: string) => ({ 'fake/queries.ts': source, ...others })[relative(modules, path)] ?? null
    return findUnscopedReaders(resolve(modules, 'fake/queries.ts'), read)
  }
  const unscoped = ['fake/listThings']

  it.each([
    ['a template', `return sql\`select * from addresses a where a.vault_id = \${vaultId}\`.execute(db)`],
    ['a join', 'return sql`select 1 from tokens t join ledger_accounts l on true`.execute(db)'],
    ['a part after a placeholder', `return sql\`select \${vaultId} from operations o\`.execute(db)`],
    ['a comma', 'return sql`select 1 from tokens t, transfers x`.execute(db)'],
    ['the query builder', "return db.selectFrom('deposits').selectAll().execute()"],
    ['an alias of the query builder', "return db.selectFrom('deposits as d').selectAll().execute()"],
    [
      'a join of the query builder',
      "return db.selectFrom('tokens').leftJoin('address_grants as g', 'g.id', 'x').execute()",
    ],
    ['a table by its name', `return sql\`select 1 from \${sql.table('address_groups')}\`.execute(db)`],
    ['a table of a dynamic name', `return sql\`select 1 from \${sql.table(vaultId)}\`.execute(db)`],
  ])('finds a query that reads by %s', (_, body) => {
    expect(found(`export async function listThings(db: Db, vaultId: string) { ${body} }`)).toEqual(unscoped)
  })

  it('finds a query that reads through a constant of its file or of another module', () => {
    const local = 'const all = sql`select * from addresses`\n'
    expect(found(`${local}export const listThings = (db: Db | Trx) => sql\`\${all} limit 1\`.execute(db)`)).toEqual(
      unscoped,
    )
    const source = `import { all as every } from '../other/queries.ts'
      export const listThings = async (trx: Trx) => sql\`\${every}\`.execute(trx)`
    expect(found(source, { 'other/queries.ts': `export ${local}` })).toEqual(unscoped)
    expect(found(source, { 'other/queries.ts': 'export const all = sql`select 1 from tokens`' })).toEqual([])
  })

  it.each([
    ['takes a scope', 'db: Db, scope: AddressScope', 'select * from addresses'],
    ['takes a member', 'db: Db, member: Member', 'select * from addresses'],
    ['takes a scope with other things', 'db: Db, { scope, id }: Wanted', 'select * from addresses'],
    ['takes a scope in the options of another module', 'db: Db, { scope }: Filter', 'select * from addresses'],
    ['reads a table without owners', 'db: Db, vaultId: string', 'select addresses from counterparties c'],
    ['only writes', 'trx: Trx, id: string', 'insert into addresses (id) values (1)'],
    ['only deletes', 'trx: Trx, id: string', 'delete from address_grants where id = 1'],
    ['is SQL for others to embed', 'alias: string', 'select * from addresses'],
  ])('accepts a query that %s', (_, parameters, text) => {
    const source = `import type { Filter } from './filter.ts'
      type Wanted = { scope: AddressScope; id: string }
      export const listThings = async (${parameters}) => sql\`${text}\`.execute(db)`
    expect(found(source, { 'fake/filter.ts': 'export type Filter = { scope: AddressScope }' })).toEqual([])
  })

  it('accepts a query that only its own file calls', () => {
    expect(found('async function listThings(db: Db) { return sql`select * from addresses`.execute(db) }')).toEqual([])
  })
})

type Read = (path: string) => string | null
type Declared = { node: ts.Node; file: SourceFile; isExported: boolean }
type SourceFile = {
  declared: Map<string, Declared>
  imported: Map<string, { path: string; name: string }>
}

const readFile: Read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null)

/** Returns `domain/room/name` of the exported functions of a file that read an owned table and take no viewer. */
function findUnscopedReaders(path: string, read: Read): string[] {
  const loaded = new Map<string, SourceFile>()
  const load = (wanted: string): SourceFile | null => {
    const source = read(wanted)
    if (source === null) return null
    if (!loaded.has(wanted)) loaded.set(wanted, parse(wanted, source))
    return loaded.get(wanted)!
  }
  /** Finds the declaration of a name: in the file, or in the file of the modules that it is imported from. */
  const meaningOf = (name: string, file: SourceFile): Declared | null => {
    const from = file.imported.get(name)
    return from === undefined ? (file.declared.get(name) ?? null) : (load(from.path)?.declared.get(from.name) ?? null)
  }
  const someWithin = (
    start: Declared,
    root: ts.Node,
    test: (node: ts.Node) => boolean,
    isFollowed: (node: ts.Node) => boolean,
  ) => {
    const seen = new Set<ts.Node>()
    const visit = (node: ts.Node, file: SourceFile): boolean => {
      if (seen.has(node)) return false
      seen.add(node)
      if (test(node)) return true
      const meaning = ts.isIdentifier(node) ? meaningOf(node.text, file) : null
      if (meaning !== null && !isQuery(meaning) && visit(meaning.node, meaning.file)) return true
      return ts.forEachChild(node, (child) => (isFollowed(child) && visit(child, file)) || undefined) ?? false
    }
    return visit(root, start.file)
  }

  /** Returns true for an exported function that takes a connection. It is checked in its own file, so that its callers pass. */
  const isQuery = ({ node, isExported }: Declared): boolean => {
    const parameters = isExported ? (callableOf(node)?.parameters ?? []) : []
    return parameters.some(({ type }) => /\b(Db|Trx|Reader)\b/.test(type?.getText() ?? ''))
  }

  const queryFile = load(path)!
  const folder = relative(modules, dirname(path))
  return [...queryFile.declared].flatMap(([name, start]) => {
    const callable = callableOf(start.node)
    if (!start.isExported || callable === null) return []
    const takes = (names: string[]) =>
      callable.parameters.some(
        ({ type }) =>
          type !== undefined &&
          someWithin(
            start,
            type,
            (node) => ts.isIdentifier(node) && names.includes(node.text),
            () => true,
          ),
      )
    const isReader =
      takes(['Db', 'Trx', 'Reader']) && someWithin(start, callable, readsOwned, (node) => !ts.isTypeNode(node))
    return isReader && !takes(['AddressScope', 'Member', 'ByMember', 'Viewer']) ? [`${folder}/${name}`] : []
  })
}

function callableOf(node: ts.Node): ts.SignatureDeclaration | null {
  const callable = ts.isVariableDeclaration(node) ? node.initializer : node
  return callable !== undefined && ts.isFunctionLike(callable) ? callable : null
}

function parse(path: string, source: string): SourceFile {
  const file: SourceFile = { declared: new Map(), imported: new Map() }
  for (const statement of ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true).statements) {
    if (ts.isImportDeclaration(statement)) {
      const from = resolve(dirname(path), (statement.moduleSpecifier as ts.StringLiteral).text)
      const bindings = statement.importClause?.namedBindings
      if (!from.startsWith(modules) || bindings === undefined || !ts.isNamedImports(bindings)) continue
      for (const { name, propertyName } of bindings.elements) {
        file.imported.set(name.text, { path: from, name: (propertyName ?? name).text })
      }
      continue
    }
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : []
    const isExported = modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    for (const [name, node] of namesIn(statement)) file.declared.set(name, { node, file, isExported })
  }
  return file
}

function namesIn(statement: ts.Statement): [string, ts.Node][] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map((declaration) => [declaration.name.getText(), declaration])
  }
  const isNamed =
    ts.isFunctionDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement)
  return isNamed && statement.name !== undefined ? [[statement.name.text, statement]] : []
}

const anyOwned = owned.join('|')
const inSql = new RegExp(
  String.raw`(?<!\bdelete\s+)\b(?:from|join|using)\s+(?:${anyOwned})\b|\bfrom\s[\w\s]+,\s*(?:${anyOwned})\b`,
)
const asName = new RegExp(String.raw`^(?:${anyOwned})\b`)

/** Returns true for a text of SQL, or a call of the query builder, that reads an owned table. */
function readsOwned(node: ts.Node): boolean {
  if (ts.isTemplateLiteralToken(node)) return inSql.test(node.text)
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false
  const [first] = node.arguments
  const method = node.expression.name.text
  if (first === undefined || !/^(selectFrom|using|table|\w+Join)$/.test(method)) return false
  // A table whose name is computed may be an owned table.
  return ts.isStringLiteralLike(first) ? asName.test(first.text) : method === 'table'
}
