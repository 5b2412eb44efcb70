import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { accepted } from '../../../http/mutate.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { toPlatformChange } from '../../registry/platform-changes/present.ts'
import { PlatformChange } from '../../registry/platform-changes/schema.ts'
import {
  askToActivate,
  createDirectory,
  deactivateDirectory,
  rotateDirectoryToken,
  updateDirectory,
} from './actions.ts'
import { toDirectory, toDirectoryPerson } from './present.ts'
import { type DirectoryRow, findDirectory, listDirectories, listDirectoryPeople } from './queries.ts'
import {
  CreateDirectory,
  DecideStops,
  Directory,
  DirectoryPeopleQuery,
  DirectoryPerson,
  RotateDirectoryToken,
  UpdateDirectory,
} from './schema.ts'
import { decideStops } from './stops.ts'

export function directoryRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Directories', { access: 'platform' })
  const present = (row: DirectoryRow) => toDirectory(row, deps.publicOrigin())

  api.list('listDirectories', '/directories', {
    summary: 'List directories',
    description: 'For platform administrators, newest first, without their tokens.',
    item: Directory,
    load: (db, _input, page) => listDirectories(db, page),
    present,
  })

  api.get('getDirectory', '/directories/:id', {
    summary: 'Get a directory',
    description: 'For platform administrators.',
    errors: [404],
    answers: { 200: Directory },
    handler: async (db, { params }) => present(orNotFound(await findDirectory(db, params.id), 'Directory')),
  })

  api.post('createDirectory', '/directories', {
    summary: 'Create a directory',
    description:
      'For platform administrators. It is a draft: its token, which only this answer shows, works after another platform ' +
      'administrator has confirmed its activation.',
    body: CreateDirectory,
    answers: { 201: Directory },
    secrets: ['token'],
    handler: async (trx, { body, ...by }) => {
      const { row, token } = await createDirectory(trx, body, by)
      return { ...present(row), token }
    },
  })

  api.patch('updateDirectory', '/directories/:id', {
    summary: 'Change a directory',
    description:
      'For the platform administrator who created it, while it is not active and its activation does not wait.',
    body: UpdateDirectory,
    errors: [404, 'not_permitted', 'wrong_state'],
    answers: { 200: Directory },
    handler: async (trx, { params, body, ...by }) => present(await updateDirectory(trx, params.id, body, by)),
  })

  api.post('activateDirectory', '/directories/:id/activate', {
    summary: 'Ask for the activation of a directory',
    description:
      'For the platform administrator who created it. Another one confirms it at `/platform-changes/{id}/confirm`; all platform ' +
      'administrators and the administrators of vaults with members of its domains get a mail then.',
    errors: [404, 'not_permitted', 'wrong_state', 'already_exists'],
    answers: { 202: PlatformChange },
    handler: async (trx, { params, ...by }) => accepted(toPlatformChange(await askToActivate(trx, params.id, by))),
  })

  api.post('rotateDirectoryToken', '/directories/:id/rotate', {
    summary: 'Make another token for a directory',
    description:
      'For platform administrators. Only this answer shows the token. The present token works for `overlapHours` more hours, ' +
      'so that the directory is not interrupted; an earlier token is refused.',
    body: RotateDirectoryToken,
    errors: [404],
    answers: { 200: Directory },
    secrets: ['token'],
    handler: async (trx, { params, body, ...by }) => {
      const { row, token } = await rotateDirectoryToken(trx, params.id, body, by)
      return { ...present(row), token }
    },
  })

  api.post('deactivateDirectory', '/directories/:id/deactivate', {
    summary: 'Stop a directory',
    description:
      'For platform administrators, at once and without a second person. Its tokens are refused, and its domains are free. ' +
      'No person is disabled or enabled.',
    errors: [404, 'wrong_state'],
    answers: { 200: Directory },
    handler: async (trx, { params, ...by }) => present(await deactivateDirectory(trx, params.id, by)),
  })

  api.list('listDirectoryPeople', '/directories/:id/people', {
    summary: 'List the people of a directory',
    description:
      'For platform administrators: people as the directory names them, newest first. With `held`, only people whose stop ' +
      'waits, including people whom the directory deleted.',
    querystring: DirectoryPeopleQuery,
    errors: [404],
    item: DirectoryPerson,
    load: async (db, { params, query }, page) => {
      orNotFound(await findDirectory(db, params.id), 'Directory')
      return listDirectoryPeople(db, params.id, query, page)
    },
    present: toDirectoryPerson,
    cursorOf: ({ params, query: { held = false } }) => ({ directory: params.id, held }),
  })

  api.post('decideDirectoryStops', '/directories/:id/stops', {
    summary: 'Decide on stops that wait',
    description:
      'For platform administrators. A directory that stops more than five people and more than a fifth of its people within an ' +
      'hour may be broken, so that further stops wait. `stop` disables these people, `keep` leaves them as they are.',
    body: DecideStops,
    errors: [404, 'other_person_required', 'last_administrator', 'wrong_state'],
    answers: { 204: null },
    handler: (trx, { params, body, ...by }) => decideStops(trx, params.id, body, by),
  })
}
