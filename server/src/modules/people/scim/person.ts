import { scimEmailsMax, scimTextLengthMax } from '../../../lib/limits.ts'
import { type Attribute, attributeOf, namedIn, userAttributes } from './attributes.ts'
import { scimFault } from './scim-fault.ts'

type PersonEmail = { value?: string; display?: string; type?: string; primary?: boolean }
type PersonName = Partial<
  Record<'formatted' | 'familyName' | 'givenName' | 'middleName' | 'honorificPrefix' | 'honorificSuffix', string>
>

/** A person as a directory describes them: the attributes that are stored, with their names of RFC 7643. */
export type Person = {
  userName?: string
  externalId?: string
  displayName?: string
  title?: string
  active?: boolean
  name?: PersonName
  emails?: PersonEmail[]
}

/** Reads the person in the body of a POST or PUT. Attributes that are not stored are left out. @throws 400 invalidValue */
export function readPerson(body: Readonly<Record<string, unknown>>): Person {
  const person: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    const attribute = attributeOf(name)
    if (typeof attribute === 'string') continue
    const read = readValue(attribute, value)
    if (read !== undefined) person[attribute.name] = read
  }
  return assertPerson(person)
}

/** @throws 400 invalidValue for a person without `userName` */
export function assertPerson(person: Person): Person {
  if (person.userName === undefined) throw scimFault('invalidValue', 'userName: is required')
  return person
}

/** Returns a value in the type of its attribute; undefined for null and for an empty value. @throws 400 invalidValue */
export function readValue(attribute: Attribute, value: unknown): unknown {
  if (attribute.multiValued !== true) return readSingle(attribute, value)
  if (value === null) return undefined
  const elements = [value].flat().map((element) => readSingle(attribute, element))
  const filled = elements.filter((element) => element !== undefined)
  return filled.length === 0 ? undefined : assertShort(attribute, filled)
}

/** Refuses a list that is too long. All lists of a person are lists of e-mail addresses. @throws 400 invalidValue */
export function assertShort<Element>({ name }: Pick<Attribute, 'name'>, list: Element[]): Element[] {
  if (list.length > scimEmailsMax)
    throw scimFault('invalidValue', `${name}: must not have more than ${scimEmailsMax} elements`)
  return list
}

/** Returns the value of an attribute with one value, or an element of a list, as `readValue` does. @throws 400 invalidValue */
export function readSingle(attribute: Attribute, value: unknown): unknown {
  if (value === null || value === '') return undefined
  if (attribute.type === 'boolean') return readBoolean(attribute, value)
  if (attribute.type === 'complex') return readComplex(attribute, value)
  if (typeof value !== 'string' || value.length > scimTextLengthMax) throw wrong(attribute, 'a text')
  return value
}

/** Reads a boolean, also as a text, which Entra ID sends. @throws 400 invalidValue */
function readBoolean(attribute: Attribute, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value.toLowerCase() : ''
  if (text !== 'true' && text !== 'false') throw wrong(attribute, 'true or false')
  return text === 'true'
}

function readComplex({ subAttributes = [], ...attribute }: Attribute, value: unknown): object | undefined {
  // An element of a list may be a text instead of an object; the text is its `value`.
  if (attribute.multiValued === true && typeof value === 'string')
    return { value: readSingle(subAttributes[0]!, value) }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(attribute, 'an object')
  const read: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(value)) {
    const sub = namedIn(subAttributes, name)
    const text = sub === null ? undefined : readSingle(sub, part)
    if (sub !== null && text !== undefined) read[sub.name] = text
  }
  return Object.keys(read).length === 0 ? undefined : read
}

const wrong = ({ name }: Pick<Attribute, 'name'>, type: string) => scimFault('invalidValue', `${name}: must be ${type}`)

/**
 * Returns the e-mail address of a person in lower case: the primary address, else an address of the type work, else the first
 * address, else `userName`.
 */
export function addressOf({ emails = [], userName }: Person): string {
  const chosen =
    emails.find((email) => email.primary === true) ??
    emails.find(({ type }) => type?.toLowerCase() === 'work') ??
    emails[0]
  return (chosen?.value ?? userName ?? '').toLowerCase()
}

/** Returns the name for the account of a new person. */
export function nameOfPerson({ displayName, name = {} }: Person): string | null {
  const parts = [name.givenName, name.familyName].filter((part) => part !== undefined)
  return displayName ?? name.formatted ?? (parts.length > 0 ? parts.join(' ') : null)
}

/** Returns a person with the attributes in the order of the schema. */
export function inOrder(person: Person): Person {
  const entries = userAttributes.map(({ name }) => [name, person[name as keyof Person]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
