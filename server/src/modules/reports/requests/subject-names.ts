import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, allVisible, isAddressInScope, isFolderVisible } from '../../../access/address-scope.ts'
import type { Db } from '../../../db/client.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Parameters } from './report-request.ts'

/** Names by id. */
export type SubjectNames = ReadonlyMap<string, string>

/** SQL: rows of (id, name) for those of `ids` that the viewer may see. */
type Lookup = (scope: AddressScope, ids: RawBuilder<unknown>) => RawBuilder<unknown>

const addresses: Lookup = (scope, ids) => sql`
  select a.id, coalesce(a.label || ' (' || a.address || ')', a.address) as name from addresses a
  where a.id = any(${ids}) and ${isAddressInScope(allVisible(scope), 'a')}`
const members: Lookup = ({ vaultId }, ids) => sql`
  select u.id, coalesce(u.name, u.username) as name from users u
  where u.id = any(${ids}) and coalesce(u.name, u.username) is not null
    and exists (select from policy_group_memberships m where m.vault_id = ${vaultId} and m.user_id = u.id)`

/** The lookups of names by id, by the singular of the parameter that holds the ids. */
const lookups: Readonly<Record<string, Lookup>> = {
  addressId: addresses,
  ownAddressId: addresses,
  feePayerId: addresses,
  approvalPolicyId: ({ vaultId }, ids) => sql`
    select p.id, p.name from policies p where p.vault_id = ${vaultId} and p.id = any(${ids})`,
  folderId: (scope, ids) => sql`
    select f.id, f.name from address_groups f where f.id = any(${ids}) and ${isFolderVisible(scope, 'f')}`,
  counterpartyId: ({ vaultId }, ids) => sql`
    select c.id, c.name from counterparties c where c.vault_id = ${vaultId} and c.id = any(${ids})`,
  counterpartyGroupId: ({ vaultId }, ids) => sql`
    select g.id, g.name from counterparty_groups g where g.vault_id = ${vaultId} and g.id = any(${ids})`,
  counterpartyAddressId: ({ vaultId }, ids) => sql`
    select s.id, c.name || ' (' || s.address || ')' as name from counterparty_addresses s
    join counterparties c on c.vault_id = s.vault_id and c.id = s.counterparty_id
    where s.vault_id = ${vaultId} and s.id = any(${ids})`,
  tokenId: (_, ids) => sql`
    select t.id, t.code || ' on ' || n.slug as name from tokens t join networks n on n.id = t.network_id
    where t.id = any(${ids})`,
  networkId: (_, ids) => sql`select n.id, n.slug as name from networks n where n.id = any(${ids})`,
  initiatorId: members,
  userId: members,
}

/** The nouns of the subjects of reports, by the parameter that names the subject. */
const subjects = {
  addressId: 'Address',
  folderId: 'Address group',
  counterpartyId: 'Counterparty',
  counterpartyGroupId: 'Counterparty group',
}

/** @throws 404 unless the caller may see the subject, even if the report then covers only a part of it */
export async function requireSubjects(db: Db, scope: AddressScope, parameters: Parameters): Promise<void> {
  for (const [parameter, noun] of Object.entries(subjects)) {
    const id = parameters[parameter]
    if (id === undefined) continue
    const { rows } = await lookups[parameter]!(scope, sql`${[id]}::text[]`).execute(db)
    if (rows.length === 0) throw notFound(noun)
  }
}

/** Returns the names behind the ids among the parameters of a report; an id that the viewer may not see has no name. */
export async function findSubjectNames(db: Db, scope: AddressScope, parameters: Parameters): Promise<SubjectNames> {
  const parts = Object.entries(parameters).flatMap(([parameter, value]) => {
    const lookup = lookups[parameter.replace(/s$/, '')]
    if (lookup === undefined || value === undefined) return []
    const ids = [value].flat().flatMap((id) => String(id).split(','))
    return [lookup(scope, sql`${ids}::text[]`)]
  })
  if (parts.length === 0) return new Map()
  const { rows } = await sql<{ id: string; name: string }>`${sql.join(parts, sql` union `)}`.execute(db)
  return new Map(rows.map(({ id, name }) => [id, name]))
}
