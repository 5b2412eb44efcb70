import type pg from 'pg'
import { watchDepthDefault } from '../../limits.ts'
import type { ReportedDeposit } from '../chain.ts'
import type { UtxoBlock } from './utxo-block.ts'
import type { UtxoNode } from './utxo-node.ts'

/**
 * Stores the outputs that the transactions of deposits in these blocks spent, and deletes the outputs of blocks below `watchDepth`. A
 * reward spends no output.
 */
export async function storeSources(
  tx: pg.PoolClient,
  { network, watchDepth = watchDepthDefault }: UtxoNode,
  deposits: ReportedDeposit[],
  blocks: UtxoBlock[],
): Promise<void> {
  const hashes = new Set(deposits.map(({ tx: { txHash } }) => txHash))
  const sources = blocks.flatMap(({ number, transactions }) =>
    transactions
      .filter(({ hash }) => hashes.has(hash))
      .flatMap(({ hash, spends }) => spends.map((spent) => ({ ...spent, deposit: hash, number }))),
  )
  if (sources.length > 0)
    await tx.query(
      `insert into wallet.deposit_sources (network, deposit_hash, tx_hash, index, block_number)
       select $1, * from unnest($2::text[], $3::text[], $4::int[], $5::bigint[])
       on conflict (network, deposit_hash, tx_hash, index) do update set block_number = excluded.block_number`,
      [
        network,
        sources.map(({ deposit }) => deposit),
        sources.map(({ txHash }) => txHash),
        sources.map(({ index }) => index),
        sources.map(({ number }) => number.toString()),
      ],
    )
  const watched = blocks.at(-1)!.number - BigInt(watchDepth)
  await tx.query('delete from wallet.deposit_sources where network = $1 and block_number <= $2', [
    network,
    watched.toString(),
  ])
}
