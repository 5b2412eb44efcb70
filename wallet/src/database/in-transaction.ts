import type pg from 'pg'

/** Runs `work` in one transaction on one connection; an error rolls the transaction back and is thrown again. */
export async function inTransaction<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  const tx = await pool.connect()
  let broken: Error | undefined
  try {
    await tx.query('begin')
    const result = await work(tx)
    await tx.query('commit')
    return result
  } catch (error) {
    await tx.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError
    })
    throw error
  } finally {
    // A connection whose rollback failed is closed instead of being returned to the pool.
    tx.release(broken)
  }
}
