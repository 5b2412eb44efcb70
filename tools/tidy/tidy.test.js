import { describe, expect, it } from 'vitest'
import { compareWithBaseline, shrink } from './baseline.js'
import { checkCitations } from './citations.js'
import { checkLengths, columnsMax, fileLinesMax, functionLinesMax, testFileLinesMax } from './lengths.js'
import { checkRooms } from './rooms.js'
import { checkSubjects } from './subjects.js'
import { checkThreatTests, renderThreatTests } from './threat-tests.js'
import { checkWords } from './words.js'
import { checkWriters } from './writers.js'

const messagesOf = (findings) => findings.map(({ file, line, message }) => `${file}:${line} ${message}`)
const file = (path, text) => ({ path, text })

describe('citations', () => {
  const documents = [
    file('docs/security/threats.md', '# Threats\n\n### T1\n\nNo balance is below zero.\n\n| T2 | also |\n'),
    file('docs/contract.md', '# Contract\n\n## 1. General\n\n### 1.3 Amounts\n'),
  ]
  const paths = new Set([
    'docs/security/threats.md',
    'docs/contract.md',
    'docs/decisions/0007-internal.md',
    'server/src/lib/money.ts',
    'server/src/app.test.ts',
  ])
  const check = (path, text) => messagesOf(checkCitations([...documents, file(path, text)], paths))

  it('accepts threats, sections, decisions and files that are there', () => {
    expect(
      check('a.ts', '// T1, threat T2, contract 1.3, contract 1, decision 0007, docs/decisions/0007 and lib/money.ts'),
    ).toEqual([])
    expect(
      check('docs/guide.md', 'See [1.3](contract.md#13-amounts), https://example.org/none.md and `*.test.ts`.'),
    ).toEqual([])
  })

  it.each([
    ['a threat', '// Threat T3.', 'T3 is not in docs/security/threats.md'],
    ['a threat of a test', "it('T3 refuses it', () => {})", 'T3 is not in docs/security/threats.md'],
    ['a section', '/* (contract 1.4) */', '1.4 is not a heading of docs/contract.md'],
    ['a decision', '// See docs/decisions/0008.', 'docs/decisions has no 0008'],
    ['a file', '// As in server/src/lib/coins.ts.', 'server/src/lib/coins.ts does not exist'],
    ['a page', '// (interface.md, Errors)', 'interface.md does not exist'],
  ])('finds %s that is not there', (_, text, message) => {
    expect(check('a.ts', `const one = 1\n${text}\n`)).toEqual([`a.ts:2 ${message}`])
  })

  it('reads comments and not code', () => {
    expect(check('a.ts', "const T9 = 'interface.md'\nimport './nothing.ts'\n")).toEqual([])
  })

  it('finds a document that is cited and not there', () => {
    const findings = checkCitations([file('a.ts', '// T1, contract 1.3')], new Set(['a.ts']))
    expect(findings.map(({ file: path }) => path)).toEqual(['docs/security/threats.md', 'docs/contract.md'])
  })
})

describe('the writing domain of a table', () => {
  const migrations = 'create table users (\n);\ncreate table grants (\n);\n'
  const inPeople = file('server/src/modules/people/a.ts', "trx.insertInto('users')")
  const check = (text, exceptions = {}) =>
    messagesOf(checkWriters([inPeople, file('server/src/modules/vaults/b.ts', text)], migrations, exceptions))
  const both = [
    'server/src/modules/people/a.ts:1 users is written by people and vaults',
    'server/src/modules/vaults/b.ts:1 users is written by people and vaults',
  ]

  it.each([
    "trx.insertInto('users')",
    "trx.updateTable('users')",
    "trx.deleteFrom('users')",
    "trx.mergeInto('users')",
    'insertRows(trx, { users: rows })',
    'sql`insert into users (id) values (1)`',
    'sql`with a as (select 1) update users set name = $' + '{name}`',
    'sql`delete from users`',
  ])('finds a second one: %s', (text) => {
    expect(check(text)).toEqual(both)
  })

  it.each([
    "trx.selectFrom('users')",
    "trx.insertInto('grants')",
    'sql`select 1 from users for update of users`',
    'sql`insert into grants values (1) on conflict (id) do update set users = 1`',
  ])('accepts %s', (text) => {
    expect(check(text)).toEqual([])
  })

  it('accepts an exception that gives a reason, for as long as it is needed', () => {
    const exceptions = { users: { owner: 'people', others: { vaults: 'because' } } }
    expect(check("trx.updateTable('users')", exceptions)).toEqual([])
    expect(check('', exceptions)).toEqual([
      'tools/tidy/shared-tables.json:1 users is not written by vaults: the entry is not needed',
    ])
  })
})

