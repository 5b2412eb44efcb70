import { callerHeld } from '../../../access/refusals.ts'
import type { Objection } from '../../../lib/errors.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { objectionOfArchived } from '../../address-book/counterparties/queries.ts'
import { objectionOfToken } from '../../registry/tokens/withheld.ts'
import { forbiddenWallet } from '../../registry/wallet-service/call.ts'
import { type Decision, objectionOfPolicies, objectionOfPoliciesNow } from '../../rules/decisions/decision.ts'
import { type ActiveHold, objectionOfHold } from '../../rules/holds/active.ts'
import { objectionsOfShortages } from '../../rules/votes/open.ts'

/**
 * The moment at which objections are collected. A `preview` shows the reasons for which an `order` is refused, a `simulation`
 * asks policies alone, and a `recheck` precedes the release of an accepted payment by its last vote, and its hand-over.
 */
export type Stage = 'order' | 'preview' | 'simulation' | 'recheck'

/** All facts on which an objection can depend. Every stage states every fact, so that no stage forgets a new one. */
export type Gathered = {
  /** The state of the signature of an order that must be signed. */
  signature: 'valid' | 'missing' | 'expired'
  isVaultLocked: boolean
  /** The recipient when it is archived. */
  archived: { name?: string } | null
  token: { code?: string; isEnabled: boolean }
  /** The noun for the payment in sentences about policies. */
  noun: string
  /** The active hold on anything that the payment touches. */
  hold: ActiveHold | null
  initiatorId: string
  /** The reason for which the initiator may not order the payment any more; null without such a reason. */
  lost: string | null
  /** The decision of the policies; null when the policies are not asked, or are asked later. */
  decision: Pick<Decision, 'effect' | 'blockReason'> | null
  /** The part of the amount that is not available, in raw units, and the code of the token. */
  uncovered: { missing: bigint; code: string } | null
  fee: FeeFacts
  /** A sentence for each requirement with fewer voters than it asks for. */
  shortages: string[]
}

export type FeeFacts = {
  /** The part of the fee that the address cannot pay, in raw units; null when it can, or when the fee is not known. */
  lacking: Lacking | null
  /** True when an order is refused for a lacking fee. */
  isChecked: boolean
  isAboveMax: boolean
  /** The reason for which the wallet service gives no estimate; null when it gives one, or was not asked. */
  failure: FeeFailure | null
}

export type Lacking = { missing: bigint; coin: { code: string; decimals: number } }
export type FeeFailure = 'wallet_service_failed' | 'wallet_service_forbidden' | 'wallet_service_silent'

/** The facts of an unknown fee. */
export const feeNotAsked: FeeFacts = { lacking: null, isChecked: false, isAboveMax: false, failure: null }

/** The facts that are the same for every new order. */
export const asOrdered = {
  noun: 'this transfer',
  signature: 'valid',
  isVaultLocked: true,
  lost: null,
} satisfies Partial<Gathered>

/** The facts that cannot stop an accepted payment, whose amount is reserved, nor a simulation. */
export const notAsked = { uncovered: null, fee: feeNotAsked, shortages: [] } satisfies Partial<Gathered>

/** Codes of the problems in a preview. */
export type ProblemCode =
  | 'archived'
  | 'disabled'
  | 'held'
  | 'address_exposed'
  | 'blocked_by_policy'
  | 'no_policy_allows'
  | 'insufficient_funds'
  | 'insufficient_gas'
  | 'quorum_unreachable'
  | 'above_max_fee'
  | Exclude<FeeFailure, 'wallet_service_forbidden'>

/** Codes of all objections: also those to an accepted payment, and to the caller. */
type Code =
  | ProblemCode
  | 'not_in_protected_vault'
  | 'approval_expired'
  | 'vault_is_draft'
  | 'caller_held'
  | 'initiator_lost_permission'
  | 'blocked_by_policy_now'

