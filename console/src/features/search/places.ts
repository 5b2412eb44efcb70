import type { FoundItem } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'

export type Kind = FoundItem['kind']

/** The headings of what was found. */
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

/** The page that shows what was found, below /v/{code}. A person has none of their own, and a folder is a filter. */
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
