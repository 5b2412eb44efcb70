import { t } from '../../lib/language.ts'

/** Describes an action in words: "policy.updated" is "Policy: changed". */
export function actionWords(action: string): string {
  const [noun = '', verb = ''] = action.split('.')
  return `${nounWord(noun)}: ${wholeActions()[action]?.() ?? verbWord(verb)}`
}

/** Actions whose verb has another meaning with another noun. */
function wholeActions(): Words {
  return {
    'hold.released': () => t('lifted'),
    // The last vote releases a transfer, which is handed over later.
    'transfer.released': () => t('approved, queued for delivery'),
  }
}

export function nounWord(noun: string): string {
  const words: Record<string, () => string> = {
    action: () => t('Decision of the policies'),
    address: () => t('Address'),
    address_group: () => t('Folder'),
    approval_request: () => t('Request'),
    category: () => t('Category'),
    category_assignment: () => t('Category of an operation'),
    change_set: () => t('Change set'),
    counterparty: () => t('Counterparty'),
    counterparty_group: () => t('Group of counterparties'),
    deposit: () => t('Deposit'),
    governance: () => t('Governance'),
    hold: () => t('Hold'),
    image: () => t('Image'),
    invitation: () => t('Invitation'),
    ledger: () => t('Books'),
    member: () => t('Membership'),
    membership: () => t('Membership'),
    network: () => t('Network'),
    operation: () => t('Operation'),
    operator: () => t('Operator'),
    passkey: () => t('Passkey'),
    payout: () => t('Payout'),
    platform_admin: () => t('Platform administrator'),
    policies: () => t('Policies'),
    policy: () => t('Policy'),
    policy_group: () => t('Group'),
    reconciliation: () => t('Reconciliation'),
    relation: () => t('Relation'),
    report: () => t('Report'),
    rules: () => t('Rules'),
    screening: () => t('Screening'),
    secrets: () => t('Secrets'),
    service_key: () => t('Key of a service'),
    service_token: () => t('Service token'),
    session: () => t('Session'),
    token: () => t('Token'),
    transfer: () => t('Transfer'),
    user: () => t('Person'),
    variant: () => t('Variant'),
    vault: () => t('Vault'),
    wallet_event: () => t('Message of the wallet service'),
  }
  return words[noun]?.() ?? plain(noun)
}

function verbWord(verb: string): string {
  return (commonVerbs()[verb] ?? rareVerbs()[verb])?.() ?? plain(verb)
}

type Words = Record<string, () => string>

function commonVerbs(): Words {
  return {
    accepted: () => t('accepted'),
    account_key_pinned: () => t('key pinned'),
    added: () => t('added'),
    adjusted: () => t('adjusted'),
    allowed: () => t('allowed'),
    answered: () => t('answered'),
    applied: () => t('carried out'),
    approved: () => t('approved'),
    archived: () => t('archived'),
    assigned: () => t('assigned'),
    blocked: () => t('blocked'),
    cancelled: () => t('cancelled'),
    confirmed: () => t('confirmed'),
    created: () => t('created'),
    deleted: () => t('deleted'),
    denied: () => t('denied'),
    disabled: () => t('disabled'),
    edited: () => t('edited'),
    enabled: () => t('enabled'),
    expired: () => t('expired'),
    exported: () => t('exported'),
    failed: () => t('failed'),
    halted: () => t('halted'),
    locked: () => t('locked'),
    member_added: () => t('member added'),
    member_removed: () => t('member removed'),
    metadata_updated: () => t('notes changed'),
    rate_added: () => t('rate added'),
    rate_confirmed: () => t('rate confirmed'),
    placed: () => t('placed'),
    rate_held: () => t('rate held back'),
    rate_recorded: () => t('rate recorded'),
    rate_rejected: () => t('rate rejected'),
    refused: () => t('refused'),
    rejected: () => t('rejected'),
    removed: () => t('removed'),
  }
}

function rareVerbs(): Words {
  return {
    requested: () => t('ordered'),
    replaced: () => t('transaction replaced'),
    speed_up_requested: () => t('sped up'),
    cancel_on_chain_requested: () => t('cancelled on chain'),
    max_fee_raised: () => t('higher fee permitted'),
    replacement_refused: () => t('replacement refused'),
    fee_above_limit: () => t('fee above its limit'),
    revoked: () => t('ended'),
    shared: () => t('shared'),
    sign_in_link_created: () => t('sign-in link created'),
    signed_in: () => t('signed in'),
    signed_out: () => t('signed out'),
    unassigned: () => t('unassigned'),
    unshared: () => t('no longer shared'),
    updated: () => t('changed'),
    vetoed: () => t('vetoed'),
    wallet_refused: () => t('new wallet service refused'),
    approvers_replaced: () => t('approvers changed'),
    backtested: () => t('tried on history'),
    bound: () => t('bound'),
    credited: () => t('credited'),
    differs: () => t('differs'),
    dismissed: () => t('dismissed'),
    grants_replaced: () => t('rights changed'),
    orphaned: () => t('lost by the chain'),
    protection_updated: () => t('protection changed'),
    authority_seen: () => t('authority seen'),
    halt_lifted: () => t('halt lifted'),
    authority_fell: () => t('authority went back'),
    authority_accepted: () => t('authority accepted'),
    authority_pending: () => t('next authority waits'),
    authority_cancelled: () => t('next authority cancelled'),
    renamed: () => t('renamed'),
    reset: () => t('reset'),
    resumed: () => t('resumed'),
    returned: () => t('came back'),
    rotated: () => t('replaced'),
    scheduled: () => t('waits for its time'),
    started: () => t('started'),
    structure_replaced: () => t('structure changed'),
    uploaded: () => t('uploaded'),
    verification_started: () => t('verification started'),
    voted: () => t('vote given'),
  }
}

function plain(name: string): string {
  return name.replaceAll('_', ' ')
}

/** Actions that a filter offers; any other action can be typed. */
export const actions = [
  'transfer.requested',
  'transfer.approved',
  'transfer.rejected',
  'transfer.confirmed',
  'transfer.failed',
  'transfer.cancelled',
  'transfer.halted',
  'transfer.replaced',
  'transfer.speed_up_requested',
  'transfer.cancel_on_chain_requested',
  'transfer.max_fee_raised',
  'transfer.fee_above_limit',
  'action.allowed',
  'action.refused',
  'approval_request.created',
  'approval_request.voted',
  'approval_request.applied',
  'hold.placed',
  'hold.released',
  'screening.answered',
  'policy.created',
  'policy.updated',
  'policy.deleted',
  'policy_group.created',
  'policy_group.updated',
  'membership.added',
  'membership.removed',
  'member.removed',
  'invitation.created',
  'invitation.accepted',
  'service_token.created',
  'service_token.revoked',
  'address.created',
  'address.shared',
  'counterparty.created',
  'counterparty.updated',
  'category.updated',
  'ledger.adjusted',
  'report.exported',
  'user.disabled',
  'user.enabled',
  'user.signed_in',
  'user.signed_out',
  'vault.updated',
  'vault.wallet_refused',
  'vault.account_key_pinned',
  'vault.protection_updated',
  'vault.authority_seen',
  'vault.halted',
  'vault.halt_lifted',
  'vault.authority_fell',
  'vault.authority_accepted',
  'vault.authority_pending',
  'vault.authority_cancelled',
] as const
