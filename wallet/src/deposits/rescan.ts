import type pg from 'pg'

/**
 * Makes the watcher read the blocks from `block` on again. This finds deposits to addresses that were watched only later, for example
 * after a restore. Nothing is reported twice. Returns false if the network is unknown, or its blocks were not read that far.
 */
export async function rescan(pool: pg.Pool, { network, block }: { network: string; block: number }): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update wallet.cursors set next_block = $2, previous_hash = null, updated_at = clock_timestamp()
     where network = $1 and next_block > $2`,
    [network, block],
  )
  return rowCount === 1
}
