// Checks that every table is written by one domain. Another domain that needs a change of the table calls the owner.
import { isCode, isTest, lineOf, parse, textsOf, ts, visit } from './syntax.js'

const rule = 'writing domain'
const builders = new Set(['insertInto', 'updateTable', 'deleteFrom', 'mergeInto'])

/**
 * @param {import('./project.js').File[]} files
 * @param {string} migrations text of the migrations, which defines the tables
 * @param {Record<string, { owner: string, others: Record<string, string> }>} exceptions by table: the domain that owns
 * it, and the others that write it, each with the reason
 * @returns {import('./project.js').Finding[]}
 */
export function checkWriters(files, migrations, exceptions) {
  const writes = tableWrites(files, migrations)
  return [...sharedTables(writes, exceptions), ...staleExceptions(writes, exceptions)]
}

/** Returns every place of the server that writes a table, with its domain. */
export function tableWrites(files, migrations) {
  const tables = tableNames(migrations)
  return files
    .filter(({ path }) => path.startsWith('server/src/') && isCode(path) && !isTest(path))
    .flatMap((file) =>
      writesOf(file, tables).map((write) => ({ ...write, file: file.path, domain: domainOf(file.path) })),
    )
}

export function tableNames(migrations) {
  return new Set([...migrations.matchAll(/^create table (\w+)/gm)].map(([, name]) => name))
}

/** Returns a domain, or a folder or file beside the domains. */
function domainOf(path) {
  return /^server\/src\/(?:modules\/)?([^/]+)/.exec(path)[1]
}

function sharedTables(writes, exceptions) {
  return [...new Set(writes.map(({ table }) => table))].flatMap((table) => {
    const ofTable = writes.filter((write) => write.table === table)
    const domains = new Set(ofTable.map(({ domain }) => domain))
    const exception = exceptions[table]
    if (exception === undefined && domains.size < 2) return []
    const permitted = exception === undefined ? [] : [exception.owner, ...Object.keys(exception.others)]
    return ofTable
      .filter(({ domain }) => !permitted.includes(domain))
      .map(({ file, line }) => ({
        file,
        line,
        rule,
        message: `${table} is written by ${[...domains].sort().join(' and ')}`,
      }))
  })
}

function staleExceptions(writes, exceptions) {
  return Object.entries(exceptions).flatMap(([table, { owner, others }]) =>
    [owner, ...Object.keys(others)]
      .filter((domain) => !writes.some((write) => write.table === table && write.domain === domain))
      .map((domain) => ({
        file: 'tools/tidy/shared-tables.json',
        line: 1,
        rule,
        message: `${table} is not written by ${domain}: the entry is not needed`,
      })),
  )
}

function writesOf(file, tables) {
  const source = parse(file)
  const found = []
  const add = (table, position) => {
    if (tables.has(table)) found.push({ table, line: lineOf(source, position) })
  }
  visit(source, (node) => {
    if (!ts.isCallExpression(node)) return
    const name = ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : node.expression.getText()
    const [first, second] = node.arguments
    if (builders.has(name) && first !== undefined && ts.isStringLiteralLike(first)) add(first.text, first.getStart())
    if (name === 'insertRows' && second !== undefined && ts.isObjectLiteralExpression(second)) {
      for (const property of second.properties) add(property.name?.getText() ?? '', property.getStart())
    }
  })
  const statement =
    /\b(?:insert into|(?<!for |do |or |after |before |on )update|delete from|merge into)\s+(?:only\s+)?"?(\w+)"?/gi
  for (const { position, text } of textsOf(source)) {
    for (const [, table] of text.matchAll(statement)) add(table, position)
  }
  return found
}
