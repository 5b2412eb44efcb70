import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { SelectorType } from './selectors.ts'

/** The folders of the list that the vault has; they cannot be deleted until the transaction ends. */
export async function lockExistingAddressGroups(trx: Trx, vaultId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    select id from address_groups where vault_id = ${vaultId} and id = any(${ids}) order by id for key share`.execute(
    trx,
  )
  return new Set(rows.map(({ id }) => id))
}

const namedTypes = [
  'counterparty',
  'counterpartyGroup',
  'routeVariant',
  'category',
  'token',
  'sourceAddress',
] as const satisfies SelectorType[]
type Names<Value> = Record<(typeof namedTypes)[number], Value>

/**
 * The values that exist in the vault, by selector type: ids, `route/variant` by codes, keys of categories, tokens by id or
 * code, and addresses by id or key. None of them is ever deleted while addresses exist.
 */
export async function listNamedAmong(
  db: Db | Trx,
  vaultId: string,
  wanted: Names<string[]>,
): Promise<Names<Set<string>>> {
  const toSets = (names: Names<string[]>) =>
    Object.fromEntries(namedTypes.map((type) => [type, new Set(names[type])])) as Names<Set<string>>
  if (namedTypes.every((type) => wanted[type].length === 0)) return toSets(wanted)
  const { counterparty, counterpartyGroup, routeVariant, category, token, sourceAddress } = wanted
  const networks = sql`select network_id from vault_networks where vault_id = ${vaultId}`
  const { rows } = await sql<Names<string[]>>`
    select
      array(select id from counterparties where vault_id = ${vaultId} and id = any(${counterparty})) as counterparty,
      array(select id from counterparty_groups where vault_id = ${vaultId} and id = any(${counterpartyGroup}))
        as "counterpartyGroup",
      array(
        select r.code || '/' || v.code from routes r join variants v on v.vault_id = r.vault_id and v.route_id = r.id
        where r.vault_id = ${vaultId} and r.code || '/' || v.code = any(${routeVariant})
      ) as "routeVariant",
      array(select key from operation_categories where vault_id = ${vaultId} and key = any(${category})) as category,
      array(
        select unnest(array[id, code]) from tokens
        where network_id in (${networks}) and (id = any(${token}) or code = any(${token}))
      ) as token,
      array(
        select id from addresses where vault_id = ${vaultId} and id = any(${sourceAddress})
        union all
        select address_key from addresses
        where vault_id = ${vaultId} and network_id in (${networks}) and address_key = any(${sourceAddress})
      ) as "sourceAddress"`.execute(db)
  return toSets(rows[0]!)
}

/** Whether a rule of a policy of the vault, enabled or not, names this value with this selector. */
export async function isSelectedByPolicy(
  trx: Trx,
  vaultId: string,
  selectorType: SelectorType,
  value: string,
): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select exists (
      select from policies p
      where p.vault_id = ${vaultId} and jsonb_path_exists(
        p.rules,
        '$[*].selectors[*] ? (@.selectorType == $type).value[*] ? (@ == $value)',
        jsonb_build_object('type', ${selectorType}::text, 'value', ${value}::text)
      )
    ) as is`.execute(trx)
  return rows[0]!.is
}
