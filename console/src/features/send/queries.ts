import type { Address, Counterparty, TransferOrder } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { addressKey, endsOf, looksLike } from '../../lib/recipient.ts'

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
export type RecipientCheck = { same: KnownAddress | null; lookAlikes: KnownAddress[] }

/**
 * Compares a pasted address with all addresses that the caller may see: the address book, and the addresses of the
 * vault.
 */
export function recipientCheckQuery(code: string, address: string | null) {
  return queryOptions({
    queryKey: ['recipient-check', code, address],
    queryFn: ({ signal }) => checkRecipient(code, address!, signal),
    enabled: address !== null,
  })
}

async function checkRecipient(code: string, address: string, signal: AbortSignal): Promise<RecipientCheck> {
  const { first, last } = endsOf(address)
  const found = await Promise.all([address, first, last].map((search) => findKnown(code, search, signal)))
  const known = new Map(found.flat().map((entry) => [addressKey(entry.address), entry]))
  const same = known.get(addressKey(address)) ?? null
  const lookAlikes = same === null ? [...known.values()].filter((entry) => looksLike(entry.address, address)) : []
  return { same, lookAlikes }
}

async function findKnown(code: string, search: string, signal: AbortSignal): Promise<KnownAddress[]> {
  const vault = vaultOf(code)
  const [book, ofVault] = await Promise.all([
    vault.counterparties.list({ search, archived: false, limit: 100 }, { signal }).page(),
    vault.addresses.list({ search, access: 'all', limit: 100 }, { signal }).page(),
  ])
  return [...ofVault.items.map(knownOwn), ...book.items.flatMap(knownInBook)]
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
