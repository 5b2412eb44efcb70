import type { StateKind } from '../composition/verify-state.ts'

/**
 * The columns of a table: compared with the record by a verifier, or not compared for a stated reason. A present or future
 * column that is in no list fails state-columns.test.ts.
 */
export type Coverage = {
  /** The verifiers that compare: kinds of `strongroom state verify`, `strongroom ledger verify` or `strongroom audit verify`. */
  by?: readonly StateKind[] | 'ledger' | 'audit'
  /** Columns that state-columns.test.ts changes as the owner of the database, one at a time. */
  compared?: string
  /** The test that changes them instead, because the vault of state-columns.test.ts has no such row. */
  comparedIn?: string
  notCovered: Record<string, string>
}

const times = 'when it was written; no decision reads it'
const looks = 'how it looks; no decision reads it'
const keys = 'its key: with another key it is another row, and the recorded row is missing'
const author = 'who wrote it; no decision reads it'
const votes = 'names the policy that required votes; the requirements with their voters are compared'
const delivery = 'how far the hand-over is; the order is compared before each hand-over'
const chain = 'what the wallet service reported; the chain has it'
const unread = 'no decision and no vote reads it'
const session = 'lets somebody act as a person; what they do is on the record'
const evidence = 'shown to voters and in the evidence, which compares it with its record'
const structure = 'which paths new addresses get; each address is compared'

