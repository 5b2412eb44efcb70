import { type Member, type PolicyGroup, StrongroomError } from '@strongroom/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { sessionQuery } from '../../lib/session.ts'

/** The keys of everything about people and groups. Invalidating `['people', code]` renews all of it. */
const keys = {
  groups: (code: string) => ['people', code, 'groups'] as const,
  members: (code: string) => ['people', code, 'members'] as const,
  invitations: (code: string) => ['people', code, 'invitations'] as const,
  tokens: (code: string) => ['people', code, 'service-tokens'] as const,
}

export type GroupWithMembers = PolicyGroup

export type Person = Member

async function itemsOf<Item>(pages: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of pages) items.push(item)
  return items
}

/** Reads every policy group of the vault with its members. Groups are few. */
export const groupsQuery = (code: string) =>
  queryOptions({
    queryKey: keys.groups(code),
    queryFn: async ({ signal }): Promise<GroupWithMembers[]> => {
      const vault = vaultOf(code)
      const groups = await itemsOf(vault.policyGroups.list({ limit: 100 }, { signal }))
      return Promise.all(groups.map(({ id }) => vault.policyGroups.get(id, { signal })))
    },
  })

/** Reads the people and services of the vault. Many forms offer them as choices, so all are loaded. */
export const membersQuery = (code: string) =>
  queryOptions({
    queryKey: keys.members(code),
    queryFn: ({ signal }): Promise<Person[]> => itemsOf(vaultOf(code).members.list({ limit: 100 }, { signal })),
  })

export const invitationsQuery = (code: string) =>
  queryOptions({
    queryKey: keys.invitations(code),
    queryFn: ({ signal }) => vaultOf(code).invitations.list({}, { signal }),
  })

export const serviceTokensQuery = (code: string) =>
  queryOptions({
    queryKey: keys.tokens(code),
    queryFn: ({ signal }) => itemsOf(vaultOf(code).serviceTokens.list({ limit: 100 }, { signal })),
  })

/** Returns true if the reader administers the vault, and false until that is known. */
export function useIsAdmin(code: string): boolean {
  const { data: session } = useQuery(sessionQuery)
  return session?.vaults.find((vault) => vault.code === code)?.isAdmin ?? false
}

/** Adds and removes members one after the other. A change that an earlier, interrupted attempt made is not an error. */
export async function changeMembership(
  code: string,
  change: {
    added: readonly [groupId: string, userId: string][]
    removed: readonly [groupId: string, userId: string][]
  },
): Promise<void> {
  const { policyGroups } = vaultOf(code)
  const unless = (reason: string) => (error: unknown) => {
    if (!(error instanceof StrongroomError && error.reason === reason)) throw error
  }
  // Additions come first: a person who changes group stays a member all the time.
  for (const [id, userId] of change.added) await policyGroups.addMember(id, { userId }).catch(unless('already_exists'))
  for (const [id, userId] of change.removed) await policyGroups.removeMember(id, userId).catch(unless('not_found'))
}
