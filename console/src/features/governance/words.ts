import type { ChangeSet, RulesDifference } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import type { Tone } from '../../ui/badge.tsx'
import type { Change } from './draft.ts'

/** Returns the status of a change set as a word. */
export function statusOf(status: ChangeSet['status']): { word: string; tone: Tone } {
  const words: Record<ChangeSet['status'], { word: string; tone: Tone }> = {
    draft: { word: t('Draft'), tone: 'neutral' },
    pending: { word: t('Waits for votes'), tone: 'waiting' },
    scheduled: { word: t('Waits for its time'), tone: 'waiting' },
    applied: { word: t('Applied'), tone: 'good' },
    rejected: { word: t('Rejected'), tone: 'bad' },
    cancelled: { word: t('Cancelled'), tone: 'neutral' },
    expired: { word: t('Expired'), tone: 'neutral' },
    failed: { word: t('Failed'), tone: 'bad' },
    stale: { word: t('Out of date'), tone: 'warn' },
  }
  return words[status]
}

export function directionOf(direction: ChangeSet['direction']): string {
  return direction === 'tightening' ? t('Only stricter') : t('May permit more')
}

export function kindOf(kind: RulesDifference['differences'][number]['kind']): string {
  const words: Record<typeof kind, string> = {
    governance: t('Governance'),
    group: t('Group'),
    policy: t('Policy'),
    invitation: t('Invitation'),
    category: t('Category'),
    wallet: t('Wallet service'),
    token: t('Token'),
    variant: t('Variant'),
    service_key: t('Key of a service'),
    category_rights: t('Rights on a category'),
    folder: t('Folder'),
  }
  return words[kind]
}

/** Describes the action of a change of a draft. */
export function actionOf(action: Change['action']): string {
  const words: Record<Change['action'], string> = {
    policy_group_create: t('New group'),
    policy_group_update: t('Group changed'),
    policy_group_delete: t('Group deleted'),
    policy_group_member_add: t('Person into a group'),
    policy_group_member_remove: t('Person out of a group'),
    policy_create: t('New policy'),
    policy_update: t('Policy changed'),
    policy_delete: t('Policy deleted'),
    member_remove: t('Person removed from the vault'),
    invitation_create: t('Invitation'),
    invitation_revoke: t('Invitation revoked'),
    service_token_create: t('Service token'),
    service_key_add: t('Key of a service'),
    service_key_revoke: t('Key of a service revoked'),
    category_create: t('New category'),
    category_update: t('Category changed'),
    category_approvers_replace: t('Approvers of a category changed'),
    category_grants_replace: t('Grants of a category changed'),
    category_field_add: t('New field of a category'),
    category_field_update: t('Field of a category changed'),
    category_field_delete: t('Field of a category deleted'),
    address_group_update: t('Folder changed'),
    address_group_member_add: t('Address into a folder'),
    address_group_member_remove: t('Address out of a folder'),
    vault_update: t('Vault changed'),
    protection_update: t('Protection of the vault changed'),
    routes_replace: t('Structure of the vault changed'),
    variant_add: t('New variant'),
    variant_update: t('Variant changed'),
    token_accept: t('Token accepted'),
    governance_update: t('Governance changed'),
  }
  return words[action]
}

/** Returns the name of a field of the rules. An unknown field keeps its name of the API. */
export function fieldOf(field: string): string {
  const words: Record<string, string> = {
    actionType: t('Action'),
    addressIds: t('Addresses'),
    appliesTo: t('Applies to'),
    archived: t('Archived'),
    assignScope: t('Who may assign'),
    adminBypass: t('Orders of administrators need no votes'),
    allowInitiatorApproval: t('The initiator may vote, too'),
    approvalScope: t('What waits for votes'),
    approvalThreshold: t('Votes needed'),
    approverGroupId: t('They are of the group'),
    approvers: t('Who may vote'),
    blockReason: t('Message to the initiator'),
    code: t('Short name'),
    contractAddress: t('Contract'),
    decimals: t('Decimals'),
    description: t('Description'),
    dustLimit: t('Dust limit'),
    editScope: t('Who may edit'),
    effect: t('Effect'),
    email: t('E-mail address'),
    enabled: t('In force'),
    groupId: t('Group'),
    grants: t('Grants'),
    groupIds: t('Groups'),
    isSystem: t('Built in'),
    key: t('Short name'),
    looseningDelayHours: t('Hours before what may permit more takes effect'),
    members: t('Members'),
    name: t('Name'),
    network: t('Network'),
    networks: t('Networks it is accepted from'),
    pathId: t('Number in the derivation path'),
    protection: t('Protection'),
    publicKey: t('Public key'),
    requiredFields: t('Fields that need a value'),
    route: t('Route'),
    rules: t('Conditions'),
    scopes: t('Scopes'),
    secretFingerprint: t('Fingerprint of the secret'),
    sensitiveFields: t('Fields that only those see who may edit'),
    sentence: t('Sentence'),
    symbol: t('Symbol'),
    threshold: t('People who must agree, besides the author'),
    tighteningDelayHours: t('Hours before a change set that is only stricter takes effect'),
    tokenId: t('Token'),
    url: t('Address'),
    viewScope: t('Who may view'),
    webhookSecretFingerprint: t('Fingerprint of the secret for webhooks'),
  }
  return words[field] ?? inWords(field)
}

/** Turns "publicKey" into "Public key". */
function inWords(field: string): string {
  const words = field.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
