import type { Backtest, BacktestOrder, PolicyListItem } from '@strongroom/sdk'
import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query'
import { strongroom, vaultOf } from '../../lib/api.ts'
import { endOfDay, startOfDay } from '../../lib/day.ts'
import { t } from '../../lib/language.ts'
import type { Option } from '../../ui/set-picker.tsx'
import { type GroupWithMembers, groupsQuery, membersQuery, type Person } from '../people/queries.ts'
import type { Named } from './selectors.ts'
import type { Names } from './words.ts'

async function itemsOf<Item>(pages: AsyncIterable<Item>, limit = 2_000): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of pages) {
    items.push(item)
    if (items.length >= limit) break
  }
  return items
}

export const policiesQuery = (code: string) =>
  queryOptions({
    queryKey: ['policies', code, 'list'],
    queryFn: ({ signal }): Promise<PolicyListItem[]> =>
      itemsOf(vaultOf(code).policies.list({ limit: 100 }, { signal })),
  })

export const selectorsQuery = (code: string) =>
  queryOptions({
    queryKey: ['policies', code, 'selectors'],
    queryFn: ({ signal }) => vaultOf(code).policies.listSelectors({ signal }),
    staleTime: 3_600_000,
  })

/** The request of a backtest. `until` is null for a voter: then the period ends when the votes were requested. */
export type Backtested = { tried: Pick<BacktestOrder, 'draft' | 'changeSetId'>; from: string; until: string | null }

/** Starts a backtest: the service decides the past requests of a period again. */
export const askBacktest = (code: string, { tried, from, until }: Backtested): Promise<Backtest> =>
  vaultOf(code).policies.backtest({
    ...tried,
    from: startOfDay(from),
    ...(until === null ? {} : { to: endOfDay(until) }),
  })

const isUnderWay = (backtest: Backtest | undefined) => backtest?.status === 'queued' || backtest?.status === 'running'

/** Reads a backtest until it has ended. `firstAnswer` is the answer to the call that started it. */
export const backtestQuery = (code: string, firstAnswer: Backtest | undefined) =>
  queryOptions({
    queryKey: ['backtest', code, firstAnswer?.id],
    queryFn: ({ signal }) => vaultOf(code).policies.getBacktest(firstAnswer!.id, { signal }),
    enabled: isUnderWay(firstAnswer),
    initialData: firstAnswer,
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? 1_000 : false),
  })

/** Reads the decisions that would change. */
export const backtestChangesQuery = (code: string, backtest: Backtest) =>
  infiniteQueryOptions({
    queryKey: ['backtest', code, backtest.id, 'changes'],
    queryFn: ({ pageParam, signal }) =>
      vaultOf(code)
        .policies.listBacktestChanges(
          backtest.id,
          { limit: 20, ...(pageParam === '' ? {} : { cursor: pageParam }) },
          { signal },
        )
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
  })

type Choices = Record<Named, Option[]>

/**
 * Reads everything that conditions can name, for choices and for sentences. At most 2,000 of a kind are read; others
 * appear by their id.
 */
const choicesQuery = (code: string) =>
  queryOptions({
    queryKey: ['policies', code, 'choices'],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Omit<Choices, 'member' | 'policy_group'>> => {
      const vault = vaultOf(code)
      const [thisVault, tokens, addresses, folders, counterparties, counterpartyGroups, categories] = await Promise.all(
        [
          vault.get({ signal }),
          itemsOf(strongroom.tokens.list({ limit: 100 }, { signal })),
          itemsOf(vault.addresses.list({ limit: 100 }, { signal })),
          itemsOf(vault.addressGroups.list({ limit: 100 }, { signal })),
          itemsOf(vault.counterparties.list({ limit: 100 }, { signal })),
          itemsOf(vault.counterpartyGroups.list({ limit: 100 }, { signal })),
          itemsOf(vault.operationCategories.list({ limit: 100 }, { signal })),
        ],
      )
      const slugs = thisVault.networks.map(({ slug }) => slug)
      const codes = new Set(tokens.filter(({ network }) => slugs.includes(network)).map((token) => token.code))
      return {
        token: [...codes].toSorted().map((tokenCode) => ({ id: tokenCode, name: tokenCode })),
        network: thisVault.networks.map(({ slug, name }) => ({ id: slug, name })),
        address: addresses.map(({ id, label, address }) => ({
          id,
          name: label === null ? address : `${label} (${address})`,
        })),
        address_group: folders.map(({ id, name }) => ({ id, name })),
        route_variant: thisVault.routes.flatMap((route) =>
          route.variants.map((variant) => ({
            id: `${route.code}/${variant.code}`,
            name: `${route.name}: ${variant.name}`,
          })),
        ),
        counterparty: counterparties.map(({ id, name }) => ({ id, name })),
        counterparty_group: counterpartyGroups.map(({ id, name }) => ({ id, name })),
        category: categories.map(({ key, name }) => ({ id: key, name })),
      }
    },
  })

export type Vocabulary = {
  choices: Choices
  names: Names
  groups: GroupWithMembers[]
  members: Person[]
  /** The members of each group; `everyone` contains all members. */
  memberIds: ReadonlyMap<string, readonly string[]>
  everyoneId: string | null
}

/** Returns the names of everything that policies refer to. Undefined until people and groups are known. */
export function useVocabulary(code: string) {
  const groups = useQuery(groupsQuery(code))
  const members = useQuery(membersQuery(code))
  const things = useQuery(choicesQuery(code))
  const failed = [groups, members, things].find(({ isError }) => isError)
  const loading = {
    isPending: groups.isPending || members.isPending || things.isPending,
    isError: failed !== undefined,
    error: failed?.error,
    refetch: () => Promise.all([groups.refetch(), members.refetch(), things.refetch()]),
  }
  const vocabulary =
    groups.data === undefined || members.data === undefined || things.data === undefined
      ? undefined
      : vocabularyOf(groups.data, members.data, things.data)
  return { loading, vocabulary }
}

function vocabularyOf(
  groups: GroupWithMembers[],
  members: Person[],
  things: Omit<Choices, 'member' | 'policy_group'>,
): Vocabulary {
  const choices: Choices = {
    ...things,
    member: members.map(({ userId, name }) => ({ id: userId, name })),
    policy_group: groups.map(({ id, name }) => ({ id, name })),
  }
  const everyone = groups.find(({ isSystem, code }) => isSystem && code === 'everyone')
  return {
    ...{ choices, groups, members },
    names: (kind, id) => choices[kind].find((choice) => choice.id === id)?.name ?? nameless(kind, id),
    everyoneId: everyone?.id ?? null,
    memberIds: new Map(
      groups.map((group) => [
        group.id,
        group === everyone ? members.map(({ userId }) => userId) : group.memberships.map(({ userId }) => userId),
      ]),
    ),
  }
}

/** Describes a person who has left, or an object that was deleted. */
function nameless(kind: Named, id: string): string {
  return kind === 'member' ? t('a former member ({id})', { id }) : id
}