type Row<C extends Code> = {
  find: (facts: Gathered) => Objection<C> | Objection<C>[] | null
  /** The stages for which it holds; all stages when left out. */
  only?: readonly Stage[]
  /** True when an accepted payment waits until the objection has passed; without it the payment fails. */
  waits?: true
  /** True when the refusal of an order is recorded; without it a refusal writes no row. */
  isRecorded?: true
  /** Returns true if an order is refused for the objection; without this function every order is refused. */
  blocks?: (facts: Gathered) => boolean
}

const neverBlocks = () => false
const beforeAccepted: readonly Stage[] = ['order', 'preview']
const accepted: readonly Stage[] = ['recheck']

/**
 * The list of objections, in the order in which they count: the first one that blocks is the reason of the refusal. A row names
 * stages only where it must, and says why.
 */
const rows: { [C in Code]: Row<C> } = {
  // The signature of a new order is checked before its objections are collected, and a draft has no address to order from.
  not_in_protected_vault: { find: ({ signature }) => (signature === 'missing' ? unsigned : null), only: accepted },
  approval_expired: { find: ({ signature }) => (signature === 'expired' ? signatureExpired : null), only: accepted },
  vault_is_draft: { find: ({ isVaultLocked }) => (isVaultLocked ? null : draft), only: accepted },
  archived: { find: ({ archived }) => objectionOfArchived(archived) },
  // A simulation answers by the policies alone, also for a token that is not enabled yet.
  disabled: { find: ({ token }) => objectionOfToken(token), only: [...beforeAccepted, ...accepted], waits: true },
  // A preview has the next objection instead: the guard refuses the preview of a caller who is held.
  caller_held: {
    find: ({ hold, initiatorId }) => (hold?.subjectType === 'user' && hold.subjectId === initiatorId ? ownHold : null),
    only: ['order'],
  },
  held: { find: ({ hold }) => ofHold(hold, 'held'), waits: true },
  address_exposed: { find: ({ hold }) => ofHold(hold, 'address_exposed'), waits: true },
  // A caller without permission is refused before the objections to the order are collected.
  initiator_lost_permission: { find: ({ lost }) => (lost === null ? null : lostPermission(lost)), only: accepted },
  // A simulation returns the decision itself. At a recheck only a block counts, for which it has a code of its own.
  blocked_by_policy: {
    find: (facts) => ofPolicies(facts, 'blocked_by_policy'),
    only: beforeAccepted,
    isRecorded: true,
  },
  no_policy_allows: { find: (facts) => ofPolicies(facts, 'no_policy_allows'), only: beforeAccepted, isRecorded: true },
  blocked_by_policy_now: {
    find: ({ decision, noun }) => decision && objectionOfPoliciesNow(decision, noun),
    only: accepted,
  },
  insufficient_funds: { find: ({ uncovered }) => uncovered && uncoveredAmount(uncovered) },
  // An amount of the coin that is not available is insufficient_funds, which says more.
  insufficient_gas: {
    find: ({ uncovered, fee }) => (uncovered === null && fee.lacking !== null ? uncoveredFee(fee.lacking) : null),
    blocks: ({ fee }) => fee.isChecked,
  },
  quorum_unreachable: { find: ({ shortages }) => objectionsOfShortages(shortages) },
  // The next objections refuse no order: it is placed, and its delivery would probably wait or fail.
  above_max_fee: { find: ({ fee }) => (fee.isAboveMax ? aboveMaxFee : null), blocks: neverBlocks },
  wallet_service_failed: {
    find: ({ fee: { failure } }) => {
      if (failure === 'wallet_service_forbidden') return noConnection
      return failure === 'wallet_service_failed' ? noEstimate : null
    },
    blocks: neverBlocks,
  },
  wallet_service_silent: {
    find: ({ fee }) => (fee.failure === 'wallet_service_silent' ? noAnswer : null),
    blocks: neverBlocks,
  },
}

/** The rows with their codes, in the order of the list. */
const list = Object.entries<Row<Code>>(rows)

const holdsAt = (stage: Stage, only: Row<Code>['only']): boolean => only === undefined || only.includes(stage)

/** Every problem that a preview can name. */
export const problemCodes = list.flatMap(([code, { only }]) => (holdsAt('preview', only) ? [code as ProblemCode] : []))

