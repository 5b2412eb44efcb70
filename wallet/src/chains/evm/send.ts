import type pg from 'pg'
import { type Address, keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { TransferRow } from '../../transfers/transfer-row.ts'
import type { Assigned, Claim, Pass, Reserved, Sender, Signable, Signed } from '../chain.ts'
import { lockNonce, moveNonce, readNonce } from '../nonces.ts'
import { readCommittedCost, readOpening } from './committed-cost.ts'
import { readAccount, readMarket } from './market.ts'
import type { Account, Node } from './node.ts'
import { type GasPlan, movementOf, planTransfer, requestOf } from './plan-transfers.ts'

/** Reads the newest block and its fees, which all transfers of a pass share. */
export async function openPass(chain: Node): Promise<Pass> {
  const market = await readMarket(chain)
  return {
    async openSender(pool, first): Promise<Sender> {
      const address = first.from_address as Address
      const read = async () => await readAccount(chain, market, address, await readOpening(pool, first))
      const known = market.accounts.get(address)
      const account = known ?? (await read())
      let again: Promise<Account> | null = null
      const readAgain = () => (again ??= read())
      return {
        async plan(transfer) {
          const plan = await planTransfer(chain, transfer, { price: market.price, account })
          // A transfer does not fail because of the balance of an earlier pass.
          if (plan.kind !== 'impossible' || known === undefined) return plan
          return await planTransfer(chain, transfer, { price: market.price, account: await readAgain() })
        },
        reserve: (tx, wanted, claim) => reserveNonces(tx, { first, account, wanted, claim }),
        async findDoubt(db) {
          // The chain comes first: a transaction that this wallet signs meanwhile is in the database before the chain sees it.
          const chainNonce = await chain.batched.getTransactionCount({ address, blockTag: 'pending' })
          return doubtOf(chainNonce, await readNonce(db, first))
        },
        forget: () => void market.accounts.delete(address),
      }
    },
  }
}

function doubtOf(chainNonce: number, known: number): string | null {
  if (chainNonce <= known) return null
  return `UNKNOWN_TRANSACTIONS: the chain has seen ${chainNonce} transactions of the address, this wallet knows ${known}`
}

type Wanted = { first: TransferRow; account: Account; wanted: Signable[]; claim: Claim }

/** Gives the next nonces of the address to the transfers that its balance covers. */
async function reserveNonces(tx: pg.PoolClient, { first, account, wanted, claim }: Wanted): Promise<Reserved> {
  const nonce = await lockNonce(tx, first)
  const doubt = doubtOf(account.chainNonce, nonce)
  if (doubt !== null) return { assigned: [], waiting: wanted.map(({ transfer }) => ({ transfer, reason: doubt })) }
  const reserved: Reserved = { assigned: [], waiting: [] }
  let committed = await readCommittedCost(tx, first, account.opening)
  for (const entry of wanted) {
    const { transfer, plan } = entry
    if (account.balance < committed + plan.maxCost) {
      reserved.waiting.push({ transfer, reason: 'earlier transfers of the address may use up its balance' })
      continue
    }
    const next = nonce + reserved.assigned.length
    const reason = await claim(transfer, { nonce: next, ...plan.fees })
    if (reason !== null) {
      reserved.waiting.push({ transfer, reason })
      continue
    }
    committed += plan.maxCost
    reserved.assigned.push({ ...entry, nonce: next })
  }
  await moveNonce(tx, first, nonce + reserved.assigned.length)
  return reserved
}

export type AssignedGas = Assigned & { plan: GasPlan }

export async function signPayment(
  chain: Node,
  key: PrivateKeyAccount,
  { transfer, plan, nonce }: AssignedGas,
): Promise<Signed> {
  const raw = await key.signTransaction({ ...requestOf(chain, movementOf(transfer), plan), nonce })
  return { raw, hash: keccak256(raw) }
}
