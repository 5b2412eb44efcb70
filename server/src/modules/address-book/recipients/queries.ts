import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, allVisible, isAddressInScope } from '../../../access/address-scope.ts'
import { type Db, prepared, type Trx } from '../../../db/client.ts'
import type { CheckedRecipient } from './schema.ts'

/**
 * Returns the keys of the list that resemble, without being equal to, an address that the viewer knows. The viewer
 * knows the addresses of the address book, the visible addresses of the vault and the addresses that they have paid. An
 * administrator also knows the addresses that any member has paid. Addresses of the address book and the viewer's own
 * are never marked. An address that was only paid may be marked, because the payment may have been a mistake.
 *
 * Addresses that the viewer may not see have no influence, so that a mark reveals nothing about them.
 */
export async function findLookAlikes(db: Db | Trx, scope: AddressScope, keys: string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const { rows } = await sql<{ key: string }>`${prepared}
    ${lookAlikesAmong(knowledgeOf(scope), sql`(select unnest(${keys}::text[]) as key)`)}`.execute(db)
  return new Set(rows.map(({ key }) => key))
}

/**
 * The warnings that a viewer gets about an address before they pay it. `isFirstPayment` is true if the viewer knows of
 * no payment to the address.
 */
export type RecipientSigns = { isLookAlike: boolean; isFirstPayment: boolean }

/**
 * Returns the signs of one recipient. They consider the payments that `findLookAlikes` knows: payments of the viewer,
 * from an address of theirs or by their order; for an administrator, payments of any member. An address that only
 * others have paid is new to a member.
 */
export async function findRecipientSigns(db: Db | Trx, scope: AddressScope, key: string): Promise<RecipientSigns> {
  const { rows } = await sql<{ signs: RecipientSigns }>`${prepared}
    select ${signsOf(knowledgeOf(scope), sql`${key}::text`)} as signs`.execute(db)
  return rows[0]!.signs
}

/**
 * SQL: returns the `RecipientSigns` of an address key as the whole vault knows it, for the policies of the vault. Policies
 * decide the same for every initiator, so that an initiator who sees little is not an easier victim. Both arguments are SQL.
 */
export function recipientSignsOf(vaultId: RawBuilder<unknown>, key: RawBuilder<unknown>): RawBuilder<RecipientSigns> {
  return signsOf(
    { vaultId, isAddressKnown: sql`own.vault_id = ${vaultId}`, isPaymentKnown: sql`paid.vault_id = ${vaultId}` },
    key,
  )
}

function signsOf(known: Knowledge, key: RawBuilder<unknown>): RawBuilder<RecipientSigns> {
  return sql<RecipientSigns>`json_build_object(
    'isLookAlike', exists (${lookAlikesAmong(known, sql`(select ${key} as key)`)}),
    'isFirstPayment', not exists (
      select from paid_recipients paid
      where paid.address_key = ${key} and look_alike_of(paid.address_key) = look_alike_of(${key}) and ${known.isPaymentKnown}))`
}

/** A known address that another one resembles. `name` is null for an address that was only paid. */
export type KnownAlike = { address: string; name: string | null }

/**
 * SQL: JSON of the addresses that the viewer knows and that `key` resembles, up to three, those of the address book first.
 * Empty for an address that `findLookAlikes` does not mark.
 */
export function alikesOf(scope: AddressScope, key: RawBuilder<unknown>): RawBuilder<KnownAlike[]> {
  const { vaultId, isAddressKnown, isPaymentKnown } = knowledgeOf(scope)
  const looksAlike = (alias: string) => sql`look_alike_of(${sql.ref(`${alias}.address_key`)}) = look_alike_of(${key})`
  return sql<KnownAlike[]>`(
    select coalesce(json_agg(json_build_object('address', alike.address, 'name', alike.name) order by alike.place, alike.key)
      filter (where alike.key <> ${key} and alike.nth <= 3 and not alike.is_trusted), '[]')
    from (
      select known.*, bool_or(known.key = ${key} and known.place < 3) over () as is_trusted,
        dense_rank() over (order by known.key = ${key}, known.place, known.key) as nth
      from (
        select distinct on (found.key) found.* from (
          select entry.address_key as key, entry.address, holder.name, 1 as place from counterparty_addresses entry
          join counterparties holder on holder.vault_id = entry.vault_id and holder.id = entry.counterparty_id
          where entry.vault_id = ${vaultId} and ${looksAlike('entry')}
          union all
          select own.address_key, own.address, own.label, 2 from addresses own
          where ${looksAlike('own')} and ${isAddressKnown}
          union all
          select paid.address_key, paid.address_key, null, 3 from paid_recipients paid
          where ${looksAlike('paid')} and ${isPaymentKnown}) found
        order by found.key, found.place) known) alike)`
}

