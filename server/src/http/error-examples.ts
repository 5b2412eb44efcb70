import { levelsOfVaults } from '../access/caller.ts'
import { type ErrorBody, type FieldFault, statusNames } from '../lib/errors.ts'
import { type Reason, reasons } from '../lib/reasons.ts'
import type { ErrorExample, Operation } from './openapi-document.ts'

type Words = string | { message: string; details: FieldFault[] | string }

const inField = (field: string, fault: string): Words => ({
  message: `${field}: ${fault}`,
  details: [{ field, message: fault }],
})

/** The message of the service for each reason that an operation can have. `docs/errors.md` says how to react to it. */
const words: Partial<Record<Reason, Words>> = {
  validation_failed: inField('limit', 'must be <= 100'),
  malformed_body: inField('body', 'is not valid JSON'),
  invalid_cursor: inField('cursor', 'is not a cursor of this list'),
  category_field_link: inField('currencyFieldKey', 'names no field of the category'),
  authentication_required: 'A token or session is required',
  malformed_authorization: 'The Authorization header must be "Bearer <token>"',
  invalid_token: 'The token or session is unknown, expired or revoked',
  invalid_sign_in_link: 'The sign-in link is unknown, was used before or has expired; request a new link',
  invalid_passkey: 'The passkey is unknown, or its answer was used before or has expired',
  link_required: 'A link was mailed to you as well; open it in this browser within 10 minutes',
  invalid_webhook_signature: 'The webhook signature is not valid',
  not_a_member: 'You are not a member of this vault',
  administrator_required: 'Only administrators of the vault may do this',
  auditor_reads_only: 'Auditors read the vault and change nothing in it',
  caller_held: 'A hold stops you in this vault; list its holds to read who placed it',
  token_scope_missing: 'The service token lacks the scope "operate", which this request needs',
  platform_administrator_required: 'Only platform administrators may do this',
  not_permitted: 'Only the initiator or an administrator may cancel a transfer',
  not_an_approver: 'You are not an approver of this request',
  other_person_required: 'A held rate must be confirmed by a platform administrator other than the one who recorded it',
  person_required: 'Only a person may do this, and the caller is a service: sign in as a person',
  blocked_by_policy: 'Payments stop at the weekend',
  no_policy_allows: 'No policy allows this action',
  foreign_origin: 'Requests with the session cookie must come from this origin',
  passkey_required: 'One of your passkeys must confirm exactly this request',
  signature_required: 'In a protected vault, this must be signed with a key of yours',
  votes_refused: 'The wallet service does not cancel the version with these votes: VOTES_MISSING',
  not_in_protected_vault: 'The transfer was ordered before the vault was protected; order it again',
  json_required: 'Writes with the session cookie must be application/json',
  not_found: 'Vault not found',
  already_exists: 'The vault already has a policy with this code',
  already_voted: 'You have already voted',
  amount_exceeded: 'The related amount is above the amount of the source',
  approval_expired: 'The time to vote on this transfer has expired',
  above_max_fee: 'The transfer may not pay as much',
  above_signed_fee:
    'People signed a lower limit of the fee; cancel the transfer on chain, and order it again with a higher limit',
  address_exposed: {
    message: 'The chain took back a deposit of the address that was already spent',
    details: 'The address cmi8h2k1p0a1b2c3d4e5f6g7h sends nothing until its exposure is covered',
  },
  archived: 'The counterparty is archived',
  balance_overflow: 'The balance would exceed the largest possible amount, 2^256-1',
  blocked_by_policy_now: 'A policy blocks this now',
  changed_concurrently: 'The target was changed by someone else just now',
  differs_from_record: 'The request failed because it differs from its audit record',
  disabled: 'The token USDT is disabled',
  held: {
    message: 'A hold on an address stops this',
    details: 'The hold cmi8h2k1p0a1b2c3d4e5f6g7h on the address cmi8h2k1p0b2c3d4e5f6g7h8i stops this',
  },
  idempotency_key_in_use: 'A request with this Idempotency-Key is still running',
  idempotency_key_reused: 'This Idempotency-Key was used for a different request',
  in_use: 'The group has policies; delete them first',
  initiator_lost_permission: 'The initiator is disabled or no longer a member of the vault',
  insufficient_funds: {
    message: 'Insufficient funds: fund the address, or order less',
    details: 'The address has less USDT available than the transfer needs',
  },
  insufficient_gas: {
    message: 'Insufficient gas: send the address the coin of its network, or wait until fees fall',
    details: 'The address lacks 0.0021 ETH for the network fee of the transfer',
  },
  last_administrator: 'The last administrator of the vault cannot be removed',
  limit_reached: 'A category has at most 100 fields',
  no_session: 'A service token has no session to sign out of; an administrator of its vault revokes it',
  part_of_payout: 'The transfer is part of a payout, which is voted on and cancelled as a whole',
  passkey_not_accepted: 'The answer of the authenticator is not valid here and now; ask for new options',
  payout_halted: 'The payout is halted',
  payload_changed: 'This is not what you were shown; read it again and compare it before you vote',
  not_replaceable: 'The transaction, or one that takes its place, is already in a block',
  not_proven: {
    message: 'Not proven: Another transfer of the vault has this transaction',
    details: 'Another transfer of the vault has this transaction',
  },
  not_applied: {
    message: 'Your vote was recorded, but the request could not be applied and had no effect',
    details: 'The target was changed after the request was created',
  },
  quorum_unreachable: 'quorum unreachable',
  rate_not_recorded: 'No rate of this time is recorded',
  route_is_dynamic: 'A dynamic route has no variants',
  rules_changed: {
    message: 'The rules were changed after the change set was drafted; rebase it',
    details: 'Version 8 differs from version 7 in: policy "Large payments"',
  },
  system_object: 'A system group cannot be deleted',
  transfer_halted: 'The transfer is halted; two administrators must resolve it',
  transfers_in_flight: '3 transfers of the vault are in flight; change the wallet service when none is',
  vault_halted:
    'The vault is halted: its wallet service has accepted what the books do not have, as after a restore of the books',
  vault_is_draft: 'The vault is a draft; lock it before creating addresses',
  vault_is_locked: 'The vault is already locked',
  wallet_differs: 'The new wallet service has another address or key for m/44/60/1/0 on ethereum',
  would_lock_out: {
    message:
      'After this change two platform administrators, including you, must be able to sign in, one of them without a provider',
    details: 'Could not sign in: person@example.org',
  },
  wrong_state: 'The request is already approved',
  version_changed: 'If-Match names another version than the present one',
  body_too_large: 'The body is larger than this service accepts',
  unsupported_media_type: 'The content type must be application/json',
  rate_limited: 'Too many requests; try again later',
  too_many_at_once: 'You are sending too much at a time; try again later',
  internal_error: 'An unexpected error occurred; the log of the service has details under this request id',
  wallet_service_failed: 'The wallet service failed',
  database_unreachable: 'The database cannot be reached right now',
  outcome_unknown:
    'The database did not confirm the change, so its outcome is unknown; send the request again with the same Idempotency-Key, ' +
    'or read the resource first if the request had none',
  overloaded: 'Too many requests are waiting; try again later',
  timed_out: 'The request took too long and had no effect',
  too_many_conflicts: 'Too many conflicting requests; try again later',
  wallet_service_silent: 'The wallet service does not answer right now',
}

export const reasonsWithExample = Object.keys(words) as Reason[]

/** Returns the body of an error with this reason, as an example. */
export function exampleOfError(reason: Reason): ErrorExample {
  const example = words[reason]
  if (example === undefined) throw new Error(`There is no example of the reason ${reason}`)
  const { message, details } = typeof example === 'string' ? { message: example, details: undefined } : example
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

/** Returns the reasons with which the HTTP shell can refuse an operation, besides the reasons that its route declares. */
export function shellReasons(method: string, operation: Operation, takesKey: boolean): Reason[] {
  const { parameters = [], requestBody, security, 'x-access': access, 'x-scope': scope } = operation
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
    ...(scope === undefined ? [] : (['token_scope_missing'] as const)),
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
