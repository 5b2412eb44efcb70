import type { FoundItem } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'

export type Kind = FoundItem['kind']

/** Returns the headings of the results. */
export function kindWords(): Record<Kind, string> {
  return {
    address: t('Addresses'),
    address_group: t('Folders'),
    counterparty: t('Address book'),
    transfer: t('Transfers'),
    deposit: t('Deposits'),
    policy: t('Policies'),
    person: t('People'),
    category: t('Categories'),
  }
}

/** Returns the page of a result, below /v/{code}. A person has no page, and a folder is a filter of the addresses. */
export function placeOf({ kind, id }: Pick<FoundItem, 'kind' | 'id'>): { path: string; search?: { folder: string } } {
  const places: Record<Kind, { path: string; search?: { folder: string } }> = {
    address: { path: `/addresses/${id}` },
    address_group: { path: '/addresses', search: { folder: id } },
    counterparty: { path: `/address-book/${id}` },
    transfer: { path: `/transfers/${id}` },
    deposit: { path: `/deposits/${id}` },
    policy: { path: `/policies/${id}` },
    person: { path: '/people' },
    category: { path: `/categories/${id}` },
  }
  return places[kind]
}
