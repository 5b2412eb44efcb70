import type { Hold } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'

export type SubjectType = Hold['subjectType']

export const subjectTypes: readonly SubjectType[] = ['address', 'vault', 'deposit', 'counterparty', 'transfer', 'user']

export function subjectWord(type: SubjectType): string {
  const words: Record<SubjectType, string> = {
    address: t('Address'),
    vault: t('Vault'),
    deposit: t('Deposit'),
    counterparty: t('Counterparty'),
    transfer: t('Transfer'),
    user: t('Person or service'),
  }
  return words[type]
}

/** Describes the effect of a hold in a sentence. It is shown before a hold is placed, and on the page of the subject. */
export function effectOf(type: SubjectType): string {
  const words: Record<SubjectType, string> = {
    address: t('Nothing is ordered from this address or to it, and what waits is neither voted on nor sent.'),
    vault: t('Nothing is ordered, voted on or sent in this vault.'),
    deposit: t('What is still available of this deposit is reserved and cannot be spent.'),
    counterparty: t('This counterparty is not paid and not changed.'),
    transfer: t('This transfer keeps its funds and is neither voted on nor sent.'),
    user: t('They read, order and vote nothing in this vault, and votes that they cast do not count.'),
  }
  return words[type]
}

export function placerOf({ placedBy, origin }: Pick<Hold, 'placedBy' | 'origin'>): string {
  if (origin === 'screening') return t('Strongroom, for the screening')
  return placedBy?.name ?? t('Strongroom itself')
}

/** Returns the page of the subject, or null if it has no page. */
export function pathOf(
  code: string,
  { subjectType, subjectId }: { subjectType: SubjectType; subjectId: string },
): string {
  const paths: Record<SubjectType, string> = {
    address: `addresses/${subjectId}`,
    vault: 'settings',
    deposit: `deposits/${subjectId}`,
    counterparty: `address-book/${subjectId}`,
    transfer: `transfers/${subjectId}`,
    user: 'people',
  }
  return `/v/${code}/${paths[subjectType]}`
}

export function nameOfHeld({ subjectType, subjectName, reserved }: Hold): string {
  if (subjectName !== null) return `${subjectWord(subjectType)} ${subjectName}`
  return reserved === null ? subjectWord(subjectType) : `${subjectWord(subjectType)}, ${reserved.asset}`
}
