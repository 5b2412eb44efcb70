import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints, type Http } from '../../../http/endpoints.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { etagOf, versionOf } from './by-directory.ts'
import { parseFilter } from './filter.ts'
import { readGroupChanges, readSentGroup } from './group-patch.ts'
import { findGroup, type GroupRow, listGroups, listMembers } from './group-queries.ts'
import { addGroup, changeGroup, removeGroup } from './groups.ts'
import { readOperations } from './patch.ts'
import { namesMembers, rangeOf, toScimGroup, toScimList } from './present.ts'
import { ScimGroup, ScimList, ScimListQuery, ScimQuery, SentGroup, SentPatch } from './schema.ts'

/** The endpoints for the groups of a directory, which give nobody a right. */
export function scimGroupRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Directories', { access: 'directory' })
  const origin = () => deps.publicOrigin()

  const answer = async (db: Db | Trx, row: GroupRow, { reply }: Http, query: ScimQuery = {}) => {
    reply.header('etag', etagOf(row.version))
    const members =
      query.attributes === undefined || namesMembers(query.attributes) ? await listMembers(db, [row.id]) : []
    return toScimGroup(row, members, origin(), query)
  }

  api.get('listScimGroups', '/Groups', {
    summary: 'List the groups of the directory',
    description:
      'For directories. Returns the groups in the order of their ids. Members are left out unless `attributes` ' +
      'names them.',
    querystring: ScimListQuery,
    answers: { 200: ScimList },
    handler: async (db, { directory, query }) => {
      const { startIndex, range } = rangeOf(query)
      const filter = query.filter === undefined ? null : parseFilter(query.filter)
      const { rows, total } = await listGroups(db, { directoryId: directory.id, filter }, range)
      const isWanted = query.attributes !== undefined && namesMembers(query.attributes)
      const ids = rows.map(({ id }) => id)
      const members = isWanted ? await listMembers(db, ids) : []
      const resources = rows.map((row) =>
        toScimGroup(
          row,
          members.filter((member) => member.group_id === row.id),
          origin(),
          query,
        ),
      )
      return toScimList(resources, total, startIndex)
    },
  })

  api.get('getScimGroup', '/Groups/:id', {
    summary: 'Get a group of the directory',
    description: 'For directories, with its members unless `excludedAttributes` names them.',
    querystring: ScimQuery,
    errors: [404],
    answers: { 200: ScimGroup },
    handler: async (db, { directory, params, query }, http) =>
      answer(db, orNotFound(await findGroup(db, directory.id, params.id), 'Group'), http, query),
  })

  api.post('createScimGroup', '/Groups', {
    summary: 'Add a group to the directory',
    description: 'For directories. Its members must be people of the directory; the group gives them no right.',
    body: SentGroup,
    errors: ['already_exists'],
    answers: { 201: ScimGroup },
    handler: async (trx, { body, directory, now }, http) => {
      const row = await addGroup(trx, readSentGroup(body), { directory, now, version: null })
      const group = await answer(trx, row, http)
      http.reply.header('location', group.meta!.location)
      return group
    },
  })

  api.put('replaceScimGroup', '/Groups/:id', {
    summary: 'Replace a group of the directory',
    description: 'For directories, with all of its members.',
    body: SentGroup,
    errors: [404, 'already_exists', 'version_changed'],
    answers: { 200: ScimGroup },
    handler: async (trx, { params, body, directory, now }, http) => {
      const { displayName, externalId, memberIds } = readSentGroup(body)
      const by = { directory, now, version: versionOf(http) }
      const row = await changeGroup(
        trx,
        params.id,
        [
          { name: 'displayName', value: displayName },
          { name: 'externalId', value: externalId },
          { name: 'members', verb: 'replace', ids: memberIds },
        ],
        by,
      )
      return answer(trx, row, http)
    },
  })

  api.patch('patchScimGroup', '/Groups/:id', {
    summary: 'Change a group of the directory',
    description:
      'For directories. Accepts the forms that directories send: members are added, replaced, and removed by path or by ' +
      'value. The answer has ' +
      'no content, so that it costs the same for a group of any size.',
    body: SentPatch,
    errors: [404, 'already_exists', 'version_changed'],
    answers: { 204: null },
    handler: async (trx, { params, body, directory, now }, http) => {
      const changes = readGroupChanges(readOperations(body))
      const row = await changeGroup(trx, params.id, changes, { directory, now, version: versionOf(http) })
      http.reply.header('etag', etagOf(row.version))
    },
  })

  api.delete('deleteScimGroup', '/Groups/:id', {
    summary: 'Remove a group from the directory',
    description: 'For directories. Its people stay.',
    errors: [404, 'version_changed'],
    answers: { 204: null },
    handler: (trx, { params, directory, now }, http) =>
      removeGroup(trx, params.id, { directory, now, version: versionOf(http) }),
  })
}