/**
 * An objection that was found. `blocks` is true when an order is refused for it, `isRecorded` when that refusal is recorded, and
 * `waits` when an accepted payment waits until the objection has passed.
 */
export type Raised = Objection<Code> & { blocks: boolean; isRecorded: boolean; waits: boolean }

/** Returns the objections to a payment at a stage, in the order of the list. */
export function objectionsTo(stage: Stage, facts: Gathered): Raised[] {
  return list
    .filter(([, { only }]) => holdsAt(stage, only))
    .flatMap(([, { find, waits = false, isRecorded = false, blocks }]) => {
      const found = find(facts) ?? []
      return (Array.isArray(found) ? found : [found]).map((objection) => ({
        ...objection,
        blocks: blocks?.(facts) ?? true,
        isRecorded,
        waits,
      }))
    })
}

/** Returns the objection for which an order is refused, or null. */
export const objectionToOrder = (facts: Gathered): Raised | null =>
  objectionsTo('order', facts).find(({ blocks }) => blocks) ?? null

/** Returns the objections to several payments, in the order of the list; `index` is the index of the payment. */
export function objectionsToAll(stage: Stage, all: Gathered[]): (Raised & { index: number })[] {
  const places = new Map(list.map(([code], place) => [code, place]))
  return all
    .flatMap((facts, index) => objectionsTo(stage, facts).map((objection) => ({ ...objection, index })))
    .toSorted((a, b) => places.get(a.reason)! - places.get(b.reason)!)
}

const unsigned: Objection<'not_in_protected_vault'> = {
  reason: 'not_in_protected_vault',
  message: 'It was ordered before the vault was protected',
}
const signatureExpired: Objection<'approval_expired'> = {
  reason: 'approval_expired',
  message: 'The signed order has expired',
}
const draft: Objection<'vault_is_draft'> = { reason: 'vault_is_draft', message: 'The vault is not locked' }
const ownHold: Objection<'caller_held'> = { reason: 'caller_held', message: callerHeld().message }

export const lostPermission = (message: string): Objection<'initiator_lost_permission'> => ({
  reason: 'initiator_lost_permission',
  message,
})

function ofHold<R extends 'held' | 'address_exposed'>(hold: ActiveHold | null, reason: R): Objection<R> | null {
  const objection = hold && objectionOfHold(hold)
  return objection?.reason === reason ? { ...objection, reason } : null
}

function ofPolicies<R extends 'blocked_by_policy' | 'no_policy_allows'>(
  { decision, noun }: Gathered,
  reason: R,
): Objection<R> | null {
  const objection = decision && objectionOfPolicies(decision, noun)
  return objection?.reason === reason ? { ...objection, reason } : null
}

const uncoveredAmount = ({ code }: { code: string }): Objection<'insufficient_funds'> => ({
  reason: 'insufficient_funds',
  message: 'Insufficient funds: fund the address, or order less',
  details: `The address has less ${code} available than the transfer needs`,
})

export const insufficientGasMessage =
  'Insufficient gas: send the address the coin of its network, or wait until fees fall'

export const lackingText = ({ missing, coin: { code, decimals } }: Lacking) =>
  `${formatDecimal(missing, decimals)} ${code}`

const uncoveredFee = (lacking: Lacking): Objection<'insufficient_gas'> => ({
  reason: 'insufficient_gas',
  message: insufficientGasMessage,
  details: `The address lacks ${lackingText(lacking)} for the network fee of the transfer`,
})

const aboveMaxFee: Objection<'above_max_fee'> = {
  reason: 'above_max_fee',
  message: 'The network asks for more than maxFee now; the transfer would wait until it falls',
}
const noEstimate: Objection<'wallet_service_failed'> = {
  reason: 'wallet_service_failed',
  message: 'The wallet service gives no estimate of the fee',
}
const noConnection: Objection<'wallet_service_failed'> = { reason: 'wallet_service_failed', message: forbiddenWallet }
const noAnswer: Objection<'wallet_service_silent'> = {
  reason: 'wallet_service_silent',
  message: 'The wallet service does not answer',
}
