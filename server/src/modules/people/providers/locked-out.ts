import { sql } from 'kysely'
import type { ByCaller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import { enforcedWithinDays } from '../../../lib/limits.ts'

type Change = {
  /** The provider that would be enforced. */
  enforcing?: string
  /** The person who would no longer be a break-glass person. */
  removing?: string
  by: ByCaller
}

type Administrator = { id: string; email: string; needsNoProvider: boolean; usesProvider: boolean }

/**
 * Refuses a change that platform administrators could not undo: after it, two of them, including the caller, must be able to sign in,
 * one of them without a provider. A person who signed in through a provider within 30 days is able to sign in through it.
 * @throws 409 that names the platform administrators who could not sign in
 */
export async function assertAdministratorsGetIn(trx: Trx, { enforcing, removing, by }: Change): Promise<void> {
  // Two concurrent changes, each harmless alone, could together lock everybody out. Therefore one waits for the other.
  await sql`lock table break_glass_people in share row exclusive mode`.execute(trx)
  const administrators = await listAdministrators(trx, { enforcing, removing, since: daysBefore(by.now) })
  const within = administrators.filter(({ needsNoProvider, usesProvider }) => needsNoProvider || usesProvider)
  const isCallerWithin = within.some(({ id }) => id === by.caller.userId)
  if (within.length >= 2 && isCallerWithin && within.some(({ needsNoProvider }) => needsNoProvider)) return
  const out = administrators.filter((administrator) => !within.includes(administrator)).map(({ email }) => email)
  throw conflict(
    'would_lock_out',
    'After this change two platform administrators, including you, must be able to sign in, one of them without a provider',
    out.length === 0 ? 'Nobody could sign in without a provider' : `Could not sign in: ${out.sort().join(', ')}`,
  )
}

async function listAdministrators(
  trx: Trx,
  { enforcing = null, removing = null, since }: { enforcing?: string | null; removing?: string | null; since: Date },
): Promise<Administrator[]> {
  const { rows } = await sql<Administrator>`
    select u.id, u.email,
      not exists (
        select from identity_providers p
        where (p.enforce or p.id = ${enforcing}) and split_part(u.email, '@', 2) = any(p.domains))
      or exists (
        select from break_glass_people b join passkeys k on k.user_id = b.user_id
        where b.user_id = u.id and b.user_id is distinct from ${removing}) as "needsNoProvider",
      exists (
        select from identities i join identity_providers p on p.issuer = i.issuer and p.status = 'active'
        where i.user_id = u.id and i.last_used_at > ${since} and split_part(u.email, '@', 2) = any(p.domains)
      ) as "usesProvider"
    from users u where u.is_platform_admin and u.disabled_at is null and u.email is not null`.execute(trx)
  return rows
}

const daysBefore = (now: Date): Date => new Date(now.getTime() - enforcedWithinDays * 86_400_000)
