import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, addressParts, isAddressInScope, isFolderVisible } from '../../../access/address-scope.ts'
import { displayNameOf } from '../../../access/profile.ts'
import type { Db } from '../../../db/client.ts'
import { containsPattern, prefixPattern } from '../../../lib/like.ts'
import { searchedPartMin, searchedRowsMax, searchResultsMax } from '../../../lib/limits.ts'
import { txHashKey } from '../../../lib/onchain-address.ts'
import type { OperationType } from '../../../lib/operations.ts'
import { bitcoinKeyOf } from '../../registry/networks/queries.ts'
import { isOperationReadable } from '../feed/queries.ts'
import type { FoundKind } from './schema.ts'

export type FoundRow = {
  kind: FoundKind
  id: string
  /** Of everything but operations. */
  title: string | null
  subtitle: string | null
  /** Of operations: raw amount, decimals and symbol of the token, status. */
  amount: string | null
  decimals: number | null
  symbol: string | null
  type: OperationType | null
}

/**
 * What the viewer may see and the text finds: by id, hash or on-chain address over all of it, by a part of a name over the
 * newest `searchedRowsMax` rows of each kind that the viewer may see. The scope is applied before that limit, so that
 * nothing that others have can push out what the viewer sees.
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

const none = sql`null::text as amount, null::int as decimals, null::text as symbol, null::text as type`
const addressItem = sql`'address' as kind, a.id, coalesce(a.label, a.address) as title,
  case when a.label is not null then a.address end as subtitle, ${none}`
const folderItem = sql`'address_group' as kind, f.id, f.name as title, null::text as subtitle, ${none}`
const counterpartyItem = sql`'counterparty' as kind, c.id, c.name as title, c.kind as subtitle, ${none}`
const policyItem = sql`'policy' as kind, p.id, p.name as title, p.code as subtitle, ${none}`
const personItem = sql`'person' as kind, u.id, ${displayNameOf('u')} as title, u.username as subtitle, ${none}`
const categoryItem = sql`'category' as kind, c.id, c.name as title, c.key as subtitle, ${none}`

/** SQL: the user of `alias` can use the service and is in a group of the vault. */
const isMember = (vaultId: string, alias: string) => sql`${sql.ref(`${alias}.disabled_at`)} is null and exists (
  select from policy_group_memberships m where m.vault_id = ${vaultId} and m.user_id = ${sql.ref(`${alias}.id`)})`

async function findExactly(db: Db, scope: AddressScope, text: string): Promise<FoundRow[]> {
  const { vaultId } = scope
  const isKey = isKeyOf(text)
  const { rows } = await sql<FoundRow>`
    select * from (
      (select 1 as rank, ${addressItem} from addresses a
        where a.vault_id = ${vaultId} and (a.id = ${text} or ${isKey('a')}) and ${isAddressInScope(scope, 'a')}
        order by a.id desc limit ${searchResultsMax})
      union all
      (select 2, ${folderItem} from address_groups f
        where f.vault_id = ${vaultId} and f.id = ${text} and ${isFolderVisible(scope, 'f')})
      union all
      (select 3, ${counterpartyItem} from counterparties c
        where c.vault_id = ${vaultId} and (c.id = ${text} or c.id in (
          select a.counterparty_id from counterparty_addresses a where a.vault_id = ${vaultId} and ${isKey('a')}))
        order by c.id desc limit ${searchResultsMax})
      union all
      (select 4, o.type as kind, o.id, null, coalesce(o.tx_hash, o.status), o.amount::text, k.decimals, k.symbol, o.type
        from operations o join tokens k on k.id = o.token_id
        where o.vault_id = ${vaultId} and (o.id = ${text} or o.tx_hash = ${txHashKey(text)})
          and ${isOperationReadable(scope, 'o')}
        order by o.created_at desc, o.id desc limit ${searchResultsMax})
      union all
      (select 5, ${policyItem} from policies p where p.vault_id = ${vaultId} and p.id = ${text})
      union all
      (select 6, ${personItem} from users u where u.id = ${text} and ${isMember(vaultId, 'u')})
      union all
      (select 7, ${categoryItem} from operation_categories c where c.vault_id = ${vaultId} and c.id = ${text})
    ) found order by rank, id desc limit ${searchResultsMax}`.execute(db)
  return rows
}

/** SQL condition on `address_key`: the address in any spelling, or its beginning if that is long enough to be selective. */
function isKeyOf(text: string): (alias: string) => RawBuilder<unknown> {
  const keys = [...new Set([text, text.toLowerCase(), bitcoinKeyOf(text) ?? text])]
  return (alias) => {
    const key = sql.ref(`${alias}.address_key`)
    if (text.length < searchedPartMin) return sql`false`
    return sql`(${sql.join(
      keys.map((each) => sql`${key} like ${prefixPattern(each)}`),
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
  const matching = sql`limit ${searchResultsMax}`
  const { rows } = await sql<FoundRow>`
    select * from (
      (select 1 as rank, ${addressItem} from (${sql.join(labelled, sql` union all `)}) a where a.label ilike ${pattern} ${matching})
      union all
      (select 2, ${folderItem} from (
        select f.id, f.name from address_groups f where ${isFolderVisible(scope, 'f')} ${newest('f')}) f
        where f.name ilike ${pattern} ${matching})
      union all
      (select 3, ${counterpartyItem} from (
        select c.id, c.name, c.kind from counterparties c where c.vault_id = ${vaultId} ${newest('c')}) c
        where c.name ilike ${pattern} ${matching})
      union all
      (select 5, ${policyItem} from (
        select p.id, p.name, p.code from policies p where p.vault_id = ${vaultId} ${newest('p')}) p
        where p.name ilike ${pattern} or p.code ilike ${pattern} ${matching})
      union all
      (select 6, ${personItem} from (
        select distinct m.user_id from policy_group_memberships m where m.vault_id = ${vaultId}
        order by m.user_id desc limit ${searchedRowsMax}) m
        join users u on u.id = m.user_id and u.disabled_at is null
        where u.name ilike ${pattern} or u.username ilike ${pattern} ${matching})
      union all
      (select 7, ${categoryItem} from (
        select c.id, c.name, c.key from operation_categories c where c.vault_id = ${vaultId} ${newest('c')}) c
        where c.name ilike ${pattern} or c.key ilike ${pattern} ${matching})
    ) found order by rank, id desc limit ${searchResultsMax}`.execute(db)
  return rows
}
