import { type AppError, type FieldFault, refusalFor } from '../../../lib/errors.ts'
import type { BatchDecision } from '../../rules/decisions/decide-batch.ts'
import type { ActiveHold } from '../../rules/holds/active.ts'
import { factsOfNewOrder, type Order } from '../orders/load-order.ts'
import {
  feeNotAsked,
  type Gathered,
  insufficientGasMessage,
  type Lacking,
  lackingText,
  objectionsToAll,
  type ProblemCode,
  type Raised,
} from '../orders/objections.ts'
import { atRow, type LoadedRow, refusalOf } from './payout-rows.ts'

type GatheredOfRows = {
  initiatorId: string
  /** The active hold of each row; null without one. */
  holds: (ActiveHold | null)[]
  availableOf: (source: Order['source']) => bigint
  decision: BatchDecision
  /** The coin that the address of each row lacks for the fees of this row and the rows before. */
  lacking: (Lacking | null)[]
  shortages: string[]
}

/** Returns the facts of the objections to each row. The payout has one decision, which is about one row, and one electorate. */
export function factsOfRows(rows: LoadedRow[], gathered: GatheredOfRows): Gathered[] {
  const { initiatorId, holds, availableOf, decision, lacking, shortages } = gathered
  const uncovered = uncoveredRows(rows, availableOf)
  const areCovered = uncovered.every((part) => part === null)
  return rows.map(({ order }, i) => ({
    ...factsOfNewOrder(order),
    noun: `row ${i + 1} of the payout`,
    hold: holds[i] ?? null,
    initiatorId,
    decision: i === decision.decisive.order ? decision : null,
    uncovered: uncovered[i]!,
    fee: { ...feeNotAsked, isChecked: true, lacking: areCovered ? (lacking[i] ?? null) : null },
    shortages: i === 0 ? shortages : [],
  }))
}

/** Returns the rows whose address has too little left after the rows before. */
function uncoveredRows(rows: LoadedRow[], availableOf: GatheredOfRows['availableOf']): Gathered['uncovered'][] {
  const rest = new Map<string, bigint>()
  return rows.map(({ order: { source, amount } }) => {
    const key = `${source.address_id} ${source.token_id}`
    const left = (rest.get(key) ?? availableOf(source)) - amount
    rest.set(key, left)
    return left < 0n ? { missing: -left, code: source.token_code } : null
  })
}

/** An objection to a payout, with all rows that it concerns. */
export type RaisedByRows = { objection: Raised; refusal: AppError; problems: { row: number | null; message: string }[] }

/** Returns the objections to a payout, in the order of the list. `facts` are the facts of its rows. */
export function objectionsToPayout(rows: LoadedRow[], facts: Gathered[], stage: 'order' | 'preview'): RaisedByRows[] {
  const raised = objectionsToAll(stage, facts)
  const reasons = [...new Set(raised.map(({ reason }) => reason))]
  return reasons.map((reason) => {
    const found = raised.filter((objection) => objection.reason === reason)
    const objection = found[0]!
    if (!isOfRows(reason)) return { objection, refusal: refusalFor(objection), problems: found.map(toProblem) }
    const { message, faultOf } = ofRows[reason]
    const faults = found.map(({ index, ...raisedByRow }) => {
      const [field, fault] = faultOf(raisedByRow, { order: rows[index]!.order, facts: facts[index]! })
      return atRow(index, field, fault)
    })
    return { objection, refusal: refusalOf(reason, message, faults), problems: faults.map(toRowProblem) }
  })
}

const toRowProblem = ({ line, field, message }: FieldFault) => ({ row: line ?? null, message: `${field} ${message}` })

const toProblem = ({ reason, details, message, index }: Raised & { index: number }) => ({
  row: reason === 'quorum_unreachable' ? null : index + 1,
  message: details ?? message,
})

/** The objections that name the rows that they concern. */
type CodeOfRows = Extract<
  ProblemCode,
  'archived' | 'disabled' | 'held' | 'address_exposed' | 'insufficient_funds' | 'insufficient_gas'
>

type OfRows = {
  message: string
  /** Returns the faulty field of a row, and its fault. */
  faultOf: (objection: Raised, row: { order: Order; facts: Gathered }) => [field: string, message: string]
}

const faultOfHold: OfRows['faultOf'] = ({ details = '' }, { order, facts: { hold } }) => [
  hold === null ? 'fromAddressId' : fieldOfHold(hold, order),
  details,
]

const ofRows: Record<CodeOfRows, OfRows> = {
  archived: {
    message: 'The counterparty of a row is archived',
    faultOf: (_, { facts }) => ['toAddress', `belongs to ${facts.archived?.name}, which is archived`],
  },
  disabled: {
    message: 'The token of a row is disabled',
    faultOf: (_, { order: { source } }) => ['token', `is ${source.token_code}, which is disabled`],
  },
  held: { message: 'A hold stops a row', faultOf: faultOfHold },
  address_exposed: { message: 'The address of a row is exposed', faultOf: faultOfHold },
  insufficient_funds: {
    message: 'Insufficient funds: fund the addresses, or pay less',
    faultOf: (_, { order: { source } }) => [
      'amount',
      `is more ${source.token_code} than the rows before it leave of the address`,
    ],
  },
  insufficient_gas: {
    message: insufficientGasMessage,
    faultOf: (_, { facts: { fee } }) => [
      'fromAddressId',
      `lacks ${lackingText(fee.lacking!)} for the network fees up to this row`,
    ],
  },
}

const isOfRows = (reason: Raised['reason']): reason is CodeOfRows => reason in ofRows
const fieldOfHold = ({ subjectType, subjectId }: ActiveHold, { source }: Order): string =>
  subjectType === 'counterparty' || (subjectType === 'address' && subjectId !== source.address_id)
    ? 'toAddress'
    : 'fromAddressId'
