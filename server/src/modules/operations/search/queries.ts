import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, addressParts, isAddressInScope, isFolderVisible } from '../../../access/address-scope.ts'
import { displayNameOf } from '../../../access/profile.ts'
import type { Db } from '../../../db/client.ts'
import { containsPattern, prefixPattern } from '../../../lib/like.ts'
import { searchedPartMin, searchedRowsMax, searchResultsMax } from '../../../lib/limits.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import { bech32KeyOf } from '../../registry/networks/queries.ts'
import { isOperationReadable, operationsOfHash } from '../feed/queries.ts'
import type { FoundKind } from './schema.ts'

export type FoundRow = {
  kind: FoundKind
  id: string
  /** Null for operations. */
  title: string | null
  subtitle: string | null
  /** Set for operations: raw amount, decimals and symbol of the token. */
  amount: string | null
  decimals: number | null
  symbol: string | null
}

/**
 * Finds objects that the viewer may see: by id, hash or on-chain address among all of them, and by a part of a name among the
 * newest `searchedRowsMax` rows of each type that the viewer may see. The scope is applied before that limit, so that rows of
 * others cannot push out rows that the viewer sees.
 */
export async function searchVault(db: Db, scope: AddressScope, text: string): Promise<FoundRow[]> {
  const found = await Promise.all([findExactly(db, scope, text), findByName(db, scope, text)])
  const seen = new Set<string>()
  const rows = found.flat().filter(({ kind, id }) => {
    const key = `${kind} ${id}`
    return seen.has(key) ? false : seen.add(key)
  })
  return rows.slice(0, searchResultsMax)
}

const none = sql`null::text as amount, null::int as decimals, null::text as symbol`
const addressItem = sql`1 as rank, 'address' as kind, a.id, coalesce(a.label, a.address) as title,
  case when a.label is not null then a.address end as subtitle, ${none}`
const folderItem = sql`2 as rank, 'address_group' as kind, f.id, f.name as title, null::text as subtitle, ${none}`
const counterpartyItem = sql`3 as rank, 'counterparty' as kind, c.id, c.name as title, c.kind as subtitle, ${none}`
const policyItem = sql`5 as rank, 'policy' as kind, p.id, p.name as title, p.code as subtitle, ${none}`
const personItem = sql`6 as rank, 'person' as kind, u.id, ${displayNameOf('u')} as title, u.username as subtitle, ${none}`
const categoryItem = sql`7 as rank, 'category' as kind, c.id, c.name as title, c.key as subtitle, ${none}`

/** Returns the rows that the parts find, in the order of their ranks. No part finds more rows than an answer may hold. */
async function selectFound(db: Db, parts: RawBuilder<unknown>[]): Promise<FoundRow[]> {
  const limitedParts = parts.map((part) => sql`(${part} limit ${searchResultsMax})`)
  const { rows } = await sql<FoundRow>`
    select * from (${sql.join(limitedParts, sql` union all `)}) found order by rank, id desc limit ${searchResultsMax}`.execute(
    db,
  )
  return rows
}

async function findExactly(db: Db, scope: AddressScope, text: string): Promise<FoundRow[]> {
  const { vaultId } = scope
  const isKey = isKeyOf(text)
  return selectFound(db, [
    sql`select ${addressItem} from addresses a
        where a.vault_id = ${vaultId} and (a.id = ${text} or ${isKey('a')}) and ${isAddressInScope(scope, 'a')}
        order by a.id desc`,
    sql`select ${folderItem} from address_groups f
        where f.vault_id = ${vaultId} and f.id = ${text} and ${isFolderVisible(scope, 'f')}`,
    sql`select ${counterpartyItem} from counterparties c
        where c.vault_id = ${vaultId} and (c.id = ${text} or c.id in (
          select a.counterparty_id from counterparty_addresses a where a.vault_id = ${vaultId} and ${isKey('a')}))
        order by c.id desc`,
    sql`select 4, o.type as kind, o.id, null, coalesce(o.tx_hash, o.status), o.amount::text, k.decimals, k.symbol
        from operations o join tokens k on k.id = o.token_id
        where o.vault_id = ${vaultId} and o.id in (
            select ${text}::text union all select h.id from (${operationsOfHash(vaultId, sql`${txHashKey(text)}`)}) h)
          and ${isOperationReadable(scope, 'o')}
        order by o.created_at desc, o.id desc`,
    sql`select ${policyItem} from policies p where p.vault_id = ${vaultId} and p.id = ${text}`,
    sql`select ${personItem} from users u where u.id = ${text} and u.disabled_at is null and exists (
          select from policy_group_memberships m where m.vault_id = ${vaultId} and m.user_id = u.id)`,
    sql`select ${categoryItem} from operation_categories c where c.vault_id = ${vaultId} and c.id = ${text}`,
  ])
}

/**
 * SQL condition on `address_key`: the text is the address in any spelling, or the beginning of it if the text is long
 * enough to be selective.
 */
function isKeyOf(text: string): (alias: string) => RawBuilder<unknown> {
  const keys = [...new Set([text, text.toLowerCase(), bech32KeyOf(text) ?? text])]
  return (alias) => {
    const key = sql.ref(`${alias}.address_key`)
    if (text.length < searchedPartMin) return sql`false`
    return sql`(${sql.join(
      keys.map((spelling) => sql`${key} like ${prefixPattern(spelling)}`),
      sql` or `,
    )})`
  }
}

async function findByName(db: Db, scope: AddressScope, text: string): Promise<FoundRow[]> {
  const { vaultId } = scope
  const pattern = containsPattern(text)
  const newest = (alias: string) =>
    sql`order by ${sql.ref(`${alias}.created_at`)} desc, ${sql.ref(`${alias}.id`)} desc limit ${searchedRowsMax}`
  const labelled = addressParts(scope, 'a').map(
    (part) => sql`(select a.id, a.address, a.label from addresses a where ${part} ${newest('a')})`,
  )
  return selectFound(db, [
    sql`select ${addressItem} from (${sql.join(labelled, sql` union all `)}) a where a.label ilike ${pattern}`,
    sql`select ${folderItem} from (
        select f.id, f.name from address_groups f where ${isFolderVisible(scope, 'f')} ${newest('f')}) f
        where f.name ilike ${pattern}`,
    sql`select ${counterpartyItem} from (
        select c.id, c.name, c.kind from counterparties c where c.vault_id = ${vaultId} ${newest('c')}) c
        where c.name ilike ${pattern}`,
    sql`select ${policyItem} from (
        select p.id, p.name, p.code from policies p where p.vault_id = ${vaultId} ${newest('p')}) p
        where p.name ilike ${pattern} or p.code ilike ${pattern}`,
    sql`select ${personItem} from (
        select distinct m.user_id from policy_group_memberships m where m.vault_id = ${vaultId}
        order by m.user_id desc limit ${searchedRowsMax}) m
        join users u on u.id = m.user_id and u.disabled_at is null
        where u.name ilike ${pattern} or u.username ilike ${pattern}`,
    sql`select ${categoryItem} from (
        select c.id, c.name, c.key from operation_categories c where c.vault_id = ${vaultId} ${newest('c')}) c
        where c.name ilike ${pattern} or c.key ilike ${pattern}`,
  ])
}
