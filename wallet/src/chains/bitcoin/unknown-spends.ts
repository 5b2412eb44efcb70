import type pg from 'pg'
import type { Logger } from 'pino'
import type { Movement, ReportedDeposit, UnknownTransaction } from '../chain.ts'
import type { UtxoBlock, UtxoTransaction } from './utxo-block.ts'

type Spent = { client_id: string; address: string; spender: string; amount: string; next: string }

/**
 * Finds transactions of these final blocks that spent outputs of clients and were not signed here: the database was restored to an earlier
 * time, or somebody else has the key. Returns an entry for each address that paid. The caller has stored the deposits of the blocks.
 */
export async function findUnknownSpends(
  tx: pg.PoolClient,
  network: string,
  { blocks, deposits }: { blocks: UtxoBlock[]; deposits: ReportedDeposit[] },
  log: Logger,
): Promise<UnknownTransaction[]> {
  const spends = blocks.flatMap((block) =>
    block.transactions.flatMap((transaction) => transaction.spends.map((spent) => ({ ...spent, block, transaction }))),
  )
  if (spends.length === 0) return []
  const { rows } = await tx.query<Spent>({
    name: 'find-utxo-spent',
    text: `select c.client_id, c.address, s.spender, sum(c.amount)::text as amount, coalesce(max(n.next_nonce), 0)::text as next
           from unnest($2::text[], $3::int[], $4::text[]) with ordinality as s (tx_hash, index, spender, position)
           join wallet.coins c on c.network = $1 and c.tx_hash = s.tx_hash and c.index = s.index
           left join wallet.nonces n on n.network = $1 and n.address = c.address
           where not exists (select from wallet.transactions v where v.tx_hash = s.spender)
           group by c.client_id, c.address, s.spender order by min(s.position)`,
    values: [
      network,
      spends.map(({ txHash }) => txHash),
      spends.map(({ index }) => index),
      spends.map(({ transaction }) => transaction.hash),
    ],
  })
  const transactions = new Map(spends.map(({ transaction, block }) => [transaction.hash, { transaction, block }]))
  const returned = new Set(
    deposits.flatMap(({ isReturned, tx: { txHash, index } }) => (isReturned ? [`${txHash}:${index}`] : [])),
  )
  return [...new Set(rows.map(({ spender }) => spender))].flatMap((hash) => {
    const { transaction, block } = transactions.get(hash)!
    const payers = rows.filter(({ spender }) => spender === hash)
    const parts = divide(transaction, payers, returned)
    return payers.map(({ client_id, address: sender, next: nonce }, at) => {
      log.error(
        { network, address: sender, txHash: hash, nextNonce: Number(nonce) + 1 },
        'a transaction that this wallet did not sign',
      )
      return { client_id, hash, sender, nonce, block: block.number, ...parts[at]! }
    })
  })
}

type Part = { payments: Movement[]; fee: bigint }

/**
 * Divides the outputs of a transaction among the addresses that paid, in their order. Amounts beyond those of the payers were paid by
 * strangers. An output that returns to the only payer is not a payment; an output that returns to one of several payers is a deposit and
 * a payment. The fee of a payer is the amount that is left.
 */
function divide({ hash, outputs }: UtxoTransaction, payers: Spent[], returned: Set<string>): Part[] {
  const isReturned = ({ index }: { index: number }) => returned.has(`${hash}:${index}`)
  const left = payers.map(({ amount }) => BigInt(amount))
  for (const output of outputs.filter(isReturned)) left[0] = left[0]! > output.amount ? left[0]! - output.amount : 0n
  const parts: Part[] = payers.map(() => ({ payments: [], fee: 0n }))
  for (const { index, amount, address } of outputs) {
    if (address === null || isReturned({ index })) continue
    let open = amount
    for (const [at, payer] of payers.entries()) {
      const paid = min(open, left[at]!)
      if (paid === 0n) continue
      open -= paid
      left[at]! -= paid
      parts[at]!.payments.push({ contract: null, index, fromAddress: payer.address, toAddress: address, amount: paid })
    }
  }
  return parts.map(({ payments }, at) => ({ payments, fee: left[at]! }))
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)
