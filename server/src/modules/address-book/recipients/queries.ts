import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, allVisible, isAddressInScope } from '../../../access/address-scope.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'

/**
 * Which of these on-chain addresses (by their keys) resemble, without being equal to, an address that the viewer knows:
 * one of the address book, one of the vault that the viewer may see, or one that the viewer has paid; for an
 * administrator, one that any member of the vault has paid. Addresses of the address book and the viewer's own are never
 * marked. An address that was only paid may be marked, because the payment may have been a mistake.
 *
 * Addresses that the viewer may not see have no influence, so that a mark reveals nothing about them.
 */
export async function findLookAlikes(db: Db | Trx, scope: AddressScope, keys: string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const { rows } = await sql<{ key: string }>`${prepared} ${lookAlikesAmong(scope, keys)}`.execute(db)
  return new Set(rows.map(({ key }) => key))
}

/** What a viewer should know of an address before they pay it; `isFirstPayment`: as far as they know, nobody has paid it. */
export type RecipientSigns = { isLookAlike: boolean; isFirstPayment: boolean }

/**
 * The signs of one recipient. Its payments are the ones that `findLookAlikes` knows: of the viewer, from an address of
 * theirs or by their order; for an administrator, of any member. An address that only others have paid is new to a member.
 */
export async function findRecipientSigns(db: Db | Trx, scope: AddressScope, key: string): Promise<RecipientSigns> {
  const { rows } = await sql<RecipientSigns>`${prepared}
    select exists (${lookAlikesAmong(scope, [key])}) as "isLookAlike",
      not exists (
        select from paid_recipients p
        where p.address_key = ${key} and look_alike_of(p.address_key) = look_alike_of(${key}) and ${isPaymentKnown(scope)}
      ) as "isFirstPayment"`.execute(db)
  return rows[0]!
}

/** SQL: the keys that `findLookAlikes` marks. */
function lookAlikesAmong(scope: AddressScope, keys: string[]): RawBuilder<unknown> {
  const looksAlike = (alias: string) => sql`look_alike_of(${sql.ref(`${alias}.address_key`)}) = look_alike_of(k.key)`
  return sql`
    select k.key from unnest(${keys}::text[]) as k(key)
    cross join lateral (
      select bool_or(key <> k.key) as looks_like_another, bool_or(key = k.key and is_trusted) as is_trusted
      from (
        select s.address_key as key, true as is_trusted from counterparty_addresses s
        where s.vault_id = ${scope.vaultId} and ${looksAlike('s')}
        union all
        select a.address_key, true from addresses a
        where ${looksAlike('a')} and ${isAddressInScope(allVisible(scope), 'a')}
        union all
        select p.address_key, false from paid_recipients p
        where ${looksAlike('p')} and ${isPaymentKnown(scope)}
      ) known
    ) found
    where found.looks_like_another and not found.is_trusted`
}

/** SQL condition on `p`, a row of `paid_recipients`: a payment of the viewer; for who reads the whole vault, of the vault. */
function isPaymentKnown({ vaultId, viewer }: AddressScope): RawBuilder<unknown> {
  const isOwn = viewer.readsAll ? sql`` : sql`and p.user_id = ${viewer.userId}`
  return sql`p.vault_id = ${vaultId} ${isOwn}`
}

/** Records the recipient of a confirmed transfer, for the owner of the source address and for the initiator. */
export async function insertPaidRecipient(trx: Trx, vaultId: string, transferId: string): Promise<void> {
  await sql`${prepared}
    insert into paid_recipients (vault_id, user_id, address_key)
    select o.vault_id, p.user_id, t.to_address_key
    from operations o
    join transfers t on t.vault_id = o.vault_id and t.id = o.id
    cross join lateral (values (o.owner_id), (o.initiator_id)) as p (user_id)
    where o.vault_id = ${vaultId} and o.id = ${transferId} and p.user_id is not null
    group by o.vault_id, p.user_id, t.to_address_key
    order by p.user_id
    on conflict do nothing`.execute(trx)
}