describe('the rooms and tables of docs/architecture.md', () => {
  const migrations = 'create table users (\n);\ncreate table sessions (\n);\ncreate table vaults (\n);\n'
  const code = [
    file('server/src/modules/people/users/a.ts', "trx.insertInto('users')"),
    file('server/src/modules/people/sign-in/a.ts', "trx.updateTable('sessions')"),
    file('server/src/http/guard.ts', "trx.updateTable('sessions')"),
    file('server/src/modules/vaults/vaults/a.ts', 'trx.insertInto(table)'),
  ]
  const paths = new Set(code.map(({ path }) => path))
  const shared = { sessions: { owner: 'people', others: { http: 'because' } } }
  const check = (people, vaults = '- `vaults`: vaults. Tables: vaults.', levels = {}) =>
    messagesOf(
      checkRooms(
        [...code, file('docs/architecture.md', `# Rooms\n\n${people}\n${vaults}\n`)],
        paths,
        migrations,
        shared,
        levels,
      ),
    )

  it('are those of the code', () => {
    expect(check('- `people`: users, sign-in. Tables: users,\n  sessions. More.')).toEqual([])
    expect(check('- `people`: users,\n  sign-in.\n  Tables: users.\n  Triggers write sessions.')).toEqual([])
  })

  it.each([
    ['a room that is not named', 'users. Tables: users, sessions.', 'the room sign-in of people is not named'],
    ['a room that is not there', 'users, sign-in, keys. Tables: users, sessions.', 'people has no room keys'],
    ['a table that is not named', 'users, sign-in. Tables: users.', 'people writes sessions, which is not named'],
    ['a table that is not there', 'users, sign-in. Tables: users, sessions, keys.', 'people does not write keys'],
  ])('finds %s', (_, named, message) => {
    expect(check(`- \`people\`: ${named}`)).toEqual([`docs/architecture.md:3 ${message}`])
  })

  it('finds levels that are not those of the table', () => {
    const levels = { people: [['sign-in'], ['users']] }
    const named = (rooms) => check(`- \`people\`: ${rooms}. Tables: users, sessions.`, undefined, levels)
    expect(named('sign-in ← users')).toEqual([])
    const message = 'docs/architecture.md:3 the levels of people are sign-in ← users'
    expect([named('users ← sign-in'), named('sign-in, users')]).toEqual([[message], [message]])
  })

  it('finds a table of another domain, and a domain that is not named', () => {
    const people = '- `people`: users, sign-in. Tables: users, sessions.'
    expect(check(people, '- `vaults`: vaults. Tables: vaults, users.')).toEqual([
      'docs/architecture.md:4 vaults does not write users',
    ])
    expect(check(people, '')).toEqual(['docs/architecture.md:1 the room vaults of vaults is not named'])
  })
})

describe('lengths', () => {
  const check = (path, text) => messagesOf(checkLengths([file(path, text)]))
  const lines = (count, line = '1') => Array.from({ length: count }, () => line).join('\n')
  const functionOf = (count) => `const f = () => {\n${lines(count - 2)}\n}`

  it('finds a long line, but no row of a table and no address', () => {
    expect(check('a.sql', 'x'.repeat(columnsMax))).toEqual([])
    expect(check('a.sql', `\n${'x'.repeat(columnsMax + 1)}`)).toEqual([`a.sql:2 141 columns, more than 140`])
    expect(check('a.md', `| ${'x'.repeat(columnsMax)} |\nhttps://example.org/${'x'.repeat(columnsMax)}`)).toEqual([])
  })

  it('finds a long function that does not say why', () => {
    expect(check('a.ts', functionOf(functionLinesMax))).toEqual([])
    expect(check('a.ts', functionOf(functionLinesMax + 1))).toEqual(['a.ts:1 a function of 71 lines, more than 70'])
    expect(check('a.ts', `// tidy: long because it is one table\n${functionOf(functionLinesMax + 1)}`)).toEqual([])
    expect(check('a.ts', `// tidy: long because\n${functionOf(functionLinesMax + 1)}`)).toHaveLength(1)
    expect(check('a.ts', `describe('all', () => {\n${lines(functionLinesMax)}\n})`)).toEqual([])
    expect(check('a.ts', `it('one', () => {\n${lines(functionLinesMax)}\n})`)).toHaveLength(1)
  })

  it('finds a long file that does not say why; tests may be longer', () => {
    expect(check('a.ts', lines(fileLinesMax))).toEqual([])
    expect(check('a.ts', lines(fileLinesMax + 1))).toEqual(['a.ts:1 401 lines, more than 400'])
    expect(check('a.md', `<!-- tidy: long because it is one reference -->\n${lines(fileLinesMax)}`)).toEqual([])
    expect(check('a.test.ts', lines(testFileLinesMax))).toEqual([])
    expect(check('a.test.ts', lines(testFileLinesMax + 1))).toHaveLength(1)
  })
})

