/**
 * Every reason that an error can have, with its HTTP status. A program acts on the reason: two errors have different
 * reasons if it would act differently. `docs/errors.md` says what each means and what to do about it.
 */
export const reasons = {
  validation_failed: 400,
  malformed_request: 400,
  malformed_body: 400,
  invalid_cursor: 400,
  category_field_link: 400,

  authentication_required: 401,
  malformed_authorization: 401,
  invalid_token: 401,
  invalid_sign_in_link: 401,
  invalid_passkey: 401,
  invalid_webhook_signature: 401,

  not_a_member: 403,
  administrator_required: 403,
  auditor_reads_only: 403,
  caller_held: 403,
  platform_administrator_required: 403,
  not_permitted: 403,
  not_an_approver: 403,
  other_person_required: 403,
  person_required: 403,
  blocked_by_policy: 403,
  no_policy_allows: 403,
  foreign_origin: 403,
  json_required: 403,
  passkey_required: 403,

  not_found: 404,
  no_such_route: 404,
  method_not_allowed: 405,
  request_timeout: 408,

  above_max_fee: 409,
  already_exists: 409,
  already_voted: 409,
  amount_exceeded: 409,
  approval_expired: 409,
  archived: 409,
  balance_overflow: 409,
  blocked_by_policy_now: 409,
  changed_concurrently: 409,
  differs_from_record: 409,
  disabled: 409,
  held: 409,
  idempotency_key_in_use: 409,
  idempotency_key_reused: 409,
  in_use: 409,
  initiator_lost_permission: 409,
  insufficient_funds: 409,
  last_administrator: 409,
  limit_reached: 409,
  no_session: 409,
  not_applied: 409,
  not_replaceable: 409,
  not_proven: 409,
  part_of_payout: 409,
  passkey_not_accepted: 409,
  payout_halted: 409,
  payload_changed: 409,
  quorum_unreachable: 409,
  rate_not_recorded: 409,
  route_is_dynamic: 409,
  system_object: 409,
  transfer_halted: 409,
  transfers_in_flight: 409,
  vault_is_draft: 409,
  vault_is_locked: 409,
  wallet_differs: 409,
  wrong_state: 409,

  body_too_large: 413,
  path_too_long: 414,
  unsupported_media_type: 415,
  rate_limited: 429,
  too_many_at_once: 429,
  headers_too_large: 431,

  internal_error: 500,
  wallet_service_failed: 502,
  database_unreachable: 503,
  outcome_unknown: 503,
  overloaded: 503,
  timed_out: 503,
  too_many_conflicts: 503,
  wallet_service_silent: 503,
} as const

export type Reason = keyof typeof reasons

/** The reasons whose errors have this HTTP status. */
export type ReasonOf<Status extends number> = {
  [R in Reason]: (typeof reasons)[R] extends Status ? R : never
}[Reason]
