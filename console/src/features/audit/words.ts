import { t } from '../../lib/language.ts'

/** What happened, in words: "policy.updated" is "Policy: changed". */
export function actionWords(action: string): string {
  if (action === 'hold.released') return `${nounWord('hold')}: ${t('lifted')}`
  const [noun = '', verb = ''] = action.split('.')
  return `${nounWord(noun)}: ${verbWord(verb)}`
}

export function nounWord(noun: string): string {
  const words: Record<string, () => string> = {
    action: () => t('Decision of the policies'),
    address: () => t('Address'),
    address_group: () => t('Folder'),
    approval_request: () => t('Request'),
    category: () => t('Category'),
    category_assignment: () => t('Category of an operation'),
    counterparty: () => t('Counterparty'),
    counterparty_group: () => t('Group of counterparties'),
    deposit: () => t('Deposit'),
    hold: () => t('Hold'),
    invitation: () => t('Invitation'),
    ledger: () => t('Books'),
    member: () => t('Membership'),
    membership: () => t('Membership'),
    network: () => t('Network'),
    operation: () => t('Operation'),
    operator: () => t('Operator'),
    payout: () => t('Batch'),
    platform_admin: () => t('Platform administrator'),
    policy: () => t('Policy'),
    policy_group: () => t('Group'),
    relation: () => t('Relation'),
    report: () => t('Report'),
    service_token: () => t('Service token'),
    session: () => t('Session'),
    token: () => t('Token'),
    transfer: () => t('Transfer'),
    user: () => t('Person'),
    variant: () => t('Variant'),
    vault: () => t('Vault'),
  }
  return words[noun]?.() ?? plain(noun)
}

function verbWord(verb: string): string {
  const words: Record<string, () => string> = {
    accepted: () => t('accepted'),
    added: () => t('added'),
    adjusted: () => t('adjusted'),
    allowed: () => t('allowed'),
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
    released: () => t('handed over'),
    removed: () => t('removed'),
    requested: () => t('ordered'),
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
    voted: () => t('vote given'),
  }
  return words[verb]?.() ?? plain(verb)
}

function plain(name: string): string {
  return name.replaceAll('_', ' ')
}

/** Actions that a filter offers; any other can be written. */
export const actions = [
  'transfer.requested',
  'transfer.approved',
  'transfer.rejected',
  'transfer.confirmed',
  'transfer.failed',
  'transfer.cancelled',
  'transfer.halted',
  'action.allowed',
  'action.refused',
  'approval_request.created',
  'approval_request.voted',
  'approval_request.applied',
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
] as const
