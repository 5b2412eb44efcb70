import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import { isAddressInScope, visibleScopeOf } from '../../../access/address-scope.ts'
import type { Member } from '../../../access/caller.ts'
import type { Columns } from '../../../db/columns.ts'
import { isOneOf } from '../../../db/one-of.ts'
import { type AddressOwner, ownerOfAddress } from '../../address-book/counterparties/queries.ts'
import {
  alikesOf,
  type KnownAlike,
  type RecipientSigns,
  recipientSignsOf,
} from '../../address-book/recipients/queries.ts'
import { isVoter } from '../../rules/votes/queries.ts'
import { type HoldBeside, holdsBeside } from '../holds/queries.ts'
import { touchedByTransfer } from '../orders/recheck.ts'
import type { Recipient } from './schema.ts'

/** The facts about a waiting payment that may have changed since the order. They are read with the payment. */
export type ToDecide = {
  /** The active holds that stop the payment. */
  holds: HoldBeside[]
  /** True if the paying address sends nothing until its exposure is covered. */
  is_exposed: boolean
  /** The facts of the whole vault about the recipient; null for a reader who does not decide. */
  recipient: RecipientSigns | null
  /** The entry of the address book that has the address of the recipient. */
  entry: AddressOwner | null
  /** The addresses that the reader knows and that the address of the recipient resembles. */
  alikes: KnownAlike[]
}

/** `subject` is the alias of the row that people vote on: `o` for a transfer, `p` for a payout. */
type Deciding = { member: Member; subject: 'o' | 'p' }

/** SQL: the columns for a reader of the rows `o`, `t` and `a` of a transfer. */
export const columnsToDecide: Columns<ToDecide, Deciding> = {
  holds: (reader) =>
    whileStoppable(sql`${holdsBeside(touchedByTransfer, reader.member, decides(reader))}`, sql`'[]'::json`),
  is_exposed: (reader) =>
    whileStoppable(
      sql`(${decides(reader)} or ${isAddressInScope(visibleScopeOf(reader.member), 'a')}) and exists (
        select from ledger_accounts exposed where exposed.vault_id = o.vault_id and exposed.address_id = o.address_id
          and exposed.exposure > 0)`,
      sql`false`,
    ),
  recipient: (reader) => whileVoted(reader, recipientSignsOf(sql`o.vault_id`, sql`t.to_address_key`), sql`null`),
  entry: (reader) =>
    whileVoted(reader, ownerOfAddress(sql`o.vault_id`, sql`o.network_id`, sql`t.to_address_key`), sql`null`),
  alikes: (reader) =>
    whileVoted(reader, alikesOf(visibleScopeOf(reader.member), sql`t.to_address_key`), sql`'[]'::json`),
}

/**
 * SQL: true if the reader reads the whole vault, or votes on the payment and has not initiated it. An initiator could use an order to
 * inquire about any address.
 */
const decides = ({ member, subject }: Deciding): RawBuilder<unknown> =>
  sql`(${member.readsAll} or (o.initiator_id <> ${member.userId} and ${isVoter(subject, member.userId)}))`

const whileVoted = (reader: Deciding, value: RawBuilder<unknown>, otherwise: RawBuilder<unknown>) =>
  sql`case when o.status = 'awaiting_approval' and ${decides(reader)} then ${value} else ${otherwise} end`

const whileStoppable = (value: RawBuilder<unknown>, otherwise: RawBuilder<unknown>) =>
  sql`case when ${isOneOf('t.phase', ['waiting', 'queued'])} then ${value} else ${otherwise} end`

/** The facts of `ToDecide` as the API shows them. */
export type Decided = { holds: HoldBeside[]; isExposed: boolean; recipient: Static<typeof Recipient> | null }

export function toDecided({ holds, is_exposed: isExposed, recipient, entry, alikes }: ToDecide): Decided {
  return { holds, isExposed, recipient: recipient && toRecipient(recipient, entry, alikes) }
}

function toRecipient(
  signs: RecipientSigns,
  entry: AddressOwner | null,
  alikes: KnownAlike[],
): Static<typeof Recipient> {
  const counterparty = entry && {
    id: entry.id,
    name: entry.name,
    kind: entry.kind,
    isArchived: entry.archivedAt !== null,
  }
  return { ...signs, counterparty, lookAlikes: signs.isLookAlike ? alikes : [] }
}
