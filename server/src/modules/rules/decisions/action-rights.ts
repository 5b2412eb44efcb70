import type { ActionType } from '../selectors/facts.ts'

/**
 * The right that a policy of an action type decides on.
 *
 * `moves`: the action lets something out of the vault or makes something new, so that less of it is stricter.
 * `protects`: the action stops, archives or rejects something, or decides on what was stopped, so that neither more nor less of
 * it is stricter: a member who loses it can stop nothing, and a member who gains it can stop everything.
 */
export const rightOf = {
  transfer: 'moves',
  create_address: 'moves',
  counterparty_create: 'moves',
  // It takes addresses away, too.
  counterparty_update: 'protects',
  counterparty_archive: 'protects',
  counterparty_group_create: 'moves',
  counterparty_group_update: 'moves',
  counterparty_group_archive: 'protects',
  // A policy may block or permit a group.
  counterparty_group_add: 'protects',
  counterparty_group_remove: 'protects',
  hold_place: 'protects',
  hold_release: 'protects',
  transfer_resolve: 'protects',
  event_resolve: 'protects',
} as const satisfies Record<ActionType, 'moves' | 'protects'>

/** Returns true if the action may protect the vault, or if the table does not have its type. */
export const protects = (actionType: string): boolean =>
  !Object.hasOwn(rightOf, actionType) || rightOf[actionType as ActionType] === 'protects'
