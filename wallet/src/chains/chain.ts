import type pg from 'pg'
import type { Logger } from 'pino'
import type { ParsedPath } from '../keys/derivation-path.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { FeeLevel, NetworkKind, TransactionState } from '../protocol.ts'
import type { Transaction } from '../transfers/transactions.ts'
import type { PresentedRow, TransferRow } from '../transfers/transfer-row.ts'
import type { NetworkConfig } from './settings.ts'

/**
 * A configured network, as all families of networks look from outside. `chains/evm` implements it. What a family returns, such as a plan
 * or a block, may have more fields, which the same family reads again later.
 */
export type Chain = NetworkConfig & State & Forms & Reading & Sending & Replacing & Following & Watching

/** State of the process that follows the network. */
type State = {
  network: string
  reach: { reachable: boolean; headBlock: bigint | null }
  /** The newest blocks that were followed, by number. */
  known: Map<bigint, Block>
  /** Blocks that one pass of the watcher reads at most. */
  scan: { blocksMax: number }
}

/** The notation of the network. Each `read…` returns the canonical form, and throws an error that names the field. */
type Forms = {
  kind: NetworkKind
  /** The only coin type of paths on the network; null when any coin type is permitted. */
  coinType: number | null
  coinDecimals: number
  /** True if people can sign orders on the network, so that a protected client can pay there. */
  hasSignedOrders: boolean
  /** Reads an address that this service may have derived. */
  readAddress(field: string, value: string): string
  readRecipient(value: string): string
  readContract(field: string, value: string): string
  readHash(field: string, value: string): string
  /** Throws an error that names the field for a payment that no transaction of the network can make. */
  checkPayment(payment: Payment): void
  /** The BIP-32 path of an account, and the script of its addresses where the network has several kinds. */
  accountOf(path: ParsedPath): { bip32Path: string; script: 'p2wpkh' | null }
}

export type Payment = { fromAddress: string; toAddress: string; contractAddress: string | null; amount: bigint }

/** All of these throw when the node does not answer. */
type Reading = {
  /** Throws at the start when the node serves another network. A node that does not answer proves nothing. */
  refuseOtherNetwork(): Promise<void>
  /** Reads the height. After an outage it throws also when the node serves another network than the configured one. */
  readHeight(): Promise<bigint>
  readBlock(number: bigint): Promise<Block>
  /** Balance in the smallest unit at the newest block; `contract` null is the coin of the network. */
  readBalance(holding: { address: string; contract: string | null }): Promise<{ balance: bigint; blockNumber: bigint }>
  readDecimals(contract: string): Promise<number>
  /** The decimals of a token that was received, kept in the database; null when the token has no decimals that a ledger can use. */
  findDecimals(pool: pg.Pool, contract: string): Promise<number | null>
  estimateFee(payment: Payment, level: FeeLevel | undefined): Promise<{ fee: bigint; maxFee: bigint }>
  /** The present state of a transaction; null when the node does not know it. */
  readTransaction(hash: string): Promise<TransactionState | null>
  watchHeads(log: Logger, onHead: () => void): Heads
  /** Closes the connection to the node, if there is one; the next call opens another one. */
  close(): Promise<void>
}

/** Notices of new blocks from the node. Some nodes send none. */
export type Heads = {
  /** Subscribes, unless a subscription exists. */
  follow(): void
  /** Forgets the connection, so that the next call opens another one. */
  drop(): Promise<void>
}

export type Block = { number: bigint; hash: string; timestamp: bigint }
export type SeenBlock = Block & { parentHash: string }

/** The opened key of an address. */
export type Key = { address: string }
export type Signed = { raw: string; hash: string }
/** `fee`: the highest fee of a transaction of an order. `unsignedLimit`: the limit of all its fees if people signed no limit. */
export type Fees = { fee: bigint; unsignedLimit: bigint }
/** `maxCost`: the most of the coin that the transaction can take from the address. */
export type Plan = { maxCost: bigint; fees: Fees }
export type Planned =
  | ({ kind: 'possible' } & Plan)
  | { kind: 'impossible'; reason: string }
  | { kind: 'tooDear'; reason: string }
