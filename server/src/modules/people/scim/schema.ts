import { type Static, type TSchema, Type } from 'typebox'
import { Closed, described, Id, Timestamp } from '../../../http/schema.ts'
import { scimFilterBytesMax, scimPageItemsDefault, scimPageItemsMax } from '../../../lib/limits.ts'
import { type Attribute, groupAttributes, groupSchema, userAttributes, userSchema } from './attributes.ts'

const Schemas = (example: string) =>
  Type.Array(Type.String({ examples: [example] }), { description: 'The form of the object.' })

const examples: Record<string, string> = {
  userName: 'treasurer@example.org',
  externalId: '00u1a2b3',
  displayName: 'Anna Keller',
  title: 'Treasurer',
  formatted: 'Anna Keller',
  familyName: 'Keller',
  givenName: 'Anna',
  middleName: 'Maria',
  honorificPrefix: 'Dr.',
  honorificSuffix: 'MBA',
  value: 'treasurer@example.org',
  display: 'Anna Keller',
  type: 'work',
}

function schemaOf({ name, type, description, subAttributes = [], multiValued }: Attribute): TSchema {
  const single =
    type === 'complex'
      ? Closed(optionals(subAttributes), { description })
      : type === 'boolean'
        ? Type.Boolean({ description, examples: [true] })
        : Type.String({ description, examples: [examples[name]] })
  return multiValued === true ? Type.Array(single, { description }) : single
}

const optionals = (attributes: readonly Attribute[]): Record<string, TSchema> =>
  Object.fromEntries(attributes.map((attribute) => [attribute.name, Type.Optional(schemaOf(attribute))]))

const Meta = Closed(
  {
    resourceType: Type.String({ description: 'Type of the resource.', examples: ['User'] }),
    created: Type.Optional(described(Timestamp, 'Time at which the directory added it, in UTC.')),
    lastModified: Type.Optional(described(Timestamp, 'Time of the last change by the directory, in UTC.')),
    version: Type.Optional(
      Type.String({ description: 'The ETag of the resource, for If-Match.', examples: ['W/"3"'] }),
    ),
    location: Type.String({
      description: 'The address of the resource.',
      examples: ['https://vault.example.org/scim/v2/Users/cmi8h2k1p0a1b2c3d4e5f6g7h'],
    }),
  },
  { description: 'Facts about the resource.' },
)

export const ScimUser = Closed(
  { schemas: Schemas(userSchema), id: Id, ...optionals(userAttributes), meta: Type.Optional(Meta) },
  { $id: 'ScimUser', description: 'A person as a directory describes them (RFC 7643).' },
)

export const ScimGroup = Closed(
  {
    schemas: Schemas(groupSchema),
    id: Id,
    ...optionals(groupAttributes),
    externalId: Type.Optional(
      Type.String({ description: 'Identifier of the group in the directory.', examples: ['7f3a'] }),
    ),
    meta: Type.Optional(Meta),
  },
  { $id: 'ScimGroup', description: 'A group as a directory describes it (RFC 7643). It gives nobody a right.' },
)
export type ScimGroup = Static<typeof ScimGroup>

/** A resource in the body of a request, with any attributes. Unknown attributes are not read. */
const open = (example: object, description: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description,
    examples: [example],
  })

export const SentUser = open(
  { schemas: [userSchema], userName: 'treasurer@example.org', externalId: '00u1a2b3', active: true },
  'A person in the form of RFC 7643. Attributes that this service does not store are left out.',
)
export const SentGroup = open(
  { schemas: [groupSchema], displayName: 'Treasury', members: [{ value: 'cmi8h2k1p0a1b2c3d4e5f6g7h' }] },
  'A group in the form of RFC 7643.',
)
export const SentPatch = open(
  {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'active', value: false }],
  },
  'The operations of RFC 7644 (section 3.5.2). All of them take effect, or none.',
)

const messages = 'urn:ietf:params:scim:api:messages:2.0:'
export const listResponse = `${messages}ListResponse`
export const ScimList = Closed(
  {
    schemas: Schemas(listResponse),
    totalResults: Type.Integer({ minimum: 0, description: 'Number of all matching resources.', examples: [240] }),
    startIndex: Type.Integer({ minimum: 1, description: 'Place of the first resource of the page.', examples: [1] }),
    itemsPerPage: Type.Integer({ minimum: 0, description: 'Number of resources of the page.', examples: [100] }),
    Resources: Type.Array(open({ id: 'cmi8h2k1p0a1b2c3d4e5f6g7h' }, 'A resource.'), {
      description: 'The resources of the page.',
    }),
  },
  { $id: 'ScimList', description: 'A page of resources for a directory (RFC 7644).' },
)

/** The description of this service for directories: its features, its types of resources or its schemas. */
export const ScimDescription = Type.Unsafe<Record<string, unknown>>({
  $id: 'ScimDescription',
  type: 'object',
  additionalProperties: true,
  description: 'A description of this service for directories, in the form of RFC 7643.',
  examples: [{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'] }],
})

const attributes = {
  attributes: Type.Optional(
    Type.String({
      maxLength: scimFilterBytesMax,
      description: 'Names of the attributes to return, separated by commas.',
      examples: ['userName'],
    }),
  ),
  excludedAttributes: Type.Optional(
    Type.String({
      maxLength: scimFilterBytesMax,
      description: 'Names of attributes to leave out, separated by commas.',
      examples: ['emails'],
    }),
  ),
}
export const ScimQuery = Closed(attributes)
export type ScimQuery = Static<typeof ScimQuery>
export const ScimListQuery = Closed({
  filter: Type.Optional(
    Type.String({
      description: `Restricts the list (RFC 7644, section 3.4.2.2); at most ${scimFilterBytesMax} bytes.`,
      examples: ['userName eq "treasurer@example.org"'],
    }),
  ),
  startIndex: Type.Optional(
    Type.Integer({ description: 'Place of the first resource, from 1; a smaller number means 1.', examples: [1] }),
  ),
  count: Type.Optional(
    Type.Integer({
      description: `Maximum number of resources of the page; ${scimPageItemsDefault} by default, at most ${scimPageItemsMax}.`,
      examples: [100],
    }),
  ),
  sortBy: Type.Optional(Type.String({ description: 'Ignored: pages are in the order of the ids.', examples: ['id'] })),
  sortOrder: Type.Optional(Type.String({ description: 'Ignored, as `sortBy`.', examples: ['ascending'] })),
  ...attributes,
})
export type ScimListQuery = Static<typeof ScimListQuery>

export const scimComponents = [ScimUser, ScimGroup, ScimList, ScimDescription]
