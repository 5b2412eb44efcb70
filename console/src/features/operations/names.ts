import type { PolicyTrace } from '@strongroom/sdk'
import { queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { allOf } from '../../lib/all.ts'
import { vaultOf } from '../../lib/api.ts'
import { addressQuery, policiesQuery, tokensQuery } from './queries.ts'
import type { NameKind, NameOf } from './trace.ts'

/** Returns the ids in a trace for these selector types, both expected and observed values. */
export function idsIn(trace: readonly PolicyTrace[], selectorTypes: readonly string[]): string[] {
  const selectors = trace.flatMap(({ rules }) => rules.flatMap((rule) => rule.selectors))
  const values = selectors
    .filter(({ selectorType }) => selectorTypes.includes(selectorType))
    .flatMap(({ expected, observed }) => [expected, observed].flat())
  return [...new Set(values.filter((value): value is string => typeof value === 'string'))]
}

/** The form of every id, which a policy may name an address by in place of the address. */
const idForm = /^c[0-9a-z]{24}$/

/**
 * Loads the names of the objects that a trace mentions, and no others. An object that the reader cannot read keeps its
 * id.
 */
export function useTraceNames(code: string, trace: readonly PolicyTrace[], known: Record<string, string>): NameOf {
  const has = (...types: string[]) => idsIn(trace, types).length > 0
  const tokens = useQuery({ ...tokensQuery, enabled: has('token') })
  const groups = useQuery({ ...policyGroupsQuery(code), enabled: has('initiatorGroup') })
  const folders = useQuery({ ...foldersQuery(code), enabled: has('addressGroup') })
  const circles = useQuery({ ...counterpartyGroupsQuery(code), enabled: has('counterpartyGroup') })
  const policies = useQuery(policiesQuery(code))
  const counterparties = useQueries({
    queries: idsIn(trace, ['counterparty']).map((id) => counterpartyQuery(code, id)),
  })
  const addresses = useQueries({
    queries: idsIn(trace, ['sourceAddress'])
      .filter((id) => idForm.test(id))
      .map((id) => addressQuery(code, id)),
  })
  const lists: Partial<Record<NameKind, { id: string; name: string; code?: string }[] | undefined>> = {
    token: tokens.data?.map(({ id, code, symbol }) => ({ id, code, name: symbol })),
    policyGroup: groups.data,
    folder: folders.data,
    counterpartyGroup: circles.data,
    policy: policies.data,
    counterparty: counterparties.flatMap(({ data }) => data ?? []),
    address: addresses
      .flatMap(({ data }) => data ?? [])
      .map(({ id, label, address }) => ({ id, name: label ?? address })),
  }
  return (kind, id) => lists[kind]?.find((entry) => entry.id === id || entry.code === id)?.name ?? known[id] ?? id
}

function policyGroupsQuery(code: string) {
  return queryOptions({
    queryKey: ['policy-groups', code, 'names'],
    queryFn: ({ signal }) => allOf(vaultOf(code).policyGroups.list({ limit: 100 }, { signal })),
    staleTime: 300_000,
  })
}

function foldersQuery(code: string) {
  return queryOptions({
    queryKey: ['address-groups', code, 'names'],
    queryFn: ({ signal }) => allOf(vaultOf(code).addressGroups.list({ limit: 100 }, { signal })),
    staleTime: 300_000,
  })
}

function counterpartyGroupsQuery(code: string) {
  return queryOptions({
    queryKey: ['counterparty-groups', code, 'names'],
    queryFn: ({ signal }) => allOf(vaultOf(code).counterpartyGroups.list({ limit: 100 }, { signal })),
    staleTime: 300_000,
  })
}

function counterpartyQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['counterparties', code, id],
    queryFn: ({ signal }) => vaultOf(code).counterparties.get(id, { signal }),
    staleTime: 300_000,
  })
}
