import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import type { Reason } from '../lib/reasons.ts'
import { exampleOfError, reasonsWithExample } from './error-examples.ts'

/** The reasons whose messages are not in the code, and the sources of these messages. */
const foreignMessages: Partial<Record<Reason, string>> = {
  validation_failed: 'the validator of the schemas',
  blocked_by_policy: 'the author of the policy',
}

const root = fileURLToPath(new URL('../', import.meta.url))
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|^testing\/|^http\/error-examples\.ts$/.test(name))
  .map((name) => readFileSync(resolve(root, name), 'utf8'))

describe('the example of an error', () => {
  const patterns = sources.flatMap(patternsIn)
  const reasons = reasonsWithExample.filter((reason) => !(reason in foreignMessages))

  it('is looked for in many reasons and files', () => {
    expect(reasons.length).toBeGreaterThan(60)
    expect(sources.length).toBeGreaterThan(400)
  })

  it.each(reasons)('of %s is a text of the code', (reason) => {
    const { message, details } = exampleOfError(reason).value
    const texts = Array.isArray(details) ? details.map(({ message }) => message) : [message, details ?? message]
    expect(texts.filter((text) => !isIn(patterns, text))).toEqual([])
  })
})

describe('the contents of a file', () => {
  it.each([
    ["throw conflict('held', 'A hold stops it')", 'A hold stops it', true],
    ["throw conflict('held', 'A hold stops it')", 'A hold stops it all', false],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    ["throw conflict('in_flight', `${transfers} in flight; wait`)", '3 transfers in flight; wait', true],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    ["throw conflict('in_flight', `${transfers} in flight; wait`)", '3 transfers are under way', false],
    ["throw conflict('held', 'A hold ' + 'stops it')", 'A hold stops it', true],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    ['throw faulty(`${field}: ${message}`)', 'amount: must be greater', false],
  ])('%s: "%s" %s', (source, words, expected) => {
    expect(isIn(patternsIn(source), words)).toBe(expected)
  })
})

const isIn = (patterns: RegExp[], text: string) => patterns.some((pattern) => pattern.test(text))

/** Returns a pattern for each text of a file, without templates of so few constant characters that they match almost anything. */
function patternsIn(source: string): RegExp[] {
  const patterns: RegExp[] = []
  const read = (node: ts.Node): void => {
    const parts = partsOf(node)
    if (parts.join('').length >= 10) patterns.push(new RegExp(`^${parts.map(escaped).join('.+')}$`, 's'))
    ts.forEachChild(node, read)
  }
  read(ts.createSourceFile('source.ts', source, ts.ScriptTarget.ESNext))
  return patterns
}

/** Returns the constant parts of a text, a template or a sum of them, without the values between the parts. */
function partsOf(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isTemplateExpression(node)) return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return []
  const [before, after] = [partsOf(node.left), partsOf(node.right)]
  if (before.length === 0 || after.length === 0) return []
  return [...before.slice(0, -1), `${before.at(-1)}${after[0]}`, ...after.slice(1)]
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
