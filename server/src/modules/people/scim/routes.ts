import type { Static } from 'typebox'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints, type Http } from '../../../http/endpoints.ts'
import { described, GivenId } from '../../../http/schema.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { addPerson, changePerson, removePerson } from './actions.ts'
import { etagOf, versionOf } from './by-directory.ts'
import { resourceTypes, schemas, serviceProviderConfig } from './discovery.ts'
import { parseFilter } from './filter.ts'
import { patchPerson, readOperations } from './patch.ts'
import { readPerson } from './person.ts'
import { rangeOf, toScimList, toScimUser } from './present.ts'
import { findPerson, listPeople, type PersonRow } from './queries.ts'
import { ScimDescription, ScimList, ScimListQuery, ScimQuery, ScimUser, SentPatch, SentUser } from './schema.ts'

/** The endpoints for directories (SCIM 2.0), below `/scim/v2`. Errors have the form of SCIM (`http/scim-form.ts`). */
export function scimRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Directories', { access: 'directory' })
  const origin = () => deps.publicOrigin()

  const answer = (row: PersonRow, { reply }: Http, query: ScimQuery = {}): Static<typeof ScimUser> => {
    reply.header('etag', etagOf(row.version))
    return toScimUser(row, origin(), query) as never
  }

  api.get('getScimConfig', '/ServiceProviderConfig', {
    summary: 'Get the supported features of SCIM',
    description:
      'For directories. PATCH, filters and ETags are supported; bulk requests, sorting and passwords are not.',
    answers: { 200: ScimDescription },
    handler: async () => serviceProviderConfig(origin()),
  })

  api.get('listScimResourceTypes', '/ResourceTypes', {
    summary: 'List the types of resources for directories',
    description: 'For directories.',
    answers: { 200: ScimList },
    handler: async () => listOf(resourceTypes(origin())),
  })

  api.get('getScimResourceType', '/ResourceTypes/:id', {
    summary: 'Get a type of resources for directories',
    description: 'For directories.',
    errors: [404],
    answers: { 200: ScimDescription },
    handler: async (_db, { params }) => namedOf(resourceTypes(origin()), params.id, 'Resource type'),
  })

  api.get('listScimSchemas', '/Schemas', {
    summary: 'List the schemas of resources for directories',
    description: 'For directories. A schema lists the attributes that the service stores.',
    answers: { 200: ScimList },
    handler: async () => listOf(schemas(origin())),
  })

  api.get('getScimSchema', '/Schemas/:id', {
    summary: 'Get a schema of resources for directories',
    description: 'For directories.',
    params: { id: described(GivenId, 'URN of the schema.') },
    errors: [404],
    answers: { 200: ScimDescription },
    handler: async (_db, { params }) => namedOf(schemas(origin()), params.id, 'Schema'),
  })

  api.get('listScimUsers', '/Users', {
    summary: 'List the people of the directory',
    description: 'For directories. Returns the people whom the calling directory added, in the order of their ids.',
    querystring: ScimListQuery,
    answers: { 200: ScimList },
    handler: async (db, { directory, query }) => {
      const { startIndex, range } = rangeOf(query)
      const filter = query.filter === undefined ? null : parseFilter(query.filter)
      const { rows, total } = await listPeople(db, { directoryId: directory.id, filter }, range)
      return toScimList(
        rows.map((row) => toScimUser(row, origin(), query)),
        total,
        startIndex,
      )
    },
  })

  api.get('getScimUser', '/Users/:id', {
    summary: 'Get a person of the directory',
    description: 'For directories. Returns a person whom the calling directory added.',
    querystring: ScimQuery,
    errors: [404],
    answers: { 200: ScimUser },
    handler: async (db, { directory, params, query }, http) =>
      answer(orNotFound(await findPerson(db, directory.id, params.id), 'Person'), http, query),
  })

  api.post('createScimUser', '/Users', {
    summary: 'Add a person to the directory',
    description:
      'For directories. A new account for the address of the person is in no vault. An existing account keeps its rights and ' +
      'gets no new ones. The address must be of a domain of the directory.',
    body: SentUser,
    errors: ['already_exists'],
    answers: { 201: ScimUser },
    handler: async (trx, { body, directory, now }, http) => {
      const row = await addPerson(trx, readPerson(body), { directory, now, version: null })
      const user = answer(row, http)
      http.reply.header('location', user.meta!.location)
      return user
    },
  })

  api.put('replaceScimUser', '/Users/:id', {
    summary: 'Replace a person of the directory',
    description:
      'For directories. `active: false` disables the account, and its next request is refused. The address of the account does ' +
      'not change.',
    body: SentUser,
    errors: [404, 'already_exists', 'last_administrator', 'version_changed'],
    answers: { 200: ScimUser },
    handler: async (trx, { params, body, directory, now }, http) => {
      const person = readPerson(body)
      const by = { directory, now, version: versionOf(http) }
      return answer(await changePerson(trx, params.id, () => person, by), http)
    },
  })

  api.patch('patchScimUser', '/Users/:id', {
    summary: 'Change a person of the directory',
    description:
      'For directories. Accepts the forms that directories send: operations and names in any case, booleans as texts, and values ' +
      'without a path. `active: false` disables the account, and its next request is refused.',
    body: SentPatch,
    errors: [404, 'already_exists', 'last_administrator', 'version_changed'],
    answers: { 200: ScimUser },
    handler: async (trx, { params, body, directory, now }, http) => {
      const operations = readOperations(body)
      const by = { directory, now, version: versionOf(http) }
      return answer(await changePerson(trx, params.id, (before) => patchPerson(before, operations), by), http)
    },
  })

  api.delete('deleteScimUser', '/Users/:id', {
    summary: 'Remove a person from the directory',
    description: 'For directories. Disables the account, whose next request is refused. The account itself is kept.',
    errors: [404, 'last_administrator', 'version_changed'],
    answers: { 204: null },
    handler: (trx, { params, directory, now }, http) =>
      removePerson(trx, params.id, { directory, now, version: versionOf(http) }),
  })
}

const listOf = (resources: Record<string, unknown>[]) => toScimList(resources, resources.length, 1)

const namedOf = (resources: (Record<string, unknown> & { id: string })[], id: string, noun: string) =>
  orNotFound(resources.find((resource) => resource.id === id) ?? null, noun)
