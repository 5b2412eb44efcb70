import type pg from 'pg'
import { erc20Abi, type Hex, keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { toText } from '../authority/refusal.ts'
import { type AuthorityStore, AuthorityUnavailableError } from '../authority/store.ts'
import { claimSigning, type Fees, refusalOfStored, wasSigned } from '../authority/verify-stored.ts'
import { isContractFault } from '../chains/describe-node-error.ts'
import { capsOf, defaultFeeLevel, limitCaps, unsignedLimitOf } from '../chains/fee-caps.ts'
import type { Chain } from '../chains/open-chain.ts'
import { callOf, estimateGas, type Movement, readGasPrice, withReserve } from '../chains/price-transfer.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { parseDerivationPath } from '../keys/derivation-path.ts'
import type { Keyring } from '../keys/keyring.ts'
import { storeTransaction } from './transactions.ts'
import type { TransferRow } from './transfer-row.ts'

export type SignOutcome =
  | { kind: 'signed'; rawTransaction: Hex; hash: Hex }
  /** The chain would refuse the transfer; nothing was signed and no nonce was used. */
  | { kind: 'failed'; reason: string }
  /** Not now: earlier transfers may change what the address can pay, the fee is too high, or an operator must intervene. */
  | { kind: 'wait'; reason: string }
  /** Another process signed or failed it first. */
  | { kind: 'taken' }

/**
 * Signs a queued transfer and stores nonce, bytes and hash in one transaction, before anyone may broadcast it.
 * Throws when the node does not answer; then nothing has changed.
 */
export async function signTransfer(
  { pool, keyring, authorities, chain }: Signer,
  transfer: TransferRow,
): Promise<SignOutcome> {
  const unauthorized = await findUnauthorized({ db: pool, authorities, chain }, transfer)
  if (unauthorized !== null) return unauthorized
  const movement = movementOf(transfer)
  const plan = await planTransaction(pool, chain, transfer)
  if (plan.kind === 'tooDear') return { kind: 'wait', reason: plan.reason }
  if (plan.kind === 'impossible') {
    return (await failUnsigned(pool, transfer, plan.reason))
      ? { kind: 'failed', reason: plan.reason }
      : { kind: 'taken' }
  }
  const account = await openAccount(keyring, transfer)
  return await inTransaction(pool, (tx) => storeSigned({ tx, account, authorities, chain, transfer, movement, plan }))
}

export type Signer = { pool: pg.Pool; keyring: Keyring; authorities: AuthorityStore | null; chain: Chain }

/** In a protected client: why people's signatures do not cover the stored order. It fails, or waits for its authority. */
async function findUnauthorized(
  { db, authorities, chain }: Pick<Signer, 'authorities' | 'chain'> & { db: pg.Pool | pg.PoolClient },
  transfer: TransferRow,
): Promise<SignOutcome | null> {
  try {
    const refused = await refusalOfStored(db, authorities, chain, transfer)
    if (refused === null) return null
    // `failed` says that the amount has not moved, which nobody knows of an order that was signed before.
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

type Plan = {
  kind: 'possible'
  /** The database's clock before the node was queried: what settled later is not yet in `balance`. */
  asOf: Date
  chainNonce: number
  balance: bigint
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  maxCost: bigint
  fees: Fees
}

async function planTransaction(
  pool: pg.Pool,
  chain: Chain,
  transfer: TransferRow,
): Promise<Plan | { kind: 'impossible'; reason: string } | { kind: 'tooDear'; reason: string }> {
  const movement = movementOf(transfer)
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now')
  const { fromAddress: address, contractAddress } = movement
  const [balance, chainNonce, price] = await Promise.all([
    chain.client.getBalance({ address }),
    chain.client.getTransactionCount({ address, blockTag: 'pending' }),
    readGasPrice(chain),
  ])
  if (contractAddress !== null) {
    const refusal = await refusalOfToken(chain, movement, contractAddress)
    if (refusal) return { kind: 'impossible', reason: refusal }
  }
  const estimate = await estimateGas(chain, movement)
  if (!estimate.possible) return { kind: 'impossible', reason: estimate.reason }
  const gas = withReserve(estimate.gas)
  const value = contractAddress === null ? movement.amount : 0n
  const maxFee = transfer.max_fee === null ? null : BigInt(transfer.max_fee)
  const caps = limitCaps(capsOf(transfer.fee_level ?? defaultFeeLevel, price), { gas, maxFee }, price)
  if (caps === null) {
    const reason = `ABOVE_MAX_FEE: ${gas} gas cost ${gas * price.baseFeePerGas} or more now, and at most ${maxFee} may be paid`
    return { kind: 'tooDear', reason }
  }
  const maxCost = value + gas * caps.maxFeePerGas
  if (balance < maxCost) {
    const reason = `INSUFFICIENT_FUNDS: amount and fee need ${maxCost} of the network's coin, the address has ${balance}`
    return { kind: 'impossible', reason }
  }
  const fees = { fee: gas * caps.maxFeePerGas, unsignedLimit: unsignedLimitOf(gas, price) }
  return { kind: 'possible', asOf: rows[0]!.now, chainNonce, balance, gas, ...caps, maxCost, fees }
}

/** A call to an address without code, or to a token that answers false, would succeed on chain and move nothing. */
async function refusalOfToken(chain: Chain, movement: Movement, contract: Hex): Promise<string | null> {
  const code = await chain.client.getCode({ address: contract })
  if (code === undefined || code === '0x') return 'NOT_A_CONTRACT: the contract address has no code'
  try {
    const { result: moved } = await chain.client.simulateContract({
      address: contract,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [movement.toAddress, movement.amount],
      account: movement.fromAddress,
    })
    return moved ? null : 'TOKEN_REFUSED: the token answers that it would not transfer'
  } catch (error) {
    // Some old tokens return nothing at all; the gas estimate after this detects a revert, and the logs show the outcome.
    if (isContractFault(error)) return null
    throw error
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

type Storing = {
  tx: pg.PoolClient
  account: PrivateKeyAccount
  authorities: AuthorityStore | null
  chain: Chain
  transfer: TransferRow
  movement: Movement
  plan: Plan
}

async function storeSigned({
  tx,
  account,
  authorities,
  chain,
  transfer,
  movement,
  plan,
}: Storing): Promise<SignOutcome> {
  const { rowCount } = await tx.query(
    `select from wallet.transfers
     where client_id = $1 and id = $2 and status = 'queued' and raw_transaction is null for update`,
    [transfer.client_id, transfer.id],
  )
  if (rowCount !== 1) return { kind: 'taken' }
  // Again, because keys may have been removed while the node was asked. What is checked is what `movement` was made from.
  const unauthorized = await findUnauthorized({ db: tx, authorities, chain }, transfer)
  if (unauthorized !== null) return unauthorized
  const nonce = await lockNonce(tx, transfer)
  if (plan.chainNonce > nonce) {
    const reason = `UNKNOWN_TRANSACTIONS: the chain has seen ${plan.chainNonce} transactions of the address, this wallet knows ${nonce}`
    return { kind: 'wait', reason }
  }
  const committed = await readCommittedCost(tx, transfer, plan.asOf)
  if (plan.balance < committed + plan.maxCost) {
    return { kind: 'wait', reason: 'earlier transfers of the address may use up its balance' }
  }
  const wait = await claimSigning(tx, authorities, transfer, { nonce, kind: 'payment', ...plan.fees })
  if (wait !== null) return { kind: 'wait', reason: wait }
  const rawTransaction = await account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    gas: plan.gas,
    maxFeePerGas: plan.maxFeePerGas,
    maxPriorityFeePerGas: plan.maxPriorityFeePerGas,
    ...callOf(movement),
  })
  const hash = keccak256(rawTransaction)
  const transaction = { kind: 'payment', raw: rawTransaction, hash } as const
  await storeTransaction(tx, transfer, { transaction, nonce, maxCost: plan.maxCost })
  await tx.query('update wallet.nonces set next_nonce = $3 where network = $1 and address = $2', [
    transfer.network,
    transfer.from_address,
    nonce + 1,
  ])
  return { kind: 'signed', rawTransaction, hash }
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

/** The amount that signed transfers may still take from the balance that was read at `asOf`. */
export async function readCommittedCost(
  tx: pg.PoolClient,
  { network, from_address }: TransferRow,
  asOf: Date,
): Promise<bigint> {
  const { rows } = await tx.query<{ total: string }>(
    `select coalesce(sum(max_cost), 0)::text as total from wallet.transfers
     where network = $1 and from_address = $2 and raw_transaction is not null
       and (status in ('queued', 'broadcast') or updated_at >= $3)`,
    [network, from_address, asOf],
  )
  return BigInt(rows[0]!.total)
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

export function movementOf(row: TransferRow): Movement {
  return {
    fromAddress: row.from_address,
    toAddress: row.to_address,
    contractAddress: row.contract_address,
    amount: BigInt(row.amount),
  }
}
