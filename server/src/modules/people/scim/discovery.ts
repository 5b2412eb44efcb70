import { scimPageItemsMax } from '../../../lib/limits.ts'
import { type Attribute, groupAttributes, groupSchema, userAttributes, userSchema } from './attributes.ts'
import { locationOf } from './present.ts'

const core = 'urn:ietf:params:scim:schemas:core:2.0:'

/** Returns the features of SCIM that this service supports (RFC 7643, section 5). */
export const serviceProviderConfig = (origin: string) => ({
  schemas: [`${core}ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: scimPageItemsMax },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    { type: 'oauthbearertoken', name: 'Bearer token', description: 'The token of the directory', primary: true },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: locationOf(origin, 'ServiceProviderConfig') },
})

export const resourceTypes = (origin: string) => [
  {
    schemas: [`${core}ResourceType`],
    id: 'User',
    name: 'User',
    endpoint: '/Users',
    description: 'A person of the directory',
    schema: userSchema,
    meta: { resourceType: 'ResourceType', location: locationOf(origin, 'ResourceTypes/User') },
  },
  {
    schemas: [`${core}ResourceType`],
    id: 'Group',
    name: 'Group',
    endpoint: '/Groups',
    description: 'A group of the directory',
    schema: groupSchema,
    meta: { resourceType: 'ResourceType', location: locationOf(origin, 'ResourceTypes/Group') },
  },
]

export const schemas = (origin: string) => [
  {
    schemas: [`${core}Schema`],
    id: userSchema,
    name: 'User',
    description: 'A person of the directory',
    attributes: userAttributes.filter(({ name }) => name !== 'externalId').map(describe),
    meta: { resourceType: 'Schema', location: locationOf(origin, `Schemas/${userSchema}`) },
  },
  {
    schemas: [`${core}Schema`],
    id: groupSchema,
    name: 'Group',
    description: 'A group of the directory',
    attributes: groupAttributes.map(describe),
    meta: { resourceType: 'Schema', location: locationOf(origin, `Schemas/${groupSchema}`) },
  },
]

function describe(attribute: Attribute): Record<string, unknown> {
  const { name, type, description, subAttributes } = attribute
  const text = type === 'string' ? { caseExact: attribute.caseExact === true } : {}
  return {
    name,
    type,
    multiValued: attribute.multiValued === true,
    description,
    required: attribute.required === true,
    ...text,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: attribute.uniqueness ?? 'none',
    ...(subAttributes === undefined ? {} : { subAttributes: subAttributes.map(describe) }),
  }
}
