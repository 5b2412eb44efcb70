import type { Address, Counterparty, TransferOrder } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'

/** Asks for the present decision of the service on an order. Nothing is ordered. */
export function previewQuery(code: string, order: TransferOrder | null) {
  return queryOptions({
    queryKey: ['transfer-preview', code, order],
    queryFn: ({ signal }) => vaultOf(code).transfers.preview(order!, { signal }),
    enabled: order !== null,
    staleTime: 10_000,
    gcTime: 30_000,
  })
}

export type KnownAddress = {
  address: string
  network: string
  name: string
  /** Null for an address of the vault. */
  counterpartyId: string | null
}
function knownOwn({ address, network, label, owner }: Address): KnownAddress {
  return { address, network, name: label ?? owner.name ?? t('Own address'), counterpartyId: null }
}

function knownInBook({ id, name, addresses }: Counterparty): KnownAddress[] {
  return addresses.map(({ address, network, label }) => {
    return { address, network, name: label ? `${name} · ${label}` : name, counterpartyId: id }
  })
}

/** Finds recipients that match the typed text: the address book first, then the addresses of the vault. */
export function recipientSearchQuery(code: string, search: string) {
  return queryOptions({
    queryKey: ['recipient-search', code, search],
    queryFn: async ({ signal }) => {
      const vault = vaultOf(code)
      const text = search === '' ? {} : { search }
      const [book, ofVault] = await Promise.all([
        vault.counterparties.list({ archived: false, limit: 20, ...text }, { signal }).page(),
        vault.addresses.list({ access: 'all', limit: 20, ...text }, { signal }).page(),
      ])
      return [...book.items.flatMap(knownInBook), ...ofVault.items.map(knownOwn)]
    },
  })
}

/** Reads the categories that an order can have: those that need neither values nor votes. */
export function orderCategoriesQuery(code: string) {
  return queryOptions({
    queryKey: ['operation-categories', code, 'of an order'],
    queryFn: async ({ signal }) => {
      const { items } = await vaultOf(code).operationCategories.list({ limit: 100 }, { signal }).page()
      return items.filter(
        ({ archived, appliesTo, approvalScope, fields }) =>
          !archived &&
          appliesTo !== 'deposit' &&
          approvalScope !== 'assign_and_edit' &&
          !fields.some((field) => field.required && !field.archived && field.defaultJson === null),
      )
    },
    staleTime: 60_000,
  })
}