export const coverage: Record<string, Coverage> = {
  // People
  users: {
    by: ['users'],
    compared: 'email is_platform_admin disabled_at',
    notCovered: {
      [keys]: 'id',
      [looks]: 'name username image color emoji',
      [times]: 'created_at updated_at',
      'a kind that differs has no token and no membership of its own, which are compared': 'kind',
      'which mails a person wants': 'notify_approvals notify_decisions',
      'verified with the passkey that it permits, which is compared': 'first_passkey_until',
    },
  },
  passkeys: {
    by: ['passkeys'],
    compared: 'id user_id credential_id public_key',
    notCovered: { [looks]: 'name transports is_synced last_used_at', [times]: 'created_at', 'counts up': 'signatures' },
  },
  service_keys: {
    by: ['rules'],
    comparedIn: 'modules/rules/governance/reset.test.ts',
    notCovered: {
      'in the newest version of the rules, with which it is compared': 'vault_id id user_id name public_key revoked_at',
      [times]: 'created_at',
      [author]: 'created_by_id',
    },
  },
  service_tokens: {
    notCovered: {
      [session]: 'vault_id id user_id token_hash networks scopes expires_at revoked_at',
      [looks]: 'name last_used_from',
      [times]: 'created_at last_used_at told_days',
      [author]: 'created_by_id',
    },
  },
  sessions: {
    notCovered: {
      [session]:
        'id token_hash user_id expires_at ends_at method device_hash provider_id provider_subject provider_sid auth_time acr amr',
      [looks]: 'user_agent ip created_at last_seen_at',
    },
  },
  magic_links: {
    notCovered: {
      [session]: 'token_hash code_hash email binding_hash by_operator break_glass expires_at wrong_codes',
      [unread]: 'redirect_to mail_id created_at',
    },
  },
  identity_providers: {
    notCovered: {
      [session]: 'id issuer client_id client_secret domains linking session_hours enforce status tried_at tried_email',
      [looks]: 'name',
      [times]: 'created_at updated_at',
      [author]: 'created_by_id',
    },
  },
  identity_provider_reads: { notCovered: { [session]: 'provider_id', [times]: 'asked_at read_at failing_since' } },
  break_glass_people: { notCovered: { [session]: 'user_id', [times]: 'named_at' } },
  identity_domains: { notCovered: { [session]: 'domain provider_id' } },
  identities: {
    notCovered: { [session]: 'issuer subject user_id', [unread]: 'linked_via', [times]: 'linked_at last_used_at' },
  },
  identity_links: {
    notCovered: {
      [session]: 'token_hash binding_hash provider_id email identity expires_at',
      [unread]: 'redirect_to created_at',
    },
  },
  directories: {
    notCovered: {
      [session]: 'id domains status token_hash token_expires_at previous_token_hash previous_token_expires_at',
      [looks]: 'name last_seen_at',
      [times]: 'created_at updated_at',
      [author]: 'created_by_id',
    },
  },
  directory_domains: { notCovered: { [session]: 'domain directory_id' } },
  directory_people: {
    notCovered: {
      'the word of a directory, which gives no right; a disabled user is compared':
        'user_id directory_id user_name external_id active attributes version',
      [times]: 'created_at updated_at',
    },
  },
  directory_groups: {
    notCovered: {
      'the word of a directory, which gives no right': 'id directory_id display_name external_id version',
      [times]: 'created_at updated_at',
    },
  },
  directory_group_members: { notCovered: { 'the word of a directory, which gives no right': 'group_id user_id' } },
  directory_stops: {
    notCovered: {
      'lets a directory enable whom it disabled; both are on the record': 'user_id directory_id asked_at held ended_at',
    },
  },
  used_provider_answers: { notCovered: { [session]: 'answer_hash expires_at' } },
  invitations: {
    notCovered: {
      'in the rules where there is governance; a membership has its record':
        'vault_id id email status accepted_user_id',
      [session]: 'token_hash token_sealed',
      [times]: 'created_at updated_at accepted_at revoked_at',
      [author]: 'created_by_id',
    },
  },
  invitation_groups: {
    notCovered: {
      'in the rules where there is governance; a membership has its record': 'vault_id id invitation_id group_id',
      [times]: 'created_at',
    },
  },
  known_devices: { notCovered: { 'whether a sign-in is told by mail': 'device_hash user_id last_seen_at' } },
  sign_in_attempts: { notCovered: { 'slows guessing down': 'email_hash sender attempted_at' } },
  failed_redemptions: { notCovered: { 'slows guessing down': 'sender failed_at' } },
  used_passkey_challenges: {
    notCovered: { 'keeps an answer from counting twice, for some minutes': 'challenge_hash expires_at' },
  },
  user_preferences: { notCovered: { [looks]: 'user_id preferences updated_at' } },

  // Registry
  networks: {
    by: ['networks'],
    compared: 'id coin_type code slug name type explorer_tx_url explorer_address_url',
    notCovered: { [looks]: 'description logo_uri', [times]: 'created_at updated_at' },
  },
  tokens: {
    by: ['tokens'],
    compared: 'network_id code contract_address contract_key decimals enabled symbol name dust_limit',
    notCovered: { [keys]: 'id', [looks]: 'logo_uri', [times]: 'created_at updated_at' },
  },
  withheld_tokens: {
    notCovered: {
      'hides a new token until the rules admit it; its rows are in the rules': 'vault_id token_id created_at',
    },
  },
  token_rates: {
    by: ['rates'],
    compared: 'token_id as_of source usd_rate confirmed_by_id',
    notCovered: { [times]: 'created_at' },
  },
  held_rates: {
    by: ['heldRates'],
    compared: 'id token_id as_of source usd_rate compared_usd_rate status created_by_id decided_by_id',
    notCovered: { [times]: 'created_at decided_at' },
  },
  platform_changes: {
    by: ['platformChanges'],
    compared: 'id action target_id payload status created_by_id decided_by_id',
    notCovered: { [times]: 'created_at decided_at' },
  },
  images: { notCovered: { [looks]: 'key vault_id subject_type subject_id media_type content created_at' } },

  // Vaults
  vaults: {
    by: ['walletServices', 'addresses', 'rules'],
    compared: 'wallet_service_url wallet_service_secret wallet_webhook_secret wallet_key protection',
    notCovered: {
      [keys]: 'id code',
      [looks]: 'name description logo_uri',
      [times]: 'created_at updated_at',
      'how fast its wallet service is asked, which decides when news is known and nothing else': 'questions_per_second',
      'a draft has no addresses': 'locked_at',
      'the wallet service has what the books lack, and is compared again': 'halted_at halt_reason',
    },
  },
  account_keys: {
    by: ['addresses'],
    comparedIn: 'modules/vaults/wallets/account-keys.test.ts',
    notCovered: {
      'compared with the record and with the signature of the wallet service':
        'vault_id derivation_path script xpub signature challenge',
      'follows from the derivation path': 'network_id',
      [times]: 'created_at',
    },
  },
  wallet_marks: {
    notCovered: {
      'how far the wallet service was compared; what it has and the books lack halts the vault':
        'vault_id cursor entries is_complete wallet_number compared_at books_database wallet_database index_floors',
    },
  },
  asked_paths: {
    notCovered: {
      'paths without an address; the wallet service has them too':
        'vault_id derivation_path asked_at is_stored is_listed is_burnt static_prefix path_index',
    },
  },
  authority_marks: {
    notCovered: {
      'the highest authority that was seen, which witnesses and people keep too':
        'vault_id version hash seen_at shown_version shown_hash alarm_since',
    },
  },
  vault_networks: {
    by: ['addresses'],
    comparedIn: 'modules/vaults/wallets/account-keys.test.ts',
    notCovered: {
      [structure]: 'vault_id network_id position',
      'compared with the keys of the network that were recorded': 'address_check',
    },
  },
  routes: {
    by: ['rules'],
    compared: 'id code',
    notCovered: {
      [keys]: 'vault_id',
      [looks]: 'name description position',
      [structure]: 'dynamic',
      [times]: 'created_at updated_at',
    },
  },
  variants: {
    by: ['rules'],
    compared: 'id route_id code name enabled token_id',
    notCovered: {
      [keys]: 'vault_id',
      [looks]: 'description',
      'in the rules as well; a second variant of this number cannot be': 'path_id',
      [times]: 'created_at updated_at',
    },
  },
  addresses: {
    by: ['addressOwners'],
    compared: 'owner_id network_id address derivation_path',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'label description tags logo_uri color emoji',
      [times]: 'created_at updated_at',
      'follows from the address, and is derived from the key of the vault where it has one': 'address_key',
      'follow from the derivation path, which is compared': 'static_prefix path_index segments',
      'the token that an order names when it names none; the order is compared': 'token_id',
    },
  },
  address_grants: {
    by: ['addressOwners'],
    compared: 'vault_id address_id subject_type subject_id can_transfer',
    notCovered: { [keys]: 'id', 'always true': 'can_view', [author]: 'grantor_id', [times]: 'created_at' },
  },
  address_groups: {
    by: ['folders'],
    compared: 'vault_id id name created_by_id',
    notCovered: { [looks]: 'description color emoji', [times]: 'created_at updated_at' },
  },
  address_group_members: {
    by: ['folders'],
    compared: 'vault_id group_id address_id',
    notCovered: { [times]: 'created_at' },
  },
  address_group_grants: {
    by: ['folders'],
    compared: 'vault_id group_id subject_type subject_id can_transfer',
    notCovered: { [keys]: 'id', 'always true': 'can_view', [author]: 'grantor_id', [times]: 'created_at' },
  },
  address_group_membership_log: {
    notCovered: {
      'what reports say of the past; the present folders are compared':
        'vault_id group_id address_id added_at removed_at group_name manager_id',
    },
  },

  // Address book
  counterparties: {
    by: ['counterparties'],
    compared: 'name kind archived_at',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'description avatar_uri color emoji',
      [times]: 'created_at updated_at',
      [author]: 'created_by_id',
      'counts changes, for waiting requests': 'version',
    },
  },
  counterparty_addresses: {
    by: ['counterparties'],
    compared: 'counterparty_id network_id address address_key',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'label',
      'the age of an entry is a fact; the record has its time': 'created_at',
    },
  },
  counterparty_groups: {
    by: ['counterpartyGroups'],
    compared: 'vault_id id code name archived_at',
    notCovered: {
      [looks]: 'description avatar_uri color emoji',
      [times]: 'created_at updated_at',
      'counts changes, for waiting requests': 'version',
    },
  },
  counterparty_group_memberships: {
    by: ['counterpartyGroups'],
    compared: 'vault_id group_id counterparty_id',
    notCovered: { [times]: 'created_at' },
  },
  paid_recipients: {
    notCovered: {
      'a fact of the first payment; the transfers that fill it are compared': 'vault_id user_id address_key',
    },
  },

  // Categories
  operation_categories: {
    by: ['categories'],
    compared:
      'key applies_to view_scope assign_scope edit_scope approval_scope approval_threshold allow_initiator_approval archived',
    notCovered: {
      [keys]: 'vault_id id',
      [looks]: 'name description emoji color',
      [times]: 'created_at updated_at',
      [author]: 'created_by_id updated_by_id',
      'keeps a category from being archived': 'is_system',
      'counts changes': 'version',
    },
  },
  category_fields: {
    by: ['categories'],
    compared:
      'vault_id id category_id key label type required options_json scale currency_field_key unit default_json help_text ' +
      'sensitive order_index archived',
    notCovered: { [times]: 'created_at updated_at' },
  },
  category_grants: {
    by: ['categories'],
    compared: 'vault_id category_id subject_type subject_id can_view can_assign can_edit',
    notCovered: { [keys]: 'id', [author]: 'grantor_id', [times]: 'created_at' },
  },
  category_approvers: {
    by: ['categories'],
    compared: 'vault_id category_id kind user_id group_id',
    notCovered: { [keys]: 'id', [times]: 'created_at' },
  },
  category_assignments: {
    notCovered: {
      'the order has its category in its record': 'vault_id id operation_id operation_type category_id',
      [evidence]: 'values version position assigned_by_id',
      [times]: 'operation_created_at created_at updated_at',
    },
  },

  // Rules and votes
  policies: {
    by: ['policies'],
    compared:
      'group_id code name description logo_uri color emoji action_type effect enabled rules block_reason approval_threshold ' +
      'allow_initiator_approval admin_bypass',
    notCovered: { [keys]: 'vault_id id', [times]: 'created_at updated_at' },
  },
  policy_approvers: {
    by: ['policies'],
    compared: 'vault_id policy_id kind user_id group_id threshold',
    notCovered: { [keys]: 'id', [times]: 'created_at' },
  },
  policy_groups: {
    by: ['memberships', 'rules'],
    compared: 'code name description is_system',
    notCovered: { [keys]: 'vault_id id', [looks]: 'logo_uri color emoji', [times]: 'created_at updated_at' },
  },
  policy_group_memberships: {
    by: ['memberships'],
    compared: 'group_id user_id',
    notCovered: { [keys]: 'vault_id id', [times]: 'created_at' },
  },
  governance: {
    by: ['rules'],
    compared: 'threshold approver_group_id loosening_delay_hours tightening_delay_hours',
    notCovered: { [keys]: 'vault_id', [times]: 'updated_at' },
  },
  rules_heads: {
    by: ['rules'],
    compared: 'vault_id number',
    notCovered: {
      'keeps a transaction from publishing twice': 'published_in',
      'tells nodes to read again': 'revision',
    },
  },
  rules_versions: {
    by: ['rules'],
    compared: 'vault_id number document hash',
    notCovered: { [author]: 'author_id change_set_id', [looks]: 'direction', [times]: 'created_at' },
  },
  change_sets: {
    notCovered: {
      'compared with its request when it is voted on and when it is due':
        'vault_id id status is_direct base_version changes document direction request_id apply_at applied_version author_id',
      'sealed for its row; a secret that differs opens nothing': 'secrets',
      [looks]: 'title failure_reason resolved_by_id resolved_at',
      [times]: 'created_at updated_at',
    },
  },
  approval_requests: {
    by: ['approvalRequests'],
    compared: 'vault_id id action status initiator_id steps payload_hash resolved_result_id results failure_reason',
    notCovered: {
      [votes]: 'decision decision_policy_id decision_policy_code approval_threshold',
      'until when it may be voted on; each vote is compared': 'expires_at',
      [times]: 'resolved_at created_at updated_at',
    },
  },
  approval_requirements: {
    by: ['transfers', 'payouts', 'approvalRequests'],
    compared: 'vault_id subject_id step_index policy_id policy_code threshold bypassed group_thresholds',
    notCovered: { [looks]: 'policy_name', [votes]: 'allow_initiator', [times]: 'created_at' },
  },
  approval_voters: {
    by: ['transfers', 'payouts', 'approvalRequests'],
    compared: 'vault_id subject_id user_id decision',
    notCovered: { [keys]: 'id', [evidence]: 'comment voted_at', [times]: 'created_at' },
  },
  approval_eligibilities: {
    by: ['transfers', 'payouts', 'approvalRequests'],
    compared: 'vault_id subject_id user_id step_index policy_id',
    notCovered: {
      'compared where a requirement counts votes of groups': 'group_id',
      'says that a vote does not count for now; the hold is compared': 'held',
    },
  },
  signed_votes: {
    notCovered: {
      'a signature proves itself: the wallet service and the evidence verify it':
        'vault_id subject_type subject_id user_id decision signed_vote public_key rp_id origin',
      [times]: 'created_at',
    },
  },
  stops_due: {
    notCovered: {
      'signed stops that are handed over; who deletes one delays it':
        'vault_id subject_id user_id decision attempts created_at next_attempt_at',
    },
  },
  holds: {
    by: ['holds'],
    compared:
      'vault_id id subject_type subject_id reason placed_by_id released_at released_by_id release_reason origin ends_at ' +
      'confirmed_by_id because_of_id',
    notCovered: {
      'the ledger has what it reserves': 'reserved',
      'the person who confirmed is compared': 'confirmed_at',
      [looks]: 'handed_over',
      [times]: 'created_at',
    },
  },
  screenings: {
    by: ['screenings'],
    compared: 'subject_id id verdict score reference answered_at waived_hold_id',
    notCovered: {
      [keys]: 'vault_id subject_type',
      'when it is asked again': 'attempts failure next_attempt_at',
      [times]: 'asked_at created_at',
    },
  },
  decisions: {
    notCovered: {
      'what policies are tried on; nothing is permitted by it': 'vault_id id action initiator_id decisions created_at',
    },
  },

  // Money
  operations: {
    by: ['transfers', 'deposits'],
    compared: 'vault_id id status address_id initiator_id network_id token_id amount counterparty_id',
    notCovered: {
      'the ledger has the operation of each entry sealed': 'type',
      'the owner of its address, who is compared': 'owner_id',
      'the facts of the decision have it, and their hash is compared':
        'usd_rate usd_rate_as_of usd_rate_source usd_value counterparty_kind counterparty_name counterparty_address_id',
      [evidence]: 'payment_purpose note tags usd_rate_added_at',
      'the ledger verifier compares it with the entry of the fee': 'fee_amount',
      'what a booked fee was worth, for reports; no decision reads it':
        'fee_booked_at fee_usd_rate fee_usd_rate_as_of fee_usd_rate_source fee_usd_value',
      [chain]: 'tx_hash confirmed_at blockchain_at',
      'follows from both addresses': 'flow_type',
      [times]: 'created_at updated_at',
    },
  },
  transfers: {
    by: ['transfers'],
    compared:
      'vault_id id to_address to_address_key contract_address payload payload_hash decision phase payout_id payout_row ' +
      'external_id is_replaced fee_level max_fee expires_at',
    notCovered: {
      'the address of this vault that the recipient is, which is compared': 'to_address_id',
      [votes]: 'decision_policy_id decision_policy_code decision_policy_name approval_threshold',
      [chain]: 'wallet_tx_hash tx_index replaced_tx_hashes fee fee_token_id fee_owed fee_address_id',
      [delivery]: 'sent_at stuck_since replacement_due',
      [looks]: 'failure_reason halt_reason',
      [times]: 'created_at',
    },
  },
  transfer_hashes: { by: 'ledger', compared: 'vault_id tx_hash created_at id', notCovered: {} },
  unconfirmed_transfers: { by: 'ledger', compared: 'vault_id status created_at id', notCovered: {} },
  deliveries: { notCovered: { [delivery]: 'vault_id id queue next_attempt_at attempts asked' } },
  followings: {
    notCovered: {
      'how far news of the wallet service was read; each transfer is also asked about by its id':
        'vault_id cursor since heard_at ask_at fruitless found_by_question strangers',
    },
  },
  payouts: {
    by: ['payouts'],
    compared: 'vault_id id name payment_purpose initiator_id status rows_count sums payload_hash replaces replaced_by',
    notCovered: {
      [votes]: 'decision decision_policy_id decision_policy_code decision_policy_name approval_threshold',
      'until when it may be voted on; each vote is compared': 'expires_at',
      [looks]: 'halt_reason',
      [times]: 'resolved_at created_at updated_at',
    },
  },
  deposits: {
    by: ['deposits'],
    compared: 'vault_id id address_id token_id tx_hash tx_index',
    notCovered: {
      'the ledger has it sealed with the entry': 'from_address orphaned_at',
      [keys]: 'occurrence',
      [times]: 'created_at',
    },
  },
  wallet_events: {
    by: ['deposits'],
    compared: 'body network outcome vault_id deposit_id',
    notCovered: {
      [keys]: 'id',
      'waits for two people, who see the body': 'quarantined quarantine_key reason',
      'follows from the body': 'address_key',
      'which secret signed it; the body is compared': 'signed_by',
      [times]: 'received_at',
    },
  },
  deposit_orphans: {
    notCovered: {
      'the ledger has its entries': 'vault_id id deposit_id address_id token_id occurrence amount taken',
      [times]: 'created_at returned_at',
    },
  },
  exposure_covers: {
    notCovered: { 'the ledger has its entries': 'vault_id id address_id token_id amount', [times]: 'created_at' },
  },
  adjustments: {
    by: 'ledger',
    compared: 'vault_id id token_id amount',
    notCovered: {
      'the account of its entry is compared': 'address_id',
      'in the record; the role of the service cannot change an adjustment': 'reason created_by_id created_at',
    },
  },
  ledger_accounts: {
    by: 'ledger',
    compared: 'vault_id token_id address_id purpose balance last_entry_at exposure',
    notCovered: { [keys]: 'id number', [times]: 'created_at' },
  },
  ledger_entries: {
    by: 'ledger',
    compared:
      'vault_id kind token_id operation_id debit_account credit_account amount debit_balance credit_balance created_at',
    notCovered: { [keys]: 'sequence' },
  },
  ledger_seals: {
    by: 'ledger',
    compared: 'chain format previous_hash record_ids record_hashes root hash public_key signature sealed_at',
    notCovered: { [keys]: 'sequence' },
  },
  ledger_totals: {
    by: 'ledger',
    compared: 'vault_id token_id available reserved',
    notCovered: {},
  },
  ledger_unsealed: {
    by: 'ledger',
    compared: 'vault_id sequence',
    notCovered: { [times]: 'created_at' },
  },
  ledger_verifications: {
    notCovered: {
      'what somebody asked to verify, with its result; the command verifies anew':
        'vault_id id requester_id state attempt leased_until failure findings created_at started_at finished_at',
    },
  },
  reconciliations: {
    notCovered: {
      'how far the comparison with the chain is':
        'vault_id next_at leased_until attempt after_address_id after_token_id started_at finished_at',
    },
  },
  reconciliation_differences: {
    notCovered: {
      'what differed from the chain; the next comparison finds it again':
        'vault_id address_id token_id difference announced first_seen_at seen_at',
    },
  },

  // The record
  audit_records: {
    by: 'audit',
    compared: 'chain id actor_id action target_type target_id created_at content hash mac seal_sequence',
    notCovered: {},
  },
  audit_seals: {
    by: 'audit',
    compared: 'chain sequence format previous_hash record_ids record_hashes root hash public_key signature sealed_at',
    notCovered: {},
  },
  sealing_key: {
    notCovered: { 'the start refuses a key that is not the one of the settings': 'only_row key_id format sealed_at' },
  },
  witnesses: {
    notCovered: {
      'when a witness gets the heads; it says itself what it has':
        'target delivered_at due_at next_attempt_at attempts',
    },
  },

  // Tables that no decision reads
  announcements: { notCovered: { [unread]: 'chain audit_record_id content created_at' } },
  notifications: {
    notCovered: {
      [unread]: 'vault_id subject_id subject_type user_id kind attempts next_attempt_at sent_at mail_id created_at',
    },
  },
  heartbeats: { notCovered: { [unread]: 'node at confirmed_at' } },
  queued_mails: { notCovered: { [unread]: 'id request attempts next_attempt_at created_at' } },
  changes: { notCovered: { [unread]: 'vault_id kind id changed_at xid sequence' } },
  idempotency_keys: {
    notCovered: {
      'the answer to a repeated request, sealed for its caller': 'caller_id key fingerprint status body created_at',
    },
  },
  operation_relations: {
    notCovered: {
      [unread]:
        'vault_id id source_operation_type source_operation_id source_address_id target_operation_type target_operation_id ' +
        'relation_type related_amount token_id comment created_by_id created_at',
    },
  },
  operation_relation_readers: { notCovered: { [unread]: 'vault_id user_id relation_created_at relation_id' } },
  backtests: {
    notCovered: {
      [unread]:
        'vault_id id requester_id state attempt leased_until failure policies from_at to_at decisions_count evaluated_count ' +
        'result created_at started_at finished_at moves request_id',
    },
  },
  backtest_changes: { notCovered: { [unread]: 'vault_id backtest_id subject_type subject_id change created_at' } },
  report_exports: {
    notCovered: {
      [unread]:
        'vault_id id requester_id report_type format parameters state percent attempt leased_until failure size_bytes ' +
        'seen_whole_vault seen_group_ids seen_shared_ids seen_category_rights created_at started_at finished_at expires_at ' +
        'sha256 file_kind',
    },
  },
  report_export_chunks: { notCovered: { [unread]: 'vault_id export_id attempt position bytes' } },
}
