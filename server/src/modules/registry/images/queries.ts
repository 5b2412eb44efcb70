import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import { uriOfImage } from '../../../lib/image-file.ts'
import { imagesPerVaultMax } from '../../../lib/limits.ts'

type ImageRow = { media_type: string; content: Buffer }

/**
 * Returns an image that the user may see. Any signed-in user sees the image of a person, a token or a network, because
 * its address is known only to users who see its subject. The image of a vault is for its members.
 */
export async function findImage(db: Db, key: string, userId: string): Promise<ImageRow | null> {
  const { rows } = await sql<ImageRow>`
    select i.media_type, i.content from images i
    where i.key = ${key} and (i.vault_id is null or exists (
      select from policy_group_memberships m where m.vault_id = i.vault_id and m.user_id = ${userId}))`.execute(db)
  return rows[0] ?? null
}

/** Returns the number of images of a vault. It stops counting at the limit. */
export async function countImagesOf(trx: Trx, vaultId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
    from (select from images where vault_id = ${vaultId} limit ${imagesPerVaultMax}) found`.execute(trx)
  return rows[0]!.count
}

/** SQL condition: the subject of the row of `images` shows the image now. */
export function isShown(image: string): RawBuilder<boolean> {
  const i = (column: string) => sql.ref(`${image}.${column}`)
  const uri = sql`${sql.lit(uriOfImage(''))} || ${i('key')}`
  const shownBy = shownIn.map(
    ([type, table, column, isOfVault]) => sql`${i('subject_type')} = ${sql.lit(type)} and exists (
      select from ${sql.table(table)} s where s.id = ${i('subject_id')} and s.${sql.ref(column)} = ${uri}
      ${isOfVault ? sql`and s.vault_id = ${i('vault_id')}` : sql``})`,
  )
  return sql<boolean>`(${sql.join(shownBy, sql` or `)})`
}

/**
 * SQL condition: a pending approval request of the vault would show the image once it is approved. It searches the text of the
 * steps, which is fast enough, because few requests are pending and few images are checked.
 */
export function isAwaited(image: string): RawBuilder<boolean> {
  const i = (column: string) => sql.ref(`${image}.${column}`)
  return sql<boolean>`exists (
    select from approval_requests r
    where r.vault_id = ${i('vault_id')} and r.status = 'pending' and position(${i('key')} in r.steps::text) > 0)`
}

/** The columns that hold addresses of images, by the type of the subject. */
const shownIn = [
  ['user', 'users', 'image', false],
  ['token', 'tokens', 'logo_uri', false],
  ['network', 'networks', 'logo_uri', false],
  ['vault', 'vaults', 'logo_uri', false],
  ['counterparty', 'counterparties', 'avatar_uri', true],
  ['counterparty_group', 'counterparty_groups', 'avatar_uri', true],
  ['policy_group', 'policy_groups', 'logo_uri', true],
  ['address', 'addresses', 'logo_uri', true],
] as const

/** The subject of an image, with its type as the audit log names it. */
export type ImageSubject = { type: (typeof shownIn)[number][0]; id: string }
