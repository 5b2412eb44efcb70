import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, isAddressInScope, isTransferAllowed } from '../../../access/address-scope.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import type { NetworkType } from '../../../lib/onchain-address.ts'
import { type AddressOwner, ownerOfAddress } from '../../address-book/counterparties/queries.ts'
import { type RecipientSigns, recipientSignsOf } from '../../address-book/recipients/queries.ts'
import { addressKeyIn, addressKeyOn, bitcoinKeyOf } from '../../registry/networks/queries.ts'
import { newestRate, type RateColumns } from '../../registry/rates/queries.ts'
import { isWithheld } from '../../registry/tokens/withheld.ts'
import { sharedHoldLock } from '../../rules/holds/active.ts'
import type { OrderBody } from './payload.ts'

export type SourceRow = RateColumns & {
  address_id: string
  address: string
  address_key: string
  derivation_path: string
  owner_id: string
  /** Whether the caller may spend from the address. */
  can_transfer: boolean
  network_id: string
  network_slug: string
  network_type: NetworkType
  coin_type: number
  token_id: string | null
  token_code: string | null
  contract_address: string | null
  decimals: number | null
  token_enabled: boolean | null
  /** null: the address has no account of the token. */
  available: string | null
  to_address_id: string | null
  counterparty: AddressOwner | null
  /** As the whole vault knows it, whoever asks. */
  recipient: RecipientSigns
  /** The segments of the source address, by codes. */
  route_variants: { route: string; variant: string }[]
  /** The folders that the source address is in. */
  folder_ids: string[]
}

/**
 * Everything an order refers to, in one round trip; null when the caller may not see the source address. An order that is
 * placed takes the shared lock of the holds with it, and reads them later.
 */
export async function findSource(
  db: Db | Trx,
  scope: AddressScope,
  body: OrderBody,
  { now, locksHolds = false }: { now: Date; locksHolds?: boolean },
): Promise<SourceRow | null> {
  const { rows } = await sql<SourceRow>`${prepared}
    select ${sourceColumns(scope, addressKeyOn('n', body.toAddress))}
    from ${locksHolds ? sql`${sharedHoldLock(scope.vaultId)} cross join` : sql``} addresses a
    join networks n on n.id = a.network_id
    left join tokens t on t.network_id = a.network_id and ${
      body.tokenId !== undefined
        ? sql`t.id = ${body.tokenId}`
        : body.token !== undefined
          ? sql`t.code = ${body.token}`
          : sql`t.id = a.token_id`
    }
    ${sourceJoins(addressKeyOn('n', body.toAddress), now)}
    where a.id = ${body.fromAddressId} and ${isAddressInScope(scope, 'a')}`.execute(db)
  return rows[0] ?? null
}

/** As `findSource` for many orders, in one round trip; in the order of `bodies`. */
export async function findSources(
  db: Db | Trx,
  scope: AddressScope,
  bodies: OrderBody[],
  { now, locksHolds = false }: { now: Date; locksHolds?: boolean },
): Promise<(SourceRow | null)[]> {
  const column = (read: (body: OrderBody) => string | null | undefined) => bodies.map((body) => read(body) ?? null)
  const key = addressKeyIn('n', sql`b.to_address`, sql`b.on_bitcoin`)
  const { rows } = await sql<SourceRow & { place: number }>`
    select b.place::int as place, ${sourceColumns(scope, key)}
    from ${locksHolds ? sql`${sharedHoldLock(scope.vaultId)} cross join` : sql``} unnest(
      ${column((body) => body.fromAddressId)}::text[], ${column((body) => body.tokenId)}::text[],
      ${column((body) => body.token)}::text[], ${column((body) => body.toAddress)}::text[],
      ${column((body) => bitcoinKeyOf(body.toAddress))}::text[]
    ) with ordinality as b(from_id, token_id, token, to_address, on_bitcoin, place)
    join addresses a on a.id = b.from_id and ${isAddressInScope(scope, 'a')}
    join networks n on n.id = a.network_id
    left join tokens t on t.network_id = a.network_id and case
      when b.token_id is not null then t.id = b.token_id
      when b.token is not null then t.code = b.token
      else t.id = a.token_id end
    ${sourceJoins(key, now)}`.execute(db)
  const found = new Map(rows.map(({ place, ...row }) => [place, row]))
  return bodies.map((_, i) => found.get(i + 1) ?? null)
}

/** SQL: the columns of SourceRow; `key` is the one of the recipient on the network `n`. */
const sourceColumns = (scope: AddressScope, key: RawBuilder<string | null>) => sql`
  a.id as address_id, a.address, a.address_key, a.derivation_path, a.owner_id,
  ${isTransferAllowed(scope, 'a')} as can_transfer, n.id as network_id, n.slug as network_slug,
  n.type as network_type, n.coin_type, t.id as token_id, t.code as token_code,
  t.contract_address, t.decimals, t.enabled and not ${isWithheld(sql`a.vault_id`, sql`t.id`)} as token_enabled,
  l.balance as available, d.id as to_address_id,
  ${ownerOfAddress(sql`a.vault_id`, sql`a.network_id`, key)} as counterparty,
  ${recipientSignsOf(sql`a.vault_id`, key)} as recipient,
  r.usd_rate, r.usd_rate_as_of, r.usd_rate_source,
  (select coalesce(jsonb_agg(jsonb_build_object('route', x.code, 'variant', y.code) order by x.position), '[]')
    from routes x join variants y on y.vault_id = x.vault_id and y.route_id = x.id
    where x.vault_id = a.vault_id and a.segments ->> x.code = y.path_id::text) as route_variants,
  array(select m.group_id from address_group_members m
    where m.vault_id = a.vault_id and m.address_id = a.id order by m.group_id) as folder_ids`

const sourceJoins = (key: RawBuilder<string | null>, now: Date) => sql`
  left join ledger_accounts l on l.vault_id = a.vault_id and l.address_id = a.id and l.token_id = t.id and l.purpose = 'available'
  left join addresses d on d.vault_id = a.vault_id and d.network_id = a.network_id and d.address_key = ${key}
  ${newestRate('t.id', now)}`