export type Signable = { transfer: TransferRow; plan: Plan }
export type Assigned = Signable & { nonce: number }
/** Notes outside of the database that an order is about to be signed. Returns the reason when it has to wait. */
export type Claim = (transfer: TransferRow, claim: { nonce: number } & Fees) => Promise<string | null>
export type Reserved = { assigned: Assigned[]; waiting: { transfer: TransferRow; reason: string }[] }

type Sending = {
  /** Opens the key of a path. It may have to be read from the database. */
  openKey(keyring: Keyring, clientId: string, path: ParsedPath): Promise<Key>
  /** Reads the state that all transfers of a pass share. Throws when the node is down or serves another network. */
  openPass(): Promise<Pass>
  /** Signs a payment with the nonce or the outputs that were reserved. */
  signPayment(key: Key, assigned: Assigned): Promise<Signed>
  /** Stores what the signed bytes spend, in the database transaction that stores them. */
  storePlaces(tx: pg.PoolClient, signed: (Assigned & Signed)[]): Promise<void>
  /** Sends signed bytes to the node. Sending the same bytes twice is harmless. */
  broadcast(transaction: Signed): Promise<BroadcastOutcome>
  /** Returns true if the node has the transaction in a block or in its pool; false also when it does not answer. */
  isKnown(hash: string): Promise<boolean>
}

export type Pass = { openSender(pool: pg.Pool, transfer: TransferRow): Promise<Sender> }

/** An address that pays in a pass. */
export type Sender = {
  /** Asks the node if a transfer is possible and what it costs. Changes nothing. */
  plan(transfer: TransferRow): Promise<Planned>
  /**
   * Reserves what makes a transfer's payment happen at most once, in the database transaction that stores the signed bytes. The
   * transfers are locked, and in their order.
   */
  reserve(tx: pg.PoolClient, wanted: Signable[], claim: Claim): Promise<Reserved>
  /**
   * Returns the reason why transactions that this wallet has no record of may have paid from the address; null when none has. Called after
   * a transfer was found impossible: it may have been paid before a restore.
   */
  findDoubt(db: pg.Pool): Promise<string | null>
  /** Reads the state of the address anew at the next pass. */
  forget(): void
}

export type BroadcastOutcome =
  | { accepted: true }
  /** `isPassed`: the network has a transaction in this place or a later place, so that later transactions do not wait. */
  | { accepted: false; reason: string; isPassed: boolean }

type Replacing = {
  /** Reads what the replacement of the newest transaction of a transfer depends on. */
  openReplacement(pool: pg.Pool, transfer: TransferRow, replaced: Replaced): Promise<Replacement>
  /** Finds the final transaction that took the place of the transfer; null without such a transaction. */
  findRival(transfer: PresentedRow): Promise<Rival | null>
}

/**
 * A final transaction after which no transaction of a transfer can be mined. `outputs`, on networks with outputs: every transaction of the
 * transfer spends the first output, the transaction that created an output spends the next, and the final transaction spends the last.
 */
export type Rival = { hash: string; outputs?: { txHash: string; index: number }[] }

/** `newest` may be replaced. `tip` is the child that was signed last, or `newest`. `count` is the number of transactions. */
export type Replaced = { newest: Transaction; tip: Transaction; count: number }

/** Begins a refusal that a person may overrule by another limit. */
export const aboveMaxFee = 'ABOVE_MAX_FEE'

export type ReplacementPlan = Plan & { kind: Transaction['kind'] }

export type Replacement = {
  /** `limit`: the highest fee that is permitted; null when there is no limit. */
  plan(wanted: 'payment' | 'cancellation', limit: bigint | null): Promise<ReplacementPlan | { refusal: string }>
  /** In the database transaction that stores the signed bytes. Returns a refusal, or null. */
  reserve(tx: pg.PoolClient, plan: ReplacementPlan): Promise<string | null>
  sign(key: Key, plan: ReplacementPlan): Promise<Signed>
  /** Stores what the signed bytes spend, after the transaction itself was stored. */
  store(tx: pg.PoolClient, plan: ReplacementPlan, signed: Signed): Promise<void>
}

