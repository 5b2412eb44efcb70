import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { reasons } from '../../server/src/lib/reasons.ts'
import { byReason, serviceText } from '../src/languages/de-service.ts'
import { consoleRoot, parse, placeOf, sourcePaths, visit } from './support/sources.ts'

/** The attributes of an element that a reader sees or hears. */
const readAloud = new Set(['aria-label', 'alt', 'caption', 'description', 'hint', 'label', 'placeholder', 'title'])

/** Names that are the same in every language. */
const names = new Set(['Strongroom', 'USD', 'CSV', 'XLSX', 'PDF', 'SHA-256', 'DELETE'])

/** Every text of the code, with the place of its first use. */
const texts = new Map<string, string>()
const notLiteral: string[] = []
const outside: string[] = []
for (const path of sourcePaths()) visit(parse(path), read)

/** By the name of the file: English text → German text. */
const german = new Map(
  readdirSync(join(consoleRoot, 'src/languages/de')).map((name) => [
    name,
    JSON.parse(readFileSync(join(consoleRoot, 'src/languages/de', name), 'utf8')) as Record<string, string>,
  ]),
)
const translated = new Map([...german.values()].flatMap((file) => Object.entries(file)))

describe('the texts of the console', () => {
  it('are literals, so that they can be found', () => expect(notLiteral).toEqual([]))

  it('all pass through t()', () => expect(outside).toEqual([]))

  it('have a German text each', () => {
    const missing = [...texts].filter(([text]) => !translated.has(text)).map(([text, place]) => `${place} ${text}`)
    expect(missing).toEqual([])
  })

  it('are all in use, and each is the same in every file', () => {
    const keys = [...german].flatMap(([name, file]) => Object.keys(file).map((text) => ({ name, text })))
    const unused = keys.filter(({ text }) => !texts.has(text))
    const differing = keys.filter(({ name, text }) => german.get(name)![text] !== translated.get(text))
    expect(unused.map(({ name, text }) => `${name}: ${text}`)).toEqual([])
    expect(differing.map(({ name, text }) => `${name}: ${text}`)).toEqual([])
  })

  it('have the same values in both languages, and none is empty', () => {
    const differing = [...translated].filter(
      ([text, other]) => other.trim() === '' || valuesIn(text).join() !== valuesIn(other).join(),
    )
    expect(differing).toEqual([])
  })
})

describe('texts of the service', () => {
  it('has a German sentence for each reason', () => {
    expect(Object.keys(byReason).toSorted()).toEqual(Object.keys(reasons).toSorted())
  })

  it.each([
    [
      'Insufficient funds: fund the address, or order less',
      'insufficient_funds',
      'Auf der Adresse ist nicht genug verfügbar.',
    ],
    ['Payments stop at night', 'blocked_by_policy', 'Eine Regel lehnt das ab: Payments stop at night'],
    ['name: is required', 'validation_failed', 'Eine Angabe fehlt oder ist ungültig: name: fehlt'],
    ['must NOT have more than 200 characters', undefined, 'darf höchstens 200 Zeichen haben'],
    ['The service could not be reached: fetch failed', undefined, /nicht erreichbar/],
    ['Something new', 'not_known_yet', 'Something new'],
  ])('%s (%s)', (text, reason, german) => {
    expect(serviceText(text, reason)).toMatch(german)
  })
})

function read(node: ts.Node): void {
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 't') {
    readCall(node)
  } else if (ts.isJsxText(node)) {
    if (isWord(node.text) && !isCommand(node)) outside.push(`${placeOf(node)} ${node.text.trim()}`)
  } else if (ts.isJsxAttribute(node)) {
    const { initializer } = node
    if (!readAloud.has(node.name.getText()) || initializer === undefined) return
    if (ts.isStringLiteral(initializer) && isWord(initializer.text))
      outside.push(`${placeOf(node)} ${initializer.text}`)
  }
}

/** The language module itself hands on the text that it was given. */
function readCall(call: ts.CallExpression): void {
  const [text] = call.arguments
  if (text !== undefined && ts.isStringLiteralLike(text)) {
    if (!texts.has(text.text)) texts.set(text.text, placeOf(call))
  } else notLiteral.push(`${placeOf(call)} ${call.getText()}`)
}

function isWord(text: string): boolean {
  return /\p{L}{2}/u.test(text) && !/^#[\dA-F]{6}$/.test(text) && !names.has(text.trim())
}

/** Returns true if the text is a shell command, which is the same in every language. */
function isCommand({ text, parent }: ts.JsxText): boolean {
  return text.startsWith('strongroom ') && ts.isJsxElement(parent)
}

/** The names of the values of a text. What stands in braces after a word of a plural is text: `one {is}`. */
function valuesIn(text: string): string[] {
  const found = text.matchAll(/(?<!(?:zero|one|two|few|many|other|=\d+)\s*)\{\s*(\w+)\s*[,}]/g)
  return [...new Set([...found].map(([, name]) => name!))].sort()
}
