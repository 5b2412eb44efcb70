import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { ofInstallation, ofVault } from '../../sdk/src/generated/operations.ts'
import { consoleRoot, sourcePaths, visit } from './support/sources.ts'

/** The operations that no page calls, with the reasons. */
const exceptions: Record<string, string> = {
  getOpenApi: 'the document for programs; the developer page is made from it',
  getHealth: 'asked by load balancers',
  getImage: 'the address of an image, which the browser asks for where a page shows it',
  getMetrics: 'read by monitoring, with a token of its own',
  receiveWalletEvent: 'sent by wallet services',
  followMagicLink: 'the link in a mail, which the service answers with pages of its own',
  redeemMagicLink: 'the sign-in page, which the service draws',
  preparePasskeySignIn: 'the sign-in page, which the service draws',
  signInWithPasskey: 'the sign-in page, which the service draws',
  listProvidersOfAddress: 'the sign-in page, which the service draws',
  getIdentityProvider: 'the list of identity providers says the same of each',
  getDirectory: 'the list of directories says the same of each',
  ...Object.fromEntries(
    `getScimConfig listScimResourceTypes getScimResourceType listScimSchemas getScimSchema listScimUsers getScimUser createScimUser
    replaceScimUser patchScimUser deleteScimUser listScimGroups getScimGroup createScimGroup replaceScimGroup patchScimGroup
    deleteScimGroup`
      .split(/\s+/)
      .map((id) => [id, 'called by the directory of a company']),
  ),
  getInvitation: 'the list of invitations says the same of each',
  getPolicy: 'the list of policies says the same of each',
  getAddressGroup: 'the list of folders says the same of each',
  listAddressGroupMembers: 'the list of addresses takes a folder as its filter',
  listOperationRelations: 'each operation lists its own relations, and a new one begins at an operation',
  listServiceKeys: 'for who runs the program: its key is made where it runs',
  addServiceKey: 'as listServiceKeys',
  revokeServiceKey: 'as listServiceKeys',
  listApprovalRequests: 'the inbox lists them together with transfers',
}

/** Operations that do what another one does, in a way that programs need. */
const sameAs = (id: string) => id.replace(/^postReport/, 'report')

it('every operation that is for people is called by a page of the console', () => {
  const called = calledOperations()
  const wanted = operationIds().filter((id) => !(id in exceptions))
  const reached = new Set([...called].map(sameAs))
  expect(wanted.filter((id) => !reached.has(sameAs(id)))).toEqual([])
})

it('the list of exceptions names operations that exist and that no page calls', () => {
  const ids = new Set(operationIds())
  const called = calledOperations()
  expect(Object.keys(exceptions).filter((id) => !ids.has(id) || called.has(id))).toEqual([])
})

function operationIds(): string[] {
  return Object.values(readDocument().paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId }) => operationId ?? []),
  )
}

type Document = { paths: Record<string, Record<string, { operationId?: string }>> }

function readDocument(): Document {
  return JSON.parse(readFileSync(join(consoleRoot, '../openapi.json'), 'utf8')) as Document
}

/** The operations whose method of the SDK the console uses, by the types that the compiler finds: no guess by name. */
function calledOperations(): Set<string> {
  if (known !== undefined) return known
  const checked = checkedSources()
  const ids = idsByMethod()
  const names = new Set([...ids.keys()].map((id) => id.split('.')[1]!))
  const called = new Set<string>()
  for (const source of checked.sources) {
    visit(source, (node) => {
      for (const name of methodsAt(node, { checker: checked.checker, names }).flatMap(namesOf)) {
        const id = ids.get(name)
        if (id !== undefined) called.add(id)
      }
    })
  }
  known = called
  return called
}

let known: Set<string> | undefined

function checkedSources(): { checker: ts.TypeChecker; sources: ts.SourceFile[] } {
  const { config } = ts.readConfigFile(join(consoleRoot, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, consoleRoot)
  const paths = sourcePaths()
  const program = ts.createProgram(paths, { ...options, noEmit: true, skipLibCheck: true })
  const sources = paths.map((path) => program.getSourceFile(path)!)
  return { checker: program.getTypeChecker(), sources }
}

type Wanted = { checker: ts.TypeChecker; names: ReadonlySet<string> }

/**
 * The members of objects that a piece of code takes by name: `vault.transfers.create`, `{ policies }` and `reports[type]`. The compiler
 * is asked about the names of methods of the SDK only, because it computes for each question what it knows nothing of yet.
 */
function methodsAt(node: ts.Node, { checker, names }: Wanted): ts.Symbol[] {
  if (ts.isPropertyAccessExpression(node))
    return names.has(node.name.text) ? some(checker.getSymbolAtLocation(node.name)) : []
  if (ts.isElementAccessExpression(node)) {
    const object = checker.getTypeAtLocation(node.expression)
    const key = checker.getTypeAtLocation(node.argumentExpression)
    const keys = key.isUnion() ? key.types : [key]
    return keys.flatMap((key) => (key.isStringLiteral() ? some(checker.getPropertyOfType(object, key.value)) : []))
  }
  if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
    const name = (node.propertyName ?? node.name).getText()
    if (!names.has(name)) return []
    return some(checker.getPropertyOfType(checker.getTypeAtLocation(node.parent), name))
  }
  return []
}

const some = (symbol: ts.Symbol | undefined) => (symbol === undefined ? [] : [symbol])

/** A method of the SDK as "VaultTransfersResource.create"; a member of a union has a declaration in each of its types. */
function namesOf(symbol: ts.Symbol): string[] {
  return (symbol.declarations ?? []).flatMap(({ parent }) =>
    ts.isInterfaceDeclaration(parent) ? `${parent.name.text}.${symbol.name}` : [],
  )
}

function idsByMethod(): Map<string, string> {
  const document = readDocument()
  const tables = [
    { prefix: 'Vault', table: ofVault },
    { prefix: '', table: ofInstallation },
  ]
  const rows = tables.flatMap(({ prefix, table }) =>
    Object.entries(table).flatMap(([resource, methods]) =>
      Object.entries(methods).map(([method, [verb, path]]) => {
        const name = resource === '' ? 'VaultResources' : `${prefix}${pascalCase(resource)}Resource`
        return [`${name}.${method}`, document.paths[path]![verb.toLowerCase()]!.operationId!] as const
      }),
    ),
  )
  return new Map(rows)
}

const pascalCase = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)
