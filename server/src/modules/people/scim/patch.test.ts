import { describe, expect, it } from 'vitest'
import { AppError } from '../../../lib/errors.ts'
import { createRandom } from '../../../testing/random.ts'
import { patchPerson, readOperations } from './patch.ts'
import type { Person } from './person.ts'

const anna: Person = { userName: 'anna@corp.example', active: true, name: { givenName: 'Anna', familyName: 'Keller' } }
const patch = (before: Person, ...operations: object[]): Person =>
  patchPerson(before, readOperations({ Operations: operations }))
const faultOf = (run: () => unknown): string | undefined => {
  try {
    run()
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
  return expect.fail('nothing was refused')
}
const work = { type: 'work', value: 'anna@corp.example', primary: true }
const home = { type: 'home', value: 'anna@home.corp.example' }

describe('the forms in which directories send changes', () => {
  it.each<[string, object, Partial<Person>]>([
    ['capital Replace with a text', { op: 'Replace', path: 'active', value: 'False' }, { active: false }],
    ['True as a text', { op: 'Add', path: 'active', value: 'True' }, { active: true }],
    ['a path of any case', { op: 'replace', path: 'DISPLAYNAME', value: 'A. K.' }, { displayName: 'A. K.' }],
    [
      'a value without a path',
      { op: 'replace', value: { active: false, title: 'CFO' } },
      { active: false, title: 'CFO' },
    ],
    [
      'dotted names',
      { op: 'add', value: { 'name.givenName': 'Ann' } },
      { name: { givenName: 'Ann', familyName: 'Keller' } },
    ],
    [
      'a name with a filter',
      { op: 'add', value: { 'emails[type eq "work"].value': 'anna@corp.example' } },
      { emails: [{ type: 'work', value: 'anna@corp.example' }] },
    ],
    [
      'an element that is not there yet',
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'anna@corp.example' },
      { emails: [{ type: 'work', value: 'anna@corp.example' }] },
    ],
    [
      'a part by its path',
      { op: 'add', path: 'name.familyName', value: 'Meier' },
      { name: { givenName: 'Anna', familyName: 'Meier' } },
    ],
    ['a part that goes', { op: 'remove', path: 'name.givenName' }, { name: { familyName: 'Keller' } }],
    [
      'the URN of the schema',
      { op: 'add', path: 'urn:ietf:params:scim:schemas:core:2.0:User:title', value: 'CFO' },
      { title: 'CFO' },
    ],
    ['an empty text as no value', { op: 'replace', path: 'title', value: '' }, {}],
    ['null as no value', { op: 'replace', path: 'title', value: null }, {}],
    ['one element as a list', { op: 'add', path: 'emails', value: work }, { emails: [work] }],
    ['an attribute that is not kept', { op: 'add', path: 'roles', value: [{ value: 'administrator' }] }, {}],
    [
      'an extension',
      { op: 'add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department', value: 'IT' },
      {},
    ],
    ['an address book', { op: 'add', path: 'phoneNumbers[type eq "work"].value', value: '1' }, {}],
    ['attributes of the service without a path', { op: 'add', value: { id: 'x', groups: [], schemas: [] } }, {}],
  ])('%s', (_name, operation, changed) => {
    expect(patch(anna, operation)).toEqual({ ...anna, ...changed })
  })

  it.each<[string, object, Partial<Person>]>([
    ['all of them', { op: 'remove', path: 'emails' }, { emails: undefined }],
    ['by a filter', { op: 'remove', path: 'emails[type eq "home"]' }, { emails: [work] }],
    [
      'by a filter for several',
      { op: 'remove', path: 'emails[value ew ".example" and not (primary eq true)]' },
      { emails: [work] },
    ],
    ['by value', { op: 'remove', path: 'emails', value: [{ value: home.value }] }, { emails: [work] }],
    [
      'a part of each',
      { op: 'remove', path: 'emails.primary' },
      { emails: [{ type: 'work', value: work.value }, home] },
    ],
    ['no element that matches', { op: 'remove', path: 'emails[type eq "other"]' }, { emails: [work, home] }],
  ])('removes elements: %s', (_name, operation, changed) => {
    const after = patch({ ...anna, emails: [work, home] }, operation)
    expect(after).toEqual({ ...anna, ...changed })
  })

  it('keeps at most one element primary', () => {
    const other = { type: 'other', value: 'a@corp.example', primary: true }
    const after = patch({ ...anna, emails: [work] }, { op: 'add', path: 'emails', value: [other] })
    expect(after.emails).toEqual([{ ...work, primary: false }, other])
  })

  it.each([
    ['an unknown verb', { op: 'move', path: 'title' }, 'invalidSyntax'],
    ['an unknown path', { op: 'add', path: 'salary', value: 1 }, 'invalidPath'],
    ['__proto__', { op: 'add', path: '__proto__.admin', value: true }, 'invalidPath'],
    ['a constructor', { op: 'add', path: 'constructor.prototype.admin', value: true }, 'invalidPath'],
    ['an unknown part', { op: 'add', path: 'name.salary', value: 'x' }, 'invalidPath'],
    ['a filter of no list', { op: 'add', path: 'title[value eq "x"]', value: 'x' }, 'invalidPath'],
    ['a broken path', { op: 'add', path: 'emails[type eq "work"', value: 'x' }, 'invalidPath'],
    ['a broken filter', { op: 'add', path: 'emails[type eq].value', value: 'x' }, 'invalidFilter'],
    ['the id', { op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    ['the groups', { op: 'add', path: 'groups', value: ['x'] }, 'mutability'],
    ['the end of the userName', { op: 'remove', path: 'userName' }, 'mutability'],
    ['nothing to remove', { op: 'remove' }, 'noTarget'],
    ['a filter that no element matches', { op: 'replace', path: 'emails[type ne "x"].value', value: 'x' }, 'noTarget'],
    ['another type', { op: 'replace', path: 'title', value: { a: 1 } }, 'invalidValue'],
    ['a text that is not a boolean', { op: 'replace', path: 'active', value: 'no' }, 'invalidValue'],
    ['a value that is not an object', { op: 'replace', value: 'x' }, 'invalidValue'],
    ['a text that is too long', { op: 'replace', path: 'title', value: 'x'.repeat(321) }, 'invalidValue'],
  ])('refuses %s', (_name, operation, type) => {
    expect(faultOf(() => patch(anna, operation))).toBe(type)
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  it('refuses a list that is too long at the operation that makes it so', () => {
    const addresses = Array.from({ length: 21 }, (_, index) => `anna-${index}@corp.example`)
    const add = (value: unknown) => ({ op: 'add', path: 'emails', value })
    const wrong = { op: 'add', path: 'salary', value: 1 }
    for (const verb of ['add', 'replace', 'remove'])
      expect(faultOf(() => patch(anna, { ...add(addresses), op: verb }, wrong))).toBe('invalidValue')
    const [last, ...twenty] = addresses
    expect(faultOf(() => patch(anna, add(twenty), add(last), wrong))).toBe('invalidValue')
    expect(faultOf(() => patch(anna, ...addresses.map(add), wrong))).toBe('invalidValue')
    expect(patch(anna, add(twenty), add(twenty)).emails).toHaveLength(20)
  })

  it('changes nothing when one of the operations is refused', () => {
    const before = structuredClone(anna)
    expect(faultOf(() => patch(before, { op: 'add', path: 'title', value: 'x' }, { op: 'add', path: 'salary' }))).toBe(
      'invalidPath',
    )
    expect(before).toEqual(anna)
  })
})

/** A simple model of a person: a map of paths of attributes to texts, without objects and lists. */
type Model = Map<string, string>
const texts = ['displayName', 'title', 'externalId', 'name.givenName', 'name.familyName', 'name.formatted']
const types = ['work', 'home']

const toModel = ({ emails = [], name = {}, ...person }: Person): Model =>
  new Map([
    ...Object.entries(person).map(([key, value]) => [key, String(value)] as const),
    ...Object.entries(name).map(([key, value]) => [`name.${key}`, value] as const),
    ...emails.map(({ type, value }) => [`email ${type}`, value ?? ''] as const),
  ])

describe('random changes', () => {
  it('have the result of a simple model in 300 random runs', () => {
    const random = createRandom(36)
    const pick = <Item>(items: Item[]): Item => items[random.below(items.length)]!
    for (let round = 0; round < 300; round += 1) {
      let person: Person = { userName: 'anna@corp.example', active: true }
      const model = toModel(person)
      for (let step = 0; step < 6; step += 1) {
        const operations = Array.from({ length: 1 + random.below(4) }, () => draw(model))
        person = patchPerson(person, readOperations({ Operations: operations }))
        expect(toModel(person), JSON.stringify(operations)).toEqual(model)
      }
    }

    function draw(model: Model): object {
      const op = pick(['add', 'Add', 'replace', 'Replace', 'REPLACE'])
      const value = `v${random.below(5)}`
      const kind = random.below(6)
      if (kind === 0) {
        const active = pick(['True', 'False', 'true', true, false])
        model.set('active', String(active).toLowerCase())
        return random.below(2) === 0 ? { op, path: 'active', value: active } : { op, value: { active } }
      }
      if (kind === 1) {
        const type = pick(types)
        model.set(`email ${type}`, value)
        const path = pick([`emails[type eq "${type}"].value`, `EMAILS[Type EQ "${type}"].Value`])
        return random.below(2) === 0 ? { op, path, value } : { op, value: { [path]: value } }
      }
      if (kind === 2) {
        const type = pick(types)
        model.delete(`email ${type}`)
        return { op: pick(['remove', 'Remove']), path: `emails[type eq "${type}"]` }
      }
      const path = pick(texts)
      if (kind === 3) {
        model.delete(path)
        return random.below(2) === 0 ? { op: 'Remove', path } : { op, path, value: pick([null, '']) }
      }
      model.set(path, value)
      const written = pick([path, path.toLowerCase(), `urn:ietf:params:scim:schemas:core:2.0:User:${path}`])
      return random.below(2) === 0 ? { op, path: written, value } : { op, value: { [written]: value } }
    }
  })
})
