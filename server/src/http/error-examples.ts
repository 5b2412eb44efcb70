import { levelsOfVaults } from '../access/caller.ts'
import { type ErrorBody, type FieldFault, statusNames } from '../lib/errors.ts'
import { type Reason, reasons } from '../lib/reasons.ts'
import type { Operation } from './openapi.ts'

type Words = string | { message: string; details: FieldFault[] | string }

const inField = (field: string, fault: string): Words => ({
  message: `${field}: ${fault}`,
  details: [{ field, message: fault }],
})

/** What the service says with each reason that an operation can have; `docs/errors.md` says what to do about it. */
const words: Partial<Record<Reason, Words>> = {
  validation_failed: inField('limit', 'must be <= 100'),
  malformed_body: inField('body', 'is not valid JSON'),
  invalid_cursor: inField('cursor', 'is not a cursor of this list'),
  category_field_link: inField('currencyFieldKey', 'names no field of the category'),
  authentication_required: 'A token or session is required',
  malformed_authorization: 'The Authorization header must be "Bearer <token>"',
  invalid_token: 'The token or session is unknown, expired or revoked',
  invalid_sign_in_link: 'The sign-in link is invalid, used or expired',
  invalid_passkey: 'The passkey is unknown, or its answer is used or expired',
  invalid_webhook_signature: 'The signature is not valid',
  not_a_member: 'You are not a member of this vault',
  administrator_required: 'Only administrators of the vault may do this',
  auditor_reads_only: 'Auditors read the vault and change nothing in it',
  caller_held: 'A hold stops you in this vault; list its holds to read who placed it',
  platform_administrator_required: 'Only platform administrators may do this',
  not_permitted: 'You may not do this with this resource',
  not_an_approver: 'You are not an approver of this request',
  other_person_required: 'Another person must confirm this',
  person_required: 'Only a person may do this, because two people must carry it out together',
  blocked_by_policy: 'Payments stop at the weekend',
  no_policy_allows: 'No policy allows this action',
  foreign_origin: 'Requests with the session cookie must come from this origin',
  passkey_required: 'One of your passkeys must confirm exactly this request',
  signature_required: 'In a protected vault, this must be signed with a key of yours',
  not_in_protected_vault: 'The transfer was ordered before the vault was protected; order it again',
  json_required: 'Writes with the session cookie must be application/json',
  not_found: 'Not found',
  already_exists: 'It exists already',
  already_voted: 'You have voted already',
  amount_exceeded: 'The related amount is above the amount of the source',
  approval_expired: 'The time to vote on this transfer has expired',
  above_max_fee: 'A replacement must pay more than the order permits',
  above_signed_fee:
    'People signed a lower limit of the fee; cancel the transfer on chain, and order it again with a higher limit',
  address_exposed: {
    message: 'The chain took back a deposit of the address that was spent already',
    details: 'The address cmi8h2k1p0a1b2c3d4e5f6g7h sends nothing until its exposure is covered',
  },
  archived: 'The counterparty is archived',
  balance_overflow: 'The balance would exceed the largest possible amount, 2^256-1',
  blocked_by_policy_now: 'A policy blocks this now',
  changed_concurrently: 'The target was changed by someone else just now',
  differs_from_record: 'The request differs from its audit record and was stopped',
  disabled: 'The token USDT is disabled',
  held: {
    message: 'A hold on an address stops this',
    details: 'The hold cmi8h2k1p0a1b2c3d4e5f6g7h on the address cmi8h2k1p0b2c3d4e5f6g7h8i stops this',
  },
  idempotency_key_in_use: 'A request with this Idempotency-Key is still running',
  idempotency_key_reused: 'This Idempotency-Key was used for a different request',
  in_use: 'Something else refers to it; change that first',
  initiator_lost_permission: 'The initiator is disabled or no longer a member of the vault',
  insufficient_funds: {
    message: 'insufficient funds',
    details: 'The address has less usdt available than the transfer needs',
  },
  insufficient_gas: {
    message: 'insufficient gas',
    details: 'The address lacks 0.0021 ETH for the network fee of the transfer',
  },
  last_administrator: 'The last administrator of the vault cannot be removed',
  limit_reached: 'The number of these is at its limit',
  no_session: 'A service token has no session',
  part_of_payout: 'The transfer is part of a payout, which is voted on and cancelled as a whole',
  passkey_not_accepted: 'The answer of the authenticator is not valid here and now; ask for new options',
  payout_halted: 'The payout is halted',
  payload_changed: 'What you voted on is not what the service would carry out',
  not_replaceable: 'A transaction with this nonce is in a block already',
  not_proven: 'What was found does not prove this',
  not_applied: 'The vote was recorded, but the request could not be applied',
  quorum_unreachable: 'Fewer people may vote than the policy requires',
  rate_not_recorded: 'No rate of the time of the operation is recorded',
  route_is_dynamic: 'A dynamic route has no variants',
  rules_changed: {
    message: 'The rules were changed after the change set was drafted; rebase it',
    details: 'Version 8 differs from version 7 in: policy "Large payments"',
  },
  system_object: 'A system group cannot be deleted',
  transfer_halted: 'The transfer is halted',
  transfers_in_flight: '3 transfers of the vault are in flight; change the wallet service when they have ended',
  vault_is_draft: 'The vault is a draft; lock it before creating addresses',
  vault_is_locked: 'The vault is locked already',
  wallet_differs: 'The new wallet service has another address for m/44/60/1/0 on ethereum',
  wrong_state: 'It was decided already',
  body_too_large: 'The body is larger than this service accepts',
  unsupported_media_type: 'The content type must be application/json',
  rate_limited: 'Too many requests; try again later',
  too_many_at_once: 'Too many requests at the same time; try again later',
  internal_error: 'Internal error',
  wallet_service_failed: 'The wallet service failed',
  database_unreachable: 'The database cannot be reached right now',
  outcome_unknown: 'The outcome is not known; send the request again with the same Idempotency-Key',
  overloaded: 'Too many requests are waiting; try again later',
  timed_out: 'The request took too long and had no effect',
  too_many_conflicts: 'Too many conflicting requests; try again later',
  wallet_service_silent: 'The wallet service does not answer; try again later',
}

