import { expect, test } from 'vitest'
import type { FullAuthority } from '../../page/authority.ts'
import { differenceOf } from '../../page/difference.ts'
import { authority } from '../testing/signing.ts'

const present = authority as FullAuthority

/** Lists every value of a document, as the path of names that leads to it. */
function placesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, member]) => placesOf(member, [...path, name]))
}

function changed(path: string[]): FullAuthority {
  const next = JSON.parse(JSON.stringify(present)) as FullAuthority
  const last = path.at(-1)!
  const holder = path.slice(0, -1).reduce((part: unknown, name) => (part as never)[name], next) as Record<
    string,
    unknown
  >
  holder[last] = other(holder[last])
  return next
}

const other = (value: unknown): unknown => {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (value === null) return '123'
  const text = String(value)
  if (text === 'any' || text === 'unlisted') return text === 'any' ? 'unlisted' : 'any'
  return /^[0-9]+$/.test(text) ? `${text}1` : `${text.startsWith('Z') ? 'Y' : 'Z'}${text.slice(1)}`
}

const ofEachVersion = ['version', 'previous']

test('each difference of the next authority has a sentence of its own', async () => {
  const said = new Map<string, string>()
  for (const path of placesOf(present).filter(([name]) => !ofEachVersion.includes(name!))) {
    const sentences = (await differenceOf(present, changed(path))).join('\n')
    expect(sentences, path.join('.')).not.toBe('')
    expect(sentences, path.join('.')).not.toContain('another order')
    expect(said.get(sentences), path.join('.')).toBe(undefined)
    said.set(sentences, path.join('.'))
  }
  expect(said.size).toBeGreaterThan(40)
})

test('added, removed and moved parts are named', async () => {
  for (const list of ['keys', 'groups', 'addresses', 'rules', 'contacts'] as const) {
    const without = { ...present, [list]: present[list]!.slice(1) }
    expect((await differenceOf(present, without)).length, `without one of ${list}`).toBe(1)
    expect((await differenceOf(without, present)).length, `with one more of ${list}`).toBe(1)
    const turned = { ...present, [list]: present[list]!.toReversed() }
    const isTurned = present[list]!.length > 1
    expect(await differenceOf(present, turned)).toEqual(isTurned ? ['Lists have another order.'] : [])
  }
  expect(await differenceOf(present, present)).toEqual([])
})

test('an authority of format 1 counts as one that trusts the pages of the service and waits for 24 hours', async () => {
  const { trustsServicePage, delayHours, contacts, ...rest } = present
  const before = { ...rest, format: 'strongroom-authority-1' }
  const next = { ...present, trustsServicePage: false, delayHours: 24, contacts: [] }
  expect(await differenceOf(before, next)).toEqual([
    'The format becomes strongroom-authority-2.',
    'Only keys of this page and of services may sign.',
  ])
})
