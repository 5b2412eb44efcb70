import { sql } from 'kysely'
import type { Deps } from '../../../deps.ts'
import { providerWatchMinutes } from '../../../lib/limits.ts'
import { ProviderError } from './provider-error.ts'
import { findProvider } from './queries.ts'
import { readAnew } from './relying-party.ts'

/**
 * Reads metadata and keys of each active provider that no node has read for five minutes, so that operators learn of a provider
 * that does not answer before people try to sign in.
 */
export async function watchProviders(deps: Pick<Deps, 'db' | 'clock' | 'config' | 'sealer' | 'log'>): Promise<void> {
  const { db, clock, log } = deps
  for (const id of await claimDue(deps)) {
    const provider = await findProvider(db, id)
    if (provider === null) continue
    const failure = await readAnew(deps, provider).then(
      () => null,
      (error: unknown) => ProviderError.of(error).reason,
    )
    if (failure !== null) log.warn({ providerId: id, reason: failure }, 'an identity provider does not answer as one')
    const now = clock()
    await db
      .updateTable('identity_provider_reads')
      .set(
        failure === null
          ? { read_at: now, failing_since: null }
          : { failing_since: sql<Date>`coalesce(failing_since, ${now})` },
      )
      .where('provider_id', '=', id)
      .execute()
  }
}

/** Claims the providers that are due, so that no other node reads them, too. Returns their ids. */
async function claimDue({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<string[]> {
  const now = clock()
  const { rows } = await sql<{ id: string }>`
    insert into identity_provider_reads as r (provider_id, asked_at)
    select id, ${now} from identity_providers where status = 'active' order by id
    on conflict (provider_id) do update set asked_at = excluded.asked_at
      where r.asked_at <= ${new Date(now.getTime() - providerWatchMinutes * 60_000)}
    returning r.provider_id as id`.execute(db)
  return rows.map(({ id }) => id)
}
