import type pg from 'pg'
import { rivalOutputsMax } from '../../limits.ts'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import type { Rival } from '../chain.ts'
import type { Outpoint } from './utxo-block.ts'

type Transfer = Pick<TransferRow, 'client_id' | 'id'>

/** `below`: the output of the transaction that spends this one; null for an output that the transfer spends itself. */
type Needed = Outpoint & { below: Needed | null }
type NeededRow = { spender: string; tx_hash: string; index: number; rival: string | null; replaced: Outpoint | null }

/**
 * Finds the final transaction that made all transactions of a transfer impossible: it spent one of the outputs that they spend, or it was
 * mined in place of the transaction that created such an output. Its `outputs` lead from the transfer to the output that it spent.
 */
export async function findRival(pool: pg.Pool, transfer: Transfer): Promise<Rival | null> {
  const { client_id, id } = transfer
  const { rows } = await pool.query<{ rival: string | null }>('select wallet.rival_of($1, $2) as rival', [
    client_id,
    id,
  ])
  const { rival } = rows[0]!
  return rival === null ? null : ((await findShortest(pool, transfer)) ?? { hash: rival })
}

/** Goes up from the transfer, all transactions of a level at a time, until a final transaction has one of the outputs. */
async function findShortest(pool: pg.Pool, { client_id, id }: Transfer): Promise<Rival | null> {
  const { rows } = await pool.query<{ tx_hash: string }>(
    'select tx_hash from wallet.transactions where client_id = $1 and id = $2 and number = 0',
    [client_id, id],
  )
  const seen = new Set<string>()
  let level = new Map<string, Needed | null>(rows.map(({ tx_hash }) => [tx_hash, null]))
  for (let depth = 1; level.size > 0 && depth < rivalOutputsMax; depth += 1) {
    const above = new Map<string, Needed | null>()
    for (const { spender, tx_hash: txHash, index, rival, replaced } of await listNeeded(pool, [...level.keys()])) {
      const needed: Needed = { txHash, index, below: level.get(spender) ?? null }
      if (rival !== null) return { hash: rival, outputs: pathTo(needed, replaced) }
      if (!seen.has(txHash)) above.set(txHash, needed)
      seen.add(txHash)
    }
    level = above
  }
  return null
}

/**
 * Lists the outputs that the transactions spend, with the final transaction that spent the output, or that was mined in place of the
 * transaction that created it. In the second case, `replaced` is an output that both of these transactions spend.
 */
async function listNeeded(pool: pg.Pool, hashes: string[]): Promise<NeededRow[]> {
  const { rows } = await pool.query<NeededRow>(
    `select v.tx_hash as spender, c.tx_hash, c.index, coalesce(s.hash, o.hash, d.hash) as rival,
       case when s.hash is not null then null
         when o.hash is not null then json_build_object('txHash', a.tx_hash, 'index', a.index)
         when d.hash is not null then json_build_object('txHash', d.tx_hash, 'index', d.index) end as replaced
     from wallet.transactions v
     join wallet.transaction_inputs i on i.client_id = v.client_id and i.id = v.id and i.number = v.number
     join wallet.coins c on c.network = i.network and c.tx_hash = i.tx_hash and c.index = i.index
     left join lateral (
       select c.spent_by as hash where c.spent_by is not null and not exists (
         select from wallet.transactions w where w.client_id = v.client_id and w.id = v.id and w.tx_hash = c.spent_by)
     ) s on true
     left join lateral (
       select t.tx_hash as hash from wallet.transfers t
       where t.client_id = c.client_id and t.id = c.change_of and t.status in ('confirmed', 'failed') and t.tx_hash <> c.tx_hash
         and not exists (select from wallet.transactions k where k.tx_hash = c.tx_hash and k.kind = 'child')
     ) o on true
     left join lateral (
       select p.spent_by as hash, p.tx_hash, p.index from wallet.deposit_sources p
       where p.network = c.network and p.deposit_hash = c.tx_hash and p.spent_by <> c.tx_hash limit 1
     ) d on true
     left join wallet.transaction_inputs a on a.client_id = c.client_id and a.id = c.change_of and a.number = 0 and a.position = 0
     where v.tx_hash = any($1) order by v.tx_hash, i.position`,
    [hashes],
  )
  return rows
}

function pathTo(last: Needed, replaced: Outpoint | null): Outpoint[] {
  const path = replaced === null ? [] : [replaced]
  for (let at: Needed | null = last; at !== null; at = at.below) path.unshift({ txHash: at.txHash, index: at.index })
  return path
}
