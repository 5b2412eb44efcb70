/** The statements of an SQL file without its comments. Semicolons within `$$` and quotes end none. */
export function statementsOf(file: string): string[] {
  const tokens = file.match(/\$\$[\s\S]*?\$\$|'(?:[^']|'')*'|--[^\n]*|;|[^$';-]+|[\s\S]/g) ?? []
  const statements = ['']
  for (const token of tokens) {
    if (token === ';') statements.push('')
    else if (!token.startsWith('--')) statements[statements.length - 1] += token
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}

/** Returns true if a statement rewrites rows, or constrains or drops existing tables and columns. New columns and indexes do not. */
export function touchesWhatWasThere(statement: string, all: string[]): boolean {
  if (/^(update|delete from|insert into|drop)\b/.test(statement)) return true
  const made = all.map((statement) => /^create table (\w+)/.exec(statement)?.[1])
  const table = /^(?:alter table|create unique index \w+ on) (\w+)/.exec(statement)?.[1]
  if (/^alter index/.test(statement)) return true
  if (table === undefined || made.includes(table)) return false
  return (
    /^create unique/.test(statement) ||
    /\b(drop|rename|set not null|add (constraint|primary|unique|check|foreign))\b/.test(statement)
  )
}
