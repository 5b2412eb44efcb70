import type { CheckedRecipient } from '@strongroom/sdk'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { vaultOf } from './api.ts'
import { useDebounced } from './debounced.ts'
import { type FindChecked, isAddressLike, type Recipient } from './recipient.ts'

/** A request asks about at most this many addresses. */
const askedMax = 1_000
const lineOf = ({ network, address }: Recipient) => `${network} ${address}`

/** Compares addresses with all that the viewer knows: the address book, the addresses of the vault and past payments. */
function recipientsQuery(code: string, lines: readonly string[]) {
  return queryOptions({
    queryKey: ['recipient-check', code, lines],
    queryFn: async ({ signal }) => {
      const found = new Map<string, CheckedRecipient>()
      for (let first = 0; first < lines.length; first += askedMax) {
        const batch = lines.slice(first, first + askedMax)
        const recipients = batch.map((line) => {
          const [network, address] = line.split(' ') as [string, string]
          return { network, address }
        })
        const { items } = await vaultOf(code).recipients.check({ recipients }, { signal })
        items.forEach((item, index) => {
          found.set(batch[index]!, item)
        })
      }
      return found
    },
    enabled: lines.length > 0,
    staleTime: 30_000,
  })
}

/** Asks about the addresses of a list, once for each, while it is edited. */
export function useRecipientCheck(
  code: string,
  recipients: readonly Recipient[],
): { find: FindChecked; error: unknown } {
  const checkable = recipients.filter(({ network, address }) => network !== '' && isAddressLike(address))
  const text = useDebounced([...new Set(checkable.map(lineOf))].join('\n'))
  const query = recipientsQuery(code, text === '' ? [] : text.split('\n'))
  const { data, error } = useQuery({ ...query, placeholderData: keepPreviousData })
  return { find: (recipient) => data?.get(lineOf(recipient)) ?? null, error }
}
