/** An attribute of a person as SCIM describes it (RFC 7643). */
export type Attribute = {
  name: string
  type: 'string' | 'boolean' | 'complex'
  description: string
  multiValued?: true
  required?: true
  caseExact?: true
  uniqueness?: 'server'
  subAttributes?: readonly Attribute[]
}

const text = (name: string, description: string): Attribute => ({ name, type: 'string', description })

/** The attributes of a person that are stored. Every resource has `externalId`, so that the published schema does not list it. */
export const userAttributes: readonly Attribute[] = [
  { ...text('userName', 'Name of the person in the directory.'), required: true, uniqueness: 'server' },
  { ...text('externalId', 'Identifier of the person in the directory.'), caseExact: true },
  text('displayName', 'Name of the person for display.'),
  text('title', 'Position of the person.'),
  { name: 'active', type: 'boolean', description: 'False for a person who left.' },
  {
    name: 'name',
    type: 'complex',
    description: 'Parts of the name of the person.',
    subAttributes: [
      text('formatted', 'The whole name.'),
      text('familyName', 'Family name.'),
      text('givenName', 'Given name.'),
      text('middleName', 'Middle name.'),
      text('honorificPrefix', 'Title before the name.'),
      text('honorificSuffix', 'Title after the name.'),
    ],
  },
  {
    name: 'emails',
    type: 'complex',
    multiValued: true,
    description: 'E-mail addresses of the person.',
    subAttributes: [
      text('value', 'The address.'),
      text('display', 'The address for display.'),
      text('type', 'Type of the address, such as work.'),
      { name: 'primary', type: 'boolean', description: 'True for the primary address.' },
    ],
  },
]

/** Attributes of RFC 7643 that are accepted and not stored. Roles and entitlements of a directory therefore have no effect. */
const ignored = new Set(
  [
    'nickName profileUrl userType preferredLanguage locale timezone password phoneNumbers ims photos addresses',
    'entitlements roles x509Certificates schemas',
  ]
    .join(' ')
    .toLowerCase()
    .split(' '),
)
const readOnly = new Set(['id', 'meta', 'groups'])

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const corePrefixes = [userSchema, groupSchema].map((schema) => `${schema}:`.toLowerCase())

export const namedIn = (attributes: readonly Attribute[], name: string): Attribute | null =>
  attributes.find((attribute) => attribute.name.toLowerCase() === name.toLowerCase()) ?? null

/** Returns a name without the URN of the schema of people or groups. */
export function withoutUrn(name: string): string {
  const prefix = corePrefixes.find((core) => name.toLowerCase().startsWith(core)) ?? ''
  return name.slice(prefix.length)
}

/** Returns the attribute of a name if it is stored. Otherwise says if the name is accepted and not stored, read-only, or unknown. */
export function attributeOf(name: string): Attribute | 'ignored' | 'readOnly' | 'unknown' {
  const known = namedIn(userAttributes, name)
  if (known !== null) return known
  if (readOnly.has(name.toLowerCase())) return 'readOnly'
  // Extensions, such as the one for enterprises, have URNs.
  return ignored.has(name.toLowerCase()) || name.toLowerCase().startsWith('urn:') ? 'ignored' : 'unknown'
}

const groupNames = ['displayName', 'externalId', 'members'] as const

/** As `attributeOf`, for the attributes of groups. */
export function groupAttributeOf(name: string): (typeof groupNames)[number] | 'ignored' | 'readOnly' | 'unknown' {
  const key = withoutUrn(name.trim()).toLowerCase()
  const known = groupNames.find((attribute) => attribute.toLowerCase() === key)
  if (known !== undefined) return known
  if (key === 'id' || key === 'meta') return 'readOnly'
  return key === 'schemas' || key.startsWith('urn:') ? 'ignored' : 'unknown'
}

/** The attributes of a group, as its schema lists them. */
export const groupAttributes: readonly Attribute[] = [
  { ...text('displayName', 'Name of the group.'), required: true, uniqueness: 'server' },
  {
    name: 'members',
    type: 'complex',
    multiValued: true,
    description: 'People of the group.',
    subAttributes: [
      text('value', 'Identifier of the person.'),
      text('display', 'Name of the person in the directory.'),
      text('type', 'Type of the member: User.'),
    ],
  },
]
