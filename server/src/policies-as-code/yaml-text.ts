import { isDeepStrictEqual } from 'node:util'
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLSeq,
  Document as Yaml,
} from 'yaml'
import { payloadReader } from '../http/read-payload.ts'
import { AppError } from '../lib/errors.ts'
import { RulesFile } from './rules-file.ts'
import { FileFaults } from './to-document.ts'

const read = payloadReader(RulesFile)
const header = ` Rules of a Strongroom vault: see docs/policies-as-code.md. A section that is left out stays as it is.`

/** @throws FileFaults for a text that is not a file of rules */
export function readRules(text: string): RulesFile {
  const document = parseDocument(text)
  const [error] = document.errors
  if (error !== undefined) throw new FileFaults([{ field: `line ${error.linePos?.[0].line}`, message: error.code }])
  try {
    return read(document.toJS({ maxAliasCount: 100 }))
  } catch (error) {
    if (error instanceof AppError && Array.isArray(error.details)) throw new FileFaults(error.details)
    throw error
  }
}

/** Returns the rules as text. A comment of an existing file stays with its item while the item exists. */
export function writeRules(file: RulesFile, existing?: string): string {
  const former = existing === undefined ? null : parseDocument(existing)
  if (former !== null && former.errors.length > 0) throw new FileFaults([{ field: 'file', message: 'is not YAML' }])
  if (former === null || !isMap(former.contents)) {
    const fresh = new Yaml(null)
    fresh.contents = create(fresh, file) as never
    fresh.commentBefore = header
    return print(fresh)
  }
  former.contents = merge(former, former.contents, file) as never
  return print(former)
}

/** Prints a document with an empty line between groups and between policies. */
function print(document: Document): string {
  for (const section of ['groups', 'policies']) {
    const items = document.get(section)
    if (isSeq(items)) for (const [i, item] of items.items.entries()) if (isMap(item)) item.spaceBefore = i > 0
  }
  return document.toString(layout)
}

const layout = { lineWidth: 120 } as const

/** Returns `node` with this value. Equal parts keep their comments. */
function merge(document: Document, node: unknown, value: unknown): Node {
  if (Array.isArray(value) && isSeq(node)) {
    giveFirstItsComment(node)
    const left = node.items.map((item): Former => ({ item, content: contentOf(item), isTaken: false }))
    node.items = value.map((entry, i) => {
      const found = find(left, entry, i)
      if (found === undefined) return create(document, entry)
      found.isTaken = true
      return merge(document, found.item, entry)
    })
    return node
  }
  if (isObject(value) && isMap(node)) {
    const pairs = new Map(node.items.map((pair) => [keyOf(pair), pair]))
    node.items = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => {
        const pair = pairs.get(key)
        if (pair === undefined) return document.createPair(key, create(document, member)) as Pair
        pair.value = merge(document, pair.value, member)
        return pair
      })
    return node
  }
  if (isScalar(node) && !isObject(value) && !Array.isArray(value)) {
    if (node.value === value) return node
    node.value = value
    delete node.source
    return node
  }
  return create(document, value)
}

/** Moves a comment to the first item of a list. YAML attaches the comment above the first item to the whole list. */
function giveFirstItsComment(list: YAMLSeq): void {
  const [first] = list.items
  if (!list.commentBefore || !isMap(first)) return
  first.commentBefore = list.commentBefore
  delete list.commentBefore
}

type Former = { item: unknown; content: unknown; isTaken: boolean }

/** Finds the former node of an item: a node with the same name or value, or an unnamed node at the same place. */
function find(former: Former[], value: unknown, place: number): Former | undefined {
  const left = former.filter(({ isTaken }) => !isTaken)
  const name = nameOf(value)
  if (name !== undefined) return left.find(({ content }) => nameOf(content) === name)
  const same = left.find(({ content }) => isDeepStrictEqual(content, value))
  if (same !== undefined || !isObject(value)) return same
  const inPlace = former[place]
  return inPlace?.isTaken === false && isObject(inPlace.content) ? inPlace : undefined
}

const contentOf = (node: unknown): unknown => (isMap(node) || isSeq(node) || isScalar(node) ? node.toJSON() : node)
/** Returns the name of an item: the code of a group or policy, route and code of a variant, or the key of a category. */
function nameOf(content: unknown): string | undefined {
  if (!isObject(content)) return undefined
  const { route, code, key } = content
  if (code !== undefined) return JSON.stringify([route, code])
  return key === undefined ? undefined : JSON.stringify(key)
}
const keyOf = ({ key }: Pair): unknown => (isScalar(key) ? key.value : key)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Creates a new part: short lists and values on one line. */
function create(document: Document, value: unknown): Node {
  const node = document.createNode(value)
  visit(node, {
    Pair: (_, { key, value: part }) => {
      const name = isScalar(key) ? key.value : key
      const isShort = (isMap(part) || isSeq(part)) && (part.items as unknown[]).every(isLeaf)
      if (isShort && name !== 'governance' && name !== 'members') part.flow = true
    },
    Map: (_, map) => {
      if (map.items.every((pair) => keyOf(pair) === 'id' || keyOf(pair) === 'name')) map.flow = true
    },
  })
  return node as Node
}

const isLeaf = (item: unknown): boolean =>
  isScalar(item) ||
  (typeof item === 'object' && item !== null && 'key' in item && 'value' in item && isScalar(item.value))
