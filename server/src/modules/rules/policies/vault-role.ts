import { forbidden, notFound } from '../../../lib/errors.ts'

/** The role of the caller in the vault of a row, read in the same statement as the row. */
export type VaultRole = { isMember: boolean; isAdmin: boolean }

/** @throws 404 when the row does not exist or the caller is no member of its vault, so that an id reveals nothing */
export function assertReadable<Row extends VaultRole>(row: Row | undefined, noun: string): Row {
  if (row === undefined || !row.isMember) throw notFound(noun)
  return row
}

/** @throws 404 as `assertReadable`, 403 for a member who does not administer the vault */
export function assertWritable<Row extends VaultRole>(row: Row | undefined, noun: string): Row {
  const readable = assertReadable(row, noun)
  if (!readable.isAdmin) throw forbidden('Only administrators of the vault may do this')
  return readable
}