/** A transaction of a transfer in a block: the fee that the payer paid in addition to the amount, and the reason if it moved nothing. */
export type Outcome = { transaction: Transaction; fee: bigint; failure: string | null }
/** An outcome and the block that has it. */
export type Mined = Outcome & { row: TransferRow; block: { number: bigint; timestamp: bigint } }
export type Found = 'pending' | 'unknown' | (Outcome & { blockNumber: bigint; blockHash: string })

type Following = {
  /** Reads blocks and the data that finds transfers in them. Throws when the node reorganises its chain in between. */
  readSeenBlocks(first: bigint, last: bigint): Promise<SeenBlock[]>
  /** Keeps the newest blocks that were followed. */
  remember(blocks: SeenBlock[]): void
  /** Returns the transfers whose transactions are in the blocks, and the transfers whose place another transaction took. */
  findInBlocks(pool: pg.Pool, blocks: SeenBlock[]): Promise<{ mined: Mined[]; passed: TransferRow[] }>
  /** Looks up the transactions of a transfer, which are listed newest first. At most one of them is in the chain. */
  findTransfer(transfer: TransferRow, transactions: Transaction[]): Promise<Found>
  /**
   * After the chain went back to the block `from` or beyond: marks the transactions that it no longer has, to be sent again. Returns
   * their number.
   */
  resendLost(pool: pg.Pool, from: bigint): Promise<number>
}

/** Coin or token that a mined transaction moved. `contract` null is the coin. `index` tells the movements of a transaction apart. */
export type Movement = {
  contract: string | null
  index: number
  /** Null when several addresses paid, or an address without a notation. */
  fromAddress: string | null
  toAddress: string
  amount: bigint
  /** True for an output that returns to the owner of all spent outputs: it can be spent again, and is not a deposit. */
  isReturned?: boolean
}
export type BlockMovement = { txHash: string; movement: Movement; block: Block }

type Watching = {
  /** Reads the blocks of a range. `headBlock` is the newest one, `previousHead` was the newest one when the range before was read. */
  readRange(range: { first: bigint; last: bigint; headBlock: bigint; previousHead: bigint }): Promise<BlockRange>
  /**
   * Stores the outputs that further payments may spend, and the outputs that the blocks spent, in the database transaction that stores the
   * deposits. Returns transactions of addresses of this wallet that it has no record of, if they are found only here.
   */
  noteRange(
    tx: pg.PoolClient,
    deposits: ReportedDeposit[],
    blocks: SeenBlock[],
    log: Logger,
  ): Promise<UnknownTransaction[]>
  /** The block of a transaction, and a function that reads what it moved; null when no block has the transaction. */
  findMined(hash: string): Promise<{ number: bigint; hash: string; listMovements(): Promise<Movement[]> } | null>
}

export type ReportedDeposit = {
  key: string
  amount: bigint
  isReturned: boolean
  tx: { toAddress: string; txHash: string; index: number }
}

export type BlockRange = {
  blocks: SeenBlock[]
  /** Lists the movements to addresses of this wallet, in the order of the chain. */
  listMovements(listOwn: (addresses: Set<string>) => Promise<Set<string>>): Promise<BlockMovement[]>
  /** Lists transactions of addresses of this wallet that it has no record of. */
  listUnknown(pool: pg.Pool, log: Logger): Promise<UnknownTransaction[]>
}

/** A mined transaction of a client's address that this database has no record of. */
export type UnknownTransaction = {
  client_id: string
  hash: string
  sender: string
  nonce: string
  block: bigint
  fee: bigint
  payments: Movement[]
}

/** Returns true if every block is the child of the block before it. With null, the first block may have any parent. */
export function isOneChain(blocks: Pick<SeenBlock, 'hash' | 'parentHash'>[], previousHash: string | null): boolean {
  let parent = previousHash
  for (const block of blocks) {
    if (parent !== null && block.parentHash !== parent) return false
    parent = block.hash
  }
  return true
}
