import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { type AccessLevel, type ByMember, byMember } from '../../../access/caller.ts'
import type { Db, Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Endpoints, InputOf } from '../../../http/endpoints.ts'
import type { Uploads } from '../../../http/route.ts'
import { imageTypes } from '../../../lib/image-file.ts'
import { imageBytesMax, imagePixelsMax } from '../../../lib/limits.ts'
import type { Reason } from '../../../lib/reasons.ts'
import { deleteImages, imageUriOf, keepImage } from './actions.ts'
import type { ImageSubject } from './queries.ts'

/** The route options of an endpoint whose body is an image. `imageOf` returns the body. */
export const imageUpload = {
  uploads: Object.fromEntries(
    imageTypes.map((type) => [type, { read: (bytes: Buffer) => bytes, example: '(bytes of the image)' }]),
  ) as Uploads,
  bodyBytesMax: imageBytesMax,
}

export const imageRules =
  `The body is the bytes of a still PNG, JPEG or WebP image of at most ${imageBytesMax} bytes, and ${imagePixelsMax} pixels ` +
  'wide and high. The bytes determine the type, whatever the content type says, and are stored unchanged.'

/** Returns the bytes of the body. Requests with another content type were refused before. */
const imageOf = (request: FastifyRequest) => request.body as Buffer

/** Stores the image of a request before the change that shows it, which may have to wait for votes. Returns its address. */
export async function keepImageOf(db: Db, request: FastifyRequest, subject: ImageSubject, by: ByMember) {
  const bytes = imageOf(request)
  await inTransaction(db, (trx) => keepImage(trx, subject, bytes, byMember(by)))
  return imageUriOf(subject, bytes)
}

type Spec<Received, Body extends TSchema> = {
  /** The part of the names of the operations: `Token` makes `replaceTokenImage`. */
  name: string
  noun: string
  /** The permitted callers, as a sentence. */
  who: string
  type: ImageSubject['type']
  answer: Body
  errors?: readonly (number | Reason)[]
  idOf(input: Received): string
  /**
   * Sets the column of the subject to the address of the image, or to null, with the checks of other changes of the subject.
   * Returns the changed subject. It runs before the image is stored, so that a caller who may not change the subject stores nothing.
   */
  change(trx: Trx, input: Received, uri: string | null): Promise<{ body: Static<Body>; vaultId: string | null }>
}

/** Registers PUT and DELETE of the image of one type of subject, at `/image` below its path. */
export function imageEndpoints<Level extends AccessLevel, Path extends string, Body extends TSchema>(
  api: Pick<Endpoints<Level>, 'put' | 'delete'>,
  path: Path,
  { name, noun, who, type, answer, errors = [], idOf, change }: Spec<InputOf<Level, `${Path}/image`>, Body>,
): void {
  async function handle(trx: Trx, input: InputOf<Level, `${Path}/image`>, bytes: Buffer | null) {
    const subject = { type, id: idOf(input) }
    const { body, vaultId } = await change(trx, input, bytes === null ? null : imageUriOf(subject, bytes))
    const { caller, member } = input as { caller?: { userId: string }; member?: { userId: string } }
    const by = { vaultId, actorId: (caller ?? member)!.userId, now: input.now }
    await (bytes === null ? deleteImages(trx, subject, by) : keepImage(trx, subject, bytes, by))
    return body
  }

  api.put(`replace${name}Image`, `${path}/image`, {
    summary: `Replace the image of ${noun}`,
    description: `${who} ${imageRules}`,
    ...imageUpload,
    errors: ['limit_reached', ...errors],
    answers: { 200: answer },
    handler: (trx, input, { request }) => handle(trx, input, imageOf(request)),
  })

  api.delete(`delete${name}Image`, `${path}/image`, {
    summary: `Delete the image of ${noun}`,
    description: `${who} Also removes an image URL on another host. Without an image nothing changes.`,
    errors,
    answers: { 200: answer },
    handler: (trx, input) => handle(trx, input, null),
  })
}
