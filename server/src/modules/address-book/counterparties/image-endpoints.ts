import type { TSchema } from 'typebox'
import { byMember, type Member } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { deleteImages } from '../../registry/images/actions.ts'
import { imageRules, imageUpload, keepImageOf } from '../../registry/images/endpoints.ts'
import { createGate, gateErrors } from '../../rules/approval-requests/gate.ts'
import { WaitingAction } from '../../rules/approval-requests/schema.ts'
import type { Executors } from '../../rules/votes/executor.ts'
import type { Kind } from './step-target.ts'

type Pictured<Body extends TSchema> = {
  kind: Kind
  /** The path below the vault. */
  path: 'counterparties' | 'counterparty-groups'
  /** A part of the names of the operations. */
  name: string
  noun: string
  /** The description of the answer. */
  answered: string
  answer: Body
  read: (db: Db | Trx, id: string, member: Member) => Promise<unknown>
}

/**
 * Returns the endpoints PUT and DELETE of the image of an entry of the address book. Policies decide on the image as on
 * every other change of the entry. Only administrators may use them: an image is stored before the votes, and members
 * must not fill the vault with images.
 */
export function gatedImageEndpoints<Body extends TSchema>(
  app: App,
  deps: Deps,
  executors: Executors,
  { kind, path, name, noun, answered, answer, read }: Pictured<Body>,
): void {
  const api = endpoints(app, deps, 'Counterparties', {
    access: 'administrator',
    scopes: { reads: 'read', writes: 'write' },
  })
  const gate = createGate(deps, executors)
  const action = `${kind}_update` as const
  const rules =
    `For administrators of the vault, and decided like any other update by policies of action type \`${action}\`; 202 with the ` +
    'approval request when votes are required.'
  const answers = { 200: answer, 202: WaitingAction }
  const errors = gateErrors('archived', 'changed_concurrently', ...(kind === 'counterparty' ? (['held'] as const) : []))

  api.send.put(`replace${name}Image`, `/vaults/:code/${path}/:id/image`, {
    summary: `Replace the image of ${noun}`,
    description: `${rules} Returns ${answered}, whose \`avatarUri\` is the address of the image. ${imageRules}`,
    ...imageUpload,
    errors: [...errors, 'limit_reached'],
    answers,
    handler: async ({ params: { id }, ...by }, http) => {
      await read(deps.db, id, by.member)
      const avatarUri = await keepImageOf(deps.db, http.request, { type: kind, id }, by)
      return gate(http, { action, targetId: id, payload: { avatarUri } }, read) as never
    },
  })

  api.send.delete(`delete${name}Image`, `/vaults/:code/${path}/:id/image`, {
    summary: `Delete the image of ${noun}`,
    description: `${rules} Also removes an image URL on another host.`,
    errors,
    answers,
    handler: ({ params: { id }, ...by }, http) =>
      gate(http, { action, targetId: id, payload: { avatarUri: null } }, async (trx, ...result) => {
        await deleteImages(trx, { type: kind, id }, byMember(by))
        return read(trx, ...result)
      }) as never,
  })
}
