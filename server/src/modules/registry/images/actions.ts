import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { readImageFile, uriOfImage } from '../../../lib/image-file.ts'
import { imagesAsideMax, imagesPerVaultMax } from '../../../lib/limits.ts'
import { audit } from '../../record/audit/record.ts'
import { countImagesOf, type ImageSubject, isAwaited, isShown } from './queries.ts'

type By = { vaultId: string | null; actorId: string; now: Date }

/**
 * Returns the address of an image: a hash of its subject and its bytes. The same picture has another address for each subject, so
 * that nobody can find out with a copy of a picture if a hidden subject shows it.
 */
export function imageUriOf(subject: ImageSubject, bytes: Buffer): string {
  return uriOfImage(keyOf(subject, bytes))
}

function keyOf({ type, id }: ImageSubject, bytes: Buffer): string {
  return createHash('sha256').update(`${type} ${id} `).update(bytes).digest('hex')
}

/**
 * Stores an image. The subject shows the image when the column of the subject has its address.
 * @throws 400 for a body that is not a small still image, 409 for a vault with too many images
 */
export async function keepImage(trx: Trx, subject: ImageSubject, bytes: Buffer, by: By): Promise<void> {
  const file = readImageFile(bytes)
  if ('fault' in file) throw badRequest('body', file.fault)
  const key = keyOf(subject, bytes)
  await deleteAside(trx, subject, imagesAsideMax)
  if (by.vaultId !== null && (await countImagesOf(trx, by.vaultId)) >= imagesPerVaultMax)
    throw conflict('limit_reached', `A vault has at most ${imagesPerVaultMax} images`)
  const { mediaType, width, height } = file
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('images')
    .values({
      key,
      vault_id: by.vaultId,
      subject_type: subject.type,
      subject_id: subject.id,
      media_type: mediaType,
      content: bytes,
      created_at: by.now,
    })
    .onConflict((same) => same.column('key').doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 0n) return
  const details = { uri: uriOfImage(key), mediaType, width, height, bytes: bytes.length }
  await audit(trx, by, 'image.uploaded', subject, details)
}

/** Deletes the images that the subject no longer shows at once, without waiting for the housekeeping. */
export async function deleteImages(trx: Trx, subject: ImageSubject, by: By): Promise<void> {
  await deleteAside(trx, subject, 0)
  await audit(trx, by, 'image.deleted', subject)
}

/** Deletes images that the subject no longer shows and no request awaits, except for the newest `keptMax`. */
async function deleteAside(trx: Trx, { type, id }: ImageSubject, keptMax: number): Promise<void> {
  await sql`
    delete from images where key in (
      select i.key from images i
      where i.subject_type = ${type} and i.subject_id = ${id} and not ${isShown('i')} and not ${isAwaited('i')}
      order by i.created_at desc, i.key offset ${keptMax})`.execute(trx)
}
