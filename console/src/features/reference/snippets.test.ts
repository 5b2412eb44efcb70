import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { digest } from '../../../scripts/reference/digest.js'
import { curlOf, pathOf, sdkOf } from './snippets.ts'
import type { GroupFile, Index, Operation } from './types.ts'

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const files = digest(JSON.parse(read('openapi.json')), read('docs/errors.md'))
const groups = (files.index as Index).groups.map(({ slug }) => files[slug] as GroupFile)
const operations = new Map(groups.flatMap((group) => Object.entries(group.operations)))
const origin = 'https://vault.example.org'
const operationOf = (id: string) => operations.get(id)!

describe('the command of an operation', () => {
  it('contains the encoded values of the reader, and an example for a missing value', () => {
    const operation = operationOf('listMembers')
    expect(pathOf(operation, { code: 'a/b', limit: '5', cursor: '' })).toBe('/api/v1/vaults/a%2Fb/members?limit=5')
    expect(pathOf(operation, {})).toBe('/api/v1/vaults/main-vault/members')
    expect(curlOf(operation, { code: 'treasury' }, origin)).toBe(
      `curl '${origin}/api/v1/vaults/treasury/members' \\\n  -H "Authorization: Bearer $STRONGROOM_TOKEN"`,
    )
  })

  it('escapes quotation marks', () => {
    const operation = { ...operationOf('createTransfer'), bodyExample: { note: "it's; rm -rf" } }
    expect(curlOf(operation, {}, origin)).toContain(`"it'\\''s; rm -rf"`)
  })

  it('sends an idempotency key only with a write, and a token only where it is needed', () => {
    expect(curlOf(operationOf('createTransfer'), {}, origin)).toContain('-H "Idempotency-Key: $(uuidgen)"')
    expect(curlOf(operationOf('requestMagicLink'), {}, origin)).not.toContain('Authorization')
    expect(curlOf(operationOf('getHealth'), {}, origin)).toBe(`curl '${origin}/healthz'`)
  })
})

describe('the program of an operation', () => {
  it('exists for every operation but the two that no program calls', () => {
    const without = [...operations.values()].filter((operation) => sdkOf(operation, {}, origin) === null)
    expect(without.map(({ id }) => id).sort()).toEqual(['followMagicLink', 'receiveWalletEvent'])
  })

  it('compiles for every operation', () => {
    expect(faultsIn([...operations.values()])).toEqual([])
  })
})

/** Compiles the programs of the operations in one file, and returns the errors. */
function faultsIn(compiled: readonly Operation[]): string[] {
  const programs = compiled.flatMap((operation) => {
    const text = sdkOf(operation, {}, origin)
    if (text === null) return []
    const lines = text.split('\n').slice(2)
    return [`export async function ${operation.id}() {\n${lines.join('\n')}\n}\n`]
  })
  const head =
    "import { createStrongroom } from '@strongroom/sdk'\ndeclare const process: { env: Record<string, string> }\n"
  const path = fileURLToPath(new URL('programs.ts', import.meta.url))
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  const source = ts.createSourceFile(path, head + programs.join(''), ts.ScriptTarget.ES2023, true)
  host.getSourceFile = (name, ...rest) => (name === path ? source : getSourceFile(name, ...rest))
  host.fileExists = (name) => name === path || fileExists(name)
  const program = ts.createProgram([path], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText, start = 0 }) => {
    const line = source.getLineAndCharacterOfPosition(start).line
    const name = source.text
      .slice(0, start)
      .match(/function (\w+)/g)
      ?.at(-1)
    return `${name} (${line}): ${ts.flattenDiagnosticMessageText(messageText, ' ').slice(0, 300)}`
  })
}