export type ErrorExample = { summary: string; value: ErrorBody }

/** The body of an error with this reason, as an example. */
export function exampleOfError(reason: Reason): ErrorExample {
  const said = words[reason]
  if (said === undefined) throw new Error(`There is no example of the reason ${reason}`)
  const { message, details } = typeof said === 'string' ? { message: said, details: undefined } : said
  const code = reasons[reason]
  const value: ErrorBody = {
    error: statusNames[code]!,
    message,
    code,
    reason,
    ...(details === undefined ? {} : { details }),
    requestId: '0b6c9d3e-8f57-4f7e-9a55-1c2d3e4f5a6b',
  }
  return { summary: message, value }
}

/** What the HTTP shell can answer to an operation, besides the reasons that its route declares. */
export function shellReasons(method: string, operation: Operation, takesKey: boolean): Reason[] {
  const { parameters = [], requestBody, security, 'x-access': access } = operation
  const takesBody = requestBody !== undefined
  const writes = method !== 'get'
  const isPaged = parameters.some(({ name }) => name === 'cursor')
  return [
    'validation_failed',
    ...(isPaged ? (['invalid_cursor'] as const) : []),
    ...(takesBody ? (['malformed_body', 'body_too_large', 'unsupported_media_type'] as const) : []),
    ...(security === undefined
      ? []
      : (['authentication_required', 'malformed_authorization', 'invalid_token'] as const)),
    ...(levelsOfVaults.some((level) => level === access)
      ? (['not_a_member', 'caller_held', 'not_found'] as const)
      : []),
    ...(access === 'administrator' || access === 'auditor' ? (['administrator_required'] as const) : []),
    ...(access === 'platform' ? (['platform_administrator_required'] as const) : []),
    ...(writes && security !== undefined ? (['foreign_origin', 'json_required'] as const) : []),
    ...(takesKey ? (['idempotency_key_in_use', 'idempotency_key_reused'] as const) : []),
    'rate_limited',
    'too_many_at_once',
    'internal_error',
    'database_unreachable',
    'overloaded',
    'timed_out',
    ...(takesKey ? (['too_many_conflicts', 'outcome_unknown'] as const) : []),
  ]
}