describe('subjects of commits', () => {
  it('are of the form `area: what`', () => {
    const subjects = [
      'ledger: refuse it',
      'config, db: shorter functions',
      'Keep the work in progress',
      'ledger:refuse',
    ]
    const findings = checkSubjects(subjects.map((subject, index) => ({ hash: String(index), subject })))
    expect(findings.map((finding) => finding.file)).toEqual(['2', '3'])
  })
})

describe('the baseline', () => {
  const finding = (line) => ({ file: 'a.ts', line, rule: 'long line', message: 'too long' })

  it('accepts what it lists, and neither more nor less', () => {
    const baseline = { 'a.ts': { 'long line': 1 } }
    expect(compareWithBaseline([finding(1)], baseline)).toEqual([])
    expect(compareWithBaseline([finding(1), finding(2)], baseline)).toHaveLength(2)
    expect(compareWithBaseline([], baseline)).toEqual([
      'a.ts: long line: the baseline lists 1, there are 0; run npm run tidy -- --shrink',
    ])
  })

  it('shrinks and never grows', () => {
    const baseline = { 'a.ts': { 'long line': 2, citation: 1 }, 'gone.ts': { citation: 1 } }
    expect(shrink([finding(1), { ...finding(1), file: 'new.ts' }], baseline)).toEqual({ 'a.ts': { 'long line': 1 } })
    expect(shrink([finding(1), finding(2), finding(3)], { 'a.ts': { 'long line': 2 } })).toEqual({
      'a.ts': { 'long line': 2 },
    })
  })
})

describe('words', () => {
  const check = (text, path = 'a.ts') => messagesOf(checkWords([file(path, text)]))

  it.each(['What', 'Whether', 'Who', 'Which', 'How'])('finds a comment that opens with %s', (word) => {
    const message = `a.ts:2 opens with ${word}; say it as subject, verb, noun`
    expect(check(`const a = 1\n/** ${word} may vote. */\nconst b = 2\n`)).toEqual([message])
    expect(check(`const a = 1\n// ${word} may vote.\nconst b = 2\n`)).toEqual([message])
  })

  it('finds a description of the API that opens with a question word', () => {
    const texts = "const a = { description: 'Whether ' + 'it ends.' }\nconst b = described(Id, `Who reads it.`)\n"
    expect(check(texts, 'server/src/a.ts')).toEqual([
      'server/src/a.ts:1 opens with Whether; say it as subject, verb, noun',
      'server/src/a.ts:2 opens with Who; say it as subject, verb, noun',
    ])
    expect(check(texts, 'server/src/a.test.ts')).toEqual([])
    expect(check("const a = { description: 'True if it ends. What else?' }\n", 'server/src/a.ts')).toEqual([])
  })

  it('reads the first word of a comment only', () => {
    expect(check('/** Returns who may vote. What else? */\n// Votes count\n// Who votes twice\nconst a = 1\n')).toEqual(
      [],
    )
  })

  it('finds a variable, a parameter and a part that are not named after what they hold', () => {
    expect(check('const one = 1\nlet f = (given, { asked }) => given\n')).toEqual([
      'a.ts:1 names a variable one; name what it holds',
      'a.ts:2 names a variable given; name what it holds',
      'a.ts:2 names a variable asked; name what it holds',
    ])
    expect(check('const vote = list.each(x => x.one)\n')).toEqual([])
  })

  it('reads pages of the console', () => {
    expect(check('const a = <b>{one => one}</b>\n', 'a.tsx')).toEqual([
      'a.tsx:1 names a variable one; name what it holds',
    ])
  })
})

describe('the page of the tests of threats', () => {
  const statements = file(
    'docs/security/threats.md',
    '# Threats\n\n### T1\n\nSee [T2](#t2).\n\n**Proved.**\n\n### T2\n\n**Proved.**\n\n## More\n\n### T3\n\n[A](#b) **Not built.**\n',
  )
  const tests = file(
    'a.test.ts',
    `describe('T1 a ledger', () => {\n  it(\`T1 T9 has \${n} rows\`, () => {})\n  it('adds', () => {})\n})\n`,
  )
  const files = [statements, tests]

  it('lists the titles that name a statement, by file', () => {
    expect(renderThreatTests(files)).toContain(
      '## T1\n\n- `a.test.ts`\n  - T1 a ledger\n  - T1 T9 has … rows\n\n## T2\n\nNo test.\n\n## T3\n\nNo test.\n',
    )
  })

  it('is stale when a title changed, and every statement that is built has a test', () => {
    const page = renderThreatTests(files)
    expect(messagesOf(checkThreatTests(files, page))).toEqual([
      'docs/security/threats.md:9 no title of a test names T2',
    ])
    expect(messagesOf(checkThreatTests(files, page.replace('a ledger', 'another')))).toHaveLength(2)
  })
})
