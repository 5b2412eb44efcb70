import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/client.ts'
import type { Objection } from '../../../lib/errors.ts'

/**
 * Withholds a newly enabled token from the vaults with governance until they accept it. A new token permits new payments in a vault,
 * and a vault with governance decides about that itself.
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

/** Accepts a token for a vault. Returns true if the token was withheld. */
export async function acceptToken(trx: Trx, vaultId: string, tokenId: string): Promise<boolean> {
  const { rows } = await sql`
    delete from withheld_tokens where vault_id = ${vaultId} and token_id = ${tokenId} returning 1`.execute(trx)
  return rows.length > 0
}

/** SQL condition: the vault may not use the token yet. */
export const isWithheld = (vaultId: RawBuilder<unknown>, tokenId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`exists (select from withheld_tokens withheld where withheld.vault_id = ${vaultId}
    and withheld.token_id = ${tokenId})`

/** Returns the objection to a token. `code` is left out when the token is not named. */
export const objectionOfToken = ({
  code,
  isEnabled,
}: {
  code?: string
  isEnabled: boolean
}): Objection<'disabled'> | null =>
  isEnabled ? null : { reason: 'disabled', message: `The token${code === undefined ? '' : ` ${code}`} is disabled` }

export type WithheldTokenRow = { tokenId: string; code: string; name: string; network: string; createdAt: Date }

/** Returns the tokens that wait for the vault to accept them, the newest first. They are few, because enabling a token is rare. */
export async function listWithheld(db: Db, vaultId: string): Promise<WithheldTokenRow[]> {
  const { rows } = await sql<WithheldTokenRow>`
    select t.id as "tokenId", t.code, t.name, n.slug as network, w.created_at as "createdAt"
    from withheld_tokens w join tokens t on t.id = w.token_id join networks n on n.id = t.network_id
    where w.vault_id = ${vaultId} order by w.created_at desc, t.id desc limit 100`.execute(db)
  return rows
}

/** Returns true if a vault with governance uses the network of the token. A rate of such a token needs a second person. */
export async function isUsedUnderGovernance(trx: Trx, tokenId: string): Promise<boolean> {
  const { rows } = await sql`
    select from tokens t join vault_networks vn on vn.network_id = t.network_id
    join governance g on g.vault_id = vn.vault_id and g.threshold > 0
    where t.id = ${tokenId} limit 1`.execute(trx)
  return rows.length > 0
}
