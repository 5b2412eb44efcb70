import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { Objection } from '../../../lib/errors.ts'

/**
 * A token that the platform enables widens what members of a vault may pay. A vault with governance decides about that itself:
 * the token is withheld from it until it accepts the token.
 */
export async function withholdToken(trx: Trx, tokenId: string, now: Date): Promise<void> {
  await sql`
    insert into withheld_tokens (vault_id, token_id, created_at)
    select vn.vault_id, t.id, ${now} from tokens t
    join vault_networks vn on vn.network_id = t.network_id
    join governance g on g.vault_id = vn.vault_id and g.threshold > 0
    where t.id = ${tokenId}
    on conflict do nothing`.execute(trx)
}

/** Returns whether the token was withheld. */
export async function acceptToken(trx: Trx, vaultId: string, tokenId: string): Promise<boolean> {
  const { rows } = await sql`
    delete from withheld_tokens where vault_id = ${vaultId} and token_id = ${tokenId} returning 1`.execute(trx)
  return rows.length > 0
}

/** SQL: whether the vault may not use the token yet. */
export const isWithheld = (vaultId: RawBuilder<unknown>, tokenId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`exists (select from withheld_tokens withheld where withheld.vault_id = ${vaultId}
    and withheld.token_id = ${tokenId})`

/** `code` is left out where the token is not named. */
export const objectionOfToken = ({
  code,
  isEnabled,
}: {
  code?: string
  isEnabled: boolean
}): Objection<'disabled'> | null =>
  isEnabled ? null : { reason: 'disabled', message: `The token${code === undefined ? '' : ` ${code}`} is disabled` }

export type WithheldTokenRow = { tokenId: string; code: string; name: string; network: string; createdAt: Date }

/** The tokens that wait for the vault to accept them, the newest first; few, because enabling one is rare. */
export async function listWithheld(db: Db, vaultId: string): Promise<WithheldTokenRow[]> {
  const { rows } = await sql<WithheldTokenRow>`
    select t.id as "tokenId", t.code, t.name, n.slug as network, w.created_at as "createdAt"
    from withheld_tokens w join tokens t on t.id = w.token_id join networks n on n.id = t.network_id
    where w.vault_id = ${vaultId} order by w.created_at desc, t.id desc limit 100`.execute(db)
  return rows
}

/** Whether a vault with governance uses the token: then nobody sets its rate alone. */
export async function isUsedUnderGovernance(trx: Trx, tokenId: string): Promise<boolean> {
  const { rows } = await sql`
    select from tokens t join vault_networks vn on vn.network_id = t.network_id
    join governance g on g.vault_id = vn.vault_id and g.threshold > 0
    where t.id = ${tokenId} limit 1`.execute(trx)
  return rows.length > 0
}
