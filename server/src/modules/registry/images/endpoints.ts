import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { type AccessLevel, type ByMember, byMember } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import type { Endpoints, Http, Input, Uploads } from '../../../http/endpoints.ts'
import { type Answer, ok } from '../../../http/mutate.ts'
import { imageTypes } from '../../../lib/image-file.ts'
import { imageBytesMax, imagePixelsMax } from '../../../lib/limits.ts'
import type { Reason } from '../../../lib/reasons.ts'
import { deleteImages, type ImageSubject, type ImageSubjectType, imageUriOf, keepImage } from './actions.ts'

/** What every endpoint that takes an image says of its body; `imageOf` reads it. */
export const imageUpload = {
  uploads: Object.fromEntries(
    imageTypes.map((type) => [type, { read: (bytes: Buffer) => bytes, example: '(bytes of the image)' }]),
  ) as Uploads,
  bodyBytesMax: imageBytesMax,
}

export const imageRules =
  `The body is the bytes of a still PNG, JPEG or WebP image of at most ${imageBytesMax} bytes, and ${imagePixelsMax} pixels ` +
  'wide and high. They decide what it is, whatever the content type says. The service keeps them as they are.'

/** The bytes of the body. Requests with any other body were refused before. */
export const imageOf = (request: FastifyRequest) => request.body as Buffer

type Spec<Level, Params, Body> = {
  /** Path of what has the image; the image is at `/image` below it. */
  path: string
  /** Part of the names of the operations: `Token` makes `replaceTokenImage`. */
  name: string
  noun: string
  /** For whom, as a sentence. */
  who: string
  type: ImageSubjectType
  access: Level
  params?: Params
  answer: Body
  errors?: readonly (number | Reason)[]
}
type Asked<Level extends AccessLevel, Params extends TSchema> = Input<{ access: Level; params: Params }>

/** Keeps the image of a request, before the change that shows it; for changes that may have to wait for votes. */
export function keepImageOf(deps: Pick<Deps, 'db'>, request: FastifyRequest, subject: ImageSubject, by: ByMember) {
  const bytes = imageOf(request)
  return inTransaction(deps.db, (trx) => keepImage(trx, subject, bytes, byMember(by))).then(() =>
    imageUriOf(subject, bytes),
  )
}

/**
 * Registers PUT and DELETE of the image of one kind of thing. `change` writes the address of the image where the other
 * fields are, or null, by the rules of any other change, and answers what it changed; it comes first, so that nothing is
 * kept for who may not change it.
 */
export function imageEndpoints<Level extends AccessLevel, Params extends TSchema, Body extends TSchema>(
  { put, delete: remove }: Pick<Endpoints, 'put' | 'delete'>,
  { path, name, noun, who, type, ...spec }: Spec<Level, Params, Body>,
  idOf: (input: Asked<Level, Params>) => string,
  change: (
    trx: Trx,
    input: Asked<Level, Params>,
    uri: string | null,
  ) => Promise<{ body: Static<Body>; vaultId: string | null }>,
): void {
  const { access, params, errors, answer } = spec
  const common = {
    access,
    ...(params === undefined ? {} : { params }),
    answers: { 200: answer },
  }
  const write = (given: unknown, work: (input: Asked<Level, Params>, subject: ImageSubject) => Promise<Answer>) => {
    const input = given as Asked<Level, Params>
    return work(input, { type, id: idOf(input) })
  }
  const actorOf = ({ caller, member }: { caller?: { userId: string }; member?: { userId: string } }) =>
    (caller ?? member)!.userId

  put(
    `${path}/image`,
    {
      operationId: `replace${name}Image`,
      summary: `Replace the image of ${noun}`,
      description: `${who} ${imageRules}`,
      ...common,
      ...imageUpload,
      errors: ['limit_reached', ...(errors ?? [])],
    },
    (trx, given, { request }: Http) =>
      write(given, async (input, subject) => {
        const bytes = imageOf(request)
        const { body, vaultId } = await change(trx, input, imageUriOf(subject, bytes))
        await keepImage(trx, subject, bytes, { vaultId, actorId: actorOf(given as object), now: input.now })
        return ok(body)
      }) as never,
  )

  remove(
    `${path}/image`,
    {
      operationId: `delete${name}Image`,
      summary: `Delete the image of ${noun}`,
      description: `${who} Also one of another host is no longer named. Without an image nothing changes.`,
      ...common,
      ...(errors === undefined ? {} : { errors }),
    },
    (trx, given) =>
      write(given, async (input, subject) => {
        const { body, vaultId } = await change(trx, input, null)
        await deleteImages(trx, subject, { vaultId, actorId: actorOf(given as object), now: input.now })
        return ok(body)
      }) as never,
  )
}
