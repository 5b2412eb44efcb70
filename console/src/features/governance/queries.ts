import type { ChangeSet } from '@strongroom/sdk'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { type Change, groupsOf, withChange } from './draft.ts'

export const governanceQuery = (code: string) =>
  queryOptions({
    queryKey: ['governance', code, 'settings'],
    queryFn: ({ signal }) => vaultOf(code).governance.get({ signal }),
  })

export const changeSetsQuery = (code: string) =>
  infiniteQueryOptions({
    queryKey: ['governance', code, 'sets'],
    queryFn: ({ signal, pageParam }) =>
      vaultOf(code)
        .changeSets.list({ limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

export const changeSetQuery = (code: string, id: string) =>
  queryOptions({
    queryKey: ['governance', code, 'set', id],
    queryFn: ({ signal }) => vaultOf(code).changeSets.get(id, { signal }),
    // Read again, because delays end and other people vote.
    refetchInterval: 10_000,
  })

/** Reads the reader's drafts, to which changes can be added. */
export const ownDraftsQuery = (code: string, userId: string) =>
  queryOptions({
    queryKey: ['governance', code, 'own', userId],
    queryFn: async ({ signal }) => {
      const { items } = await vaultOf(code).changeSets.list({ open: true, limit: 100 }, { signal }).page()
      return items.filter(({ status, authorId }) => status === 'draft' && authorId === userId)
    },
  })

/** Returns the groups that a draft creates before one of its changes, for policies of the same draft. */
export const groupsOfDraft = ({ changes }: ChangeSet, before?: number) => groupsOf(changes, before)

type IntoDraft = { to: string; title: string; change: Change; at?: number | undefined; was?: Change | undefined }

/**
 * Adds a change to a draft, or replaces the change at place `at`, which must still be `was`. If `to` is `new`, a draft
 * is created.
 */
export async function putIntoDraft(code: string, { to, title, change, at, was }: IntoDraft): Promise<ChangeSet> {
  const { changeSets } = vaultOf(code)
  if (to === 'new') return changeSets.create({ title, changes: [change] })
  const set = await changeSets.get(to)
  if (at !== undefined && JSON.stringify(set.changes[at]) !== JSON.stringify(was))
    throw new Error(t('This draft was changed meanwhile. Open it again.'))
  return changeSets.update(to, { title: set.title, changes: withChange(set.changes, change, at) })
}

export const versionsQuery = (code: string) =>
  infiniteQueryOptions({
    queryKey: ['governance', code, 'versions'],
    queryFn: ({ signal, pageParam }) =>
      vaultOf(code)
        .rules.listVersions({ limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })

/** Reads the changes of a version. For the first version, reads its whole content. */
export const versionQuery = (code: string, number: number) =>
  queryOptions({
    queryKey: ['governance', code, 'version', number],
    queryFn: async ({ signal }) => {
      const { rules } = vaultOf(code)
      if (number > 1) return rules.compareVersions(number - 1, { to: number }, { signal })
      const { document } = await rules.getVersion(number, { signal })
      const [...parts] = [
        ...document.groups.map((group) => ({ kind: 'group' as const, ...group })),
        ...document.policies.map((policy) => ({ kind: 'policy' as const, ...policy })),
      ]
      return {
        differences: parts.map(({ kind, ...after }) => ({ kind, id: after.id, name: after.name, before: null, after })),
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

export const withheldQuery = (code: string) =>
  queryOptions({
    queryKey: ['governance', code, 'withheld'],
    queryFn: ({ signal }) => vaultOf(code).withheldTokens.list({ signal }),
  })
