import type pg from 'pg'

/**
 * Sends events again that were delivered before, under the same ids. Events of other clients, and ids that do not exist, are left out.
 * Returns the number of the events that are sent again.
 */
export async function replayEvents(pool: pg.Pool, clientId: string, ids: string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `with named as (
       select c.key from wallet.accepted c where c.client_id = $1 and c.kind = 'event' and c.key = any($2)
     ), again as (
       update wallet.webhook_deliveries d set delivered_at = null, attempts = 0, next_attempt_at = clock_timestamp()
       from named where d.id = named.key and d.delivered_at is not null
     )
     select count(*)::int as count from named`,
    [clientId, ids],
  )
  return rows[0]!.count
}
