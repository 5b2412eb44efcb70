import type pg from 'pg'
import { type Hex, keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { readProtection } from '../authority/protection.ts'
import { toText } from '../authority/refusal.ts'
import { type AuthorityStore, AuthorityUnavailableError } from '../authority/store.ts'
import { claimSigning, refusalOfStored, wasSigned } from '../authority/verify-stored.ts'
import { describeNodeError } from '../chains/describe-node-error.ts'
import type { Account, Chain } from '../chains/open-chain.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { parseDerivationPath } from '../keys/derivation-path.ts'
import type { Keyring } from '../keys/keyring.ts'
import { readCommittedCost } from './committed-cost.ts'
import { movementOf, type Plan, requestOf } from './plan-transfers.ts'
import { storeFirst } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

export type SignOutcome =
  | { kind: 'signed'; raw: Hex; hash: Hex }
  /** The chain would refuse the transfer; nothing was signed and no nonce was used. */
  | { kind: 'failed'; reason: string }
  /** Not now: earlier transfers may change what the address can pay, the fee is too high, or an operator must intervene. */
  | { kind: 'wait'; reason: string }
  /** Another process signed or failed it first. */
  | { kind: 'taken' }

export type Signer = {
  pool: pg.Pool
  keyring: Keyring
  authorities: AuthorityStore | null
  chain: Chain
  /** Where a test stops the process. */
  at?: ((point: SendPoint) => Promise<void>) | undefined
}

/** The points in sending a transfer at which tests end a process. No point may lose or double a payment. */
export const sendPoints = ['claimed', 'planned', 'assigned', 'signed', 'stored', 'sent', 'marked'] as const
export type SendPoint = (typeof sendPoints)[number]

export type Signable = { transfer: TransferRow; plan: Plan }

/**
 * Signs queued transfers of an address in their order and stores nonces, bytes and hashes in one transaction, before anyone may
 * broadcast them. In a protected client each has a transaction of its own, because the journal keeps the nonce of an order even
 * when the transaction is rolled back.
 */
export async function signTransfers(
  signer: Signer,
  signable: Signable[],
  { account, isProtected }: { account: Account; isProtected: boolean },
): Promise<Map<TransferRow, SignOutcome>> {
  const outcomes = new Map<TransferRow, SignOutcome>()
  for (const together of isProtected ? signable.map((entry) => [entry]) : signable.length > 0 ? [signable] : [])
    for (const [transfer, outcome] of await signTogether(signer, { signable: together, account, isProtected }))
      outcomes.set(transfer, outcome)
  return outcomes
}

/** Signs transfers together; after an error one by one, so that an invalid row does not hold up the others. */
async function signTogether(signer: Signer, { signable, ...shared }: Signing): Promise<Map<TransferRow, SignOutcome>> {
  try {
    const { transfer } = signable[0]!
    if (transfersOf(signable).some(({ derivation_path }) => derivation_path !== transfer.derivation_path))
      throw new Error('transfers of one address have different paths')
    const key = await openAccount(signer.keyring, transfer)
    const outcomes = await inTransaction(signer.pool, (tx) => storeSigned(tx, signer, { signable, key, ...shared }))
    await signer.at?.('stored')
    return outcomes
  } catch (error) {
    if (signable.length === 1) return waitingFor(signable, describeNodeError(error))
    const outcomes = new Map<TransferRow, SignOutcome>()
    for (const entry of signable)
      for (const [transfer, outcome] of await signTogether(signer, { signable: [entry], ...shared }))
        outcomes.set(transfer, outcome)
    return outcomes
  }
}

/** Returns true if a client of the transfers is protected, or if its authority cannot be read. */
export async function isAnyProtected(
  db: pg.Pool | pg.PoolClient,
  authorities: AuthorityStore | null,
  transfers: TransferRow[],
): Promise<boolean> {
  try {
    for (const clientId of new Set(transfers.map(({ client_id }) => client_id)))
      if ((await readProtection(db, authorities, clientId)) !== null) return true
    return false
  } catch (error) {
    if (!(error instanceof AuthorityUnavailableError)) throw error
    return true
  }
}

/** In a protected client: returns the reason if the signatures do not cover the stored order. It fails, or waits for its authority. */
export async function findUnauthorized(
  { db, authorities, chain }: Pick<Signer, 'authorities' | 'chain'> & { db: pg.Pool | pg.PoolClient },
  transfer: TransferRow,
): Promise<SignOutcome | null> {
  try {
    const refused = await refusalOfStored(db, authorities, chain, transfer)
    if (refused === null) return null
    // `failed` means that the amount has not moved, which is not certain for an order that was signed before.
    if (await wasSigned(authorities, transfer)) {
      return { kind: 'wait', reason: `ALREADY_SIGNED: the order may have been mined; ${toText(refused)}` }
    }
    const reason = `AUTHORIZATION_REFUSED: ${toText(refused)}`
    return (await failUnsigned(db, transfer, reason)) ? { kind: 'failed', reason } : { kind: 'taken' }
  } catch (error) {
    if (!(error instanceof AuthorityUnavailableError)) throw error
    return { kind: 'wait', reason: `AUTHORITY_UNAVAILABLE: ${error.message}` }
  }
}

/**
 * The account that signs for a transfer. It may have to be read, so it is opened before the transaction: transactions that
 * each hold a connection and wait for one more would use up the pool.
 */
export async function openAccount(keyring: Keyring, transfer: TransferRow): Promise<PrivateKeyAccount> {
  const path = parseDerivationPath(transfer.derivation_path)
  if ('fault' in path) throw new Error('a stored transfer has a path that does not parse')
  const account = await keyring.account(transfer.client_id, path)
  if (account.address !== transfer.from_address)
    throw new Error('the key of the path has another address than the order')
  return account
}

type Signing = { signable: Signable[]; account: Account; isProtected: boolean }
type Storing = Signing & { key: PrivateKeyAccount }

async function storeSigned(
  tx: pg.PoolClient,
  { authorities, chain, at }: Signer,
  { signable, account, key, isProtected }: Storing,
): Promise<Map<TransferRow, SignOutcome>> {
  const outcomes = new Map<TransferRow, SignOutcome>()
  const open = await lockUnsigned(tx, signable)
  const first = open[0]
  for (const { transfer } of signable) outcomes.set(transfer, { kind: 'taken' })
  if (first === undefined) return outcomes
  const permitted: Signable[] = []
  // The check is repeated, because keys may have been removed while the node was asked.
  if (!isProtected && (await isAnyProtected(tx, authorities, transfersOf(open))))
    return waitingFor(open, becameProtected)
  for (const entry of open) {
    const unauthorized = isProtected ? await findUnauthorized({ db: tx, authorities, chain }, entry.transfer) : null
    if (unauthorized === null) permitted.push(entry)
    else outcomes.set(entry.transfer, unauthorized)
  }
  const nonce = await lockNonce(tx, first.transfer)
  if (account.chainNonce > nonce) {
    const reason = `UNKNOWN_TRANSACTIONS: the chain has seen ${account.chainNonce} transactions of the address, this wallet knows ${nonce}`
    for (const { transfer } of permitted) outcomes.set(transfer, { kind: 'wait', reason })
    return outcomes
  }
  const assigned: Assigned[] = []
  let committed = await readCommittedCost(tx, first.transfer, account.opening)
  for (const entry of permitted) {
    const { transfer, plan } = entry
    if (account.balance < committed + plan.maxCost) {
      outcomes.set(transfer, { kind: 'wait', reason: 'earlier transfers of the address may use up its balance' })
      continue
    }
    const next = nonce + assigned.length
    const claim = { nonce: next, kind: 'payment', ...plan.fees } as const
    const wait = isProtected ? await claimSigning(tx, authorities, transfer, claim) : null
    if (wait !== null) {
      outcomes.set(transfer, { kind: 'wait', reason: wait })
      continue
    }
    committed += plan.maxCost
    assigned.push({ ...entry, nonce: next })
  }
  await at?.('assigned')
  await Promise.all(
    assigned.map(async ({ transfer, plan, nonce }) => {
      const raw = await key.signTransaction({ ...requestOf(chain, movementOf(transfer), plan), nonce })
      outcomes.set(transfer, { kind: 'signed', raw, hash: keccak256(raw) })
    }),
  )
  await at?.('signed')
  await storeFirst(
    tx,
    assigned.map(({ transfer, plan, nonce }) => {
      const { raw, hash } = outcomes.get(transfer) as Extract<SignOutcome, { kind: 'signed' }>
      return { transfer, nonce, maxCost: plan.maxCost, transaction: { kind: 'payment', raw, hash } }
    }),
  )
  await moveNonce(tx, first.transfer, nonce + assigned.length)
  return outcomes
}

type Assigned = Signable & { nonce: number }

const transfersOf = (signable: Signable[]) => signable.map(({ transfer }) => transfer)
const becameProtected = 'AUTHORITY_UNAVAILABLE: the client was protected while the transfer was prepared'

const waitingFor = (signable: Signable[], reason: string): Map<TransferRow, SignOutcome> =>
  new Map(signable.map(({ transfer }) => [transfer, { kind: 'wait', reason }]))

/** Locks the transfers that were not signed or ended meanwhile, in the order of their creation. */
async function lockUnsigned(tx: pg.PoolClient, signable: Signable[]): Promise<Signable[]> {
  const { rows } = await tx.query<{ client_id: string; id: string }>(
    `select t.client_id, t.id from wallet.transfers t
     join unnest($1::uuid[], $2::text[]) as w (client_id, id) on t.client_id = w.client_id and t.id = w.id
     where t.status = 'queued' and t.nonce is null order by t.sequence for update of t`,
    [signable.map(({ transfer }) => transfer.client_id), signable.map(({ transfer }) => transfer.id)],
  )
  const open = new Set(rows.map(({ client_id, id }) => `${client_id} ${id}`))
  return signable.filter(({ transfer: { client_id, id } }) => open.has(`${client_id} ${id}`))
}

async function moveNonce(tx: pg.PoolClient, { network, from_address }: TransferRow, next: number): Promise<void> {
  await tx.query('update wallet.nonces set next_nonce = $3 where network = $1 and address = $2 and next_nonce < $3', [
    network,
    from_address,
    next,
  ])
}

/** One row per (network, address) is the queue in which all processes wait for the next nonce. */
export async function lockNonce(tx: pg.PoolClient, { network, from_address }: TransferRow): Promise<number> {
  await tx.query('insert into wallet.nonces (network, address) values ($1, $2) on conflict do nothing', [
    network,
    from_address,
  ])
  const { rows } = await tx.query<{ next_nonce: string }>(
    'select next_nonce from wallet.nonces where network = $1 and address = $2 for update',
    [network, from_address],
  )
  return Number(rows[0]!.next_nonce)
}

export async function failUnsigned(
  db: pg.Pool | pg.PoolClient,
  transfer: TransferRow,
  reason: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update wallet.transfers set status = 'failed', failure_reason = $3, updated_at = clock_timestamp()
     where client_id = $1 and id = $2 and status = 'queued' and raw_transaction is null`,
    [transfer.client_id, transfer.id, reason],
  )
  return rowCount === 1
}