/** The knowledge of the viewer about an address. */
type KnownRecipient = Pick<CheckedRecipient, 'known' | 'isFirstPayment' | 'lookAlikes'>

/** Returns what the viewer knows about each address, in their order. An archived counterparty is not known. */
export async function listKnown(
  db: Db | Trx,
  scope: AddressScope,
  wanted: { key: string; networkId: string }[],
): Promise<KnownRecipient[]> {
  if (wanted.length === 0) return []
  const { vaultId, isAddressKnown, isPaymentKnown } = knowledgeOf(scope)
  const isSame = (alias: string) => {
    const key = sql.ref(`${alias}.address_key`)
    // The index is on `look_alike_of`, so the condition on equal keys needs it too.
    return sql`${key} = wanted.key and look_alike_of(${key}) = look_alike_of(wanted.key)`
  }
  const { rows } = await sql<KnownRecipient>`${prepared}
    select (
        select json_build_object('name', found.name, 'label', found.label, 'counterpartyId', found.id, 'network', n.slug)
        from (
          select holder.name, entry.label, holder.id, entry.network_id, 1 as place from counterparty_addresses entry
          join counterparties holder on holder.vault_id = entry.vault_id and holder.id = entry.counterparty_id
          where entry.vault_id = ${vaultId} and holder.archived_at is null and ${isSame('entry')}
          union all
          select own.label, null, null, own.network_id, 2 from addresses own
          where ${isSame('own')} and ${isAddressKnown}) found
        join networks n on n.id = found.network_id
        order by found.network_id <> wanted.network_id, found.place, n.slug limit 1) as known,
      not exists (select from paid_recipients paid where ${isSame('paid')} and ${isPaymentKnown}) as "isFirstPayment",
      ${alikesOf(scope, sql.ref('wanted.key'))} as "lookAlikes"
    from unnest(${wanted.map(({ key }) => key)}::text[], ${wanted.map(({ networkId }) => networkId)}::text[])
      with ordinality as wanted(key, network_id, n)
    order by wanted.n`.execute(db)
  return rows
}

/**
 * The SQL conditions that select the known addresses and payments. They apply to `own`, a row of `addresses`, and
 * `paid`, a row of `paid_recipients`. These names hide no name of the statement around them.
 */
type Knowledge = Record<'vaultId' | 'isAddressKnown' | 'isPaymentKnown', RawBuilder<unknown>>

function knowledgeOf(scope: AddressScope): Knowledge {
  return {
    vaultId: sql`${scope.vaultId}`,
    isAddressKnown: isAddressInScope(allVisible(scope), 'own'),
    isPaymentKnown: isPaymentKnown(scope),
  }
}

/** SQL: the keys that `findLookAlikes` marks; `keys` is a table with the column `key`. */
function lookAlikesAmong(
  { vaultId, isAddressKnown, isPaymentKnown }: Knowledge,
  keys: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const looksAlike = (alias: string) =>
    sql`look_alike_of(${sql.ref(`${alias}.address_key`)}) = look_alike_of(wanted.key)`
  return sql`
    select wanted.key from ${keys} wanted
    cross join lateral (
      select bool_or(key <> wanted.key) as looks_like_another, bool_or(key = wanted.key and is_trusted) as is_trusted
      from (
        select entry.address_key as key, true as is_trusted from counterparty_addresses entry
        where entry.vault_id = ${vaultId} and ${looksAlike('entry')}
        union all
        select own.address_key, true from addresses own
        where ${looksAlike('own')} and ${isAddressKnown}
        union all
        select paid.address_key, false from paid_recipients paid
        where ${looksAlike('paid')} and ${isPaymentKnown}
      ) known
    ) found
    where found.looks_like_another and not found.is_trusted`
}

/**
 * SQL condition on `paid`, a row of `paid_recipients`: the payment is of the viewer or, if the viewer reads the whole
 * vault, of any member.
 */
function isPaymentKnown({ vaultId, viewer }: AddressScope): RawBuilder<unknown> {
  const isOwn = viewer.readsAll ? sql`` : sql`and paid.user_id = ${viewer.userId}`
  return sql`paid.vault_id = ${vaultId} ${isOwn}`
}

/** SQL: records the recipients of confirmed transfers, for the owner of the source address and for the initiator. */
export function paidRecipientsOf(vaultId: string, transferIds: string[]): RawBuilder<unknown> {
  return sql`
    insert into paid_recipients (vault_id, user_id, address_key)
    select o.vault_id, p.user_id, t.to_address_key
    from operations o
    join transfers t on t.vault_id = o.vault_id and t.id = o.id
    cross join lateral (values (o.owner_id), (o.initiator_id)) as p (user_id)
    where o.vault_id = ${vaultId} and o.id = any(${transferIds}::text[]) and p.user_id is not null
    group by o.vault_id, p.user_id, t.to_address_key
    order by p.user_id, t.to_address_key
    on conflict do nothing`
}
