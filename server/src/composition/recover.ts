import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { formatDecimal } from '../lib/money.ts'
import { noteHandedOver } from '../modules/money/delivery/note-handed-over.ts'
import { creditUnmatchedEvents } from '../modules/money/deposits/actions.ts'
import { haltTransfer } from '../modules/money/transfers/move.ts'
import { lockTransfer } from '../modules/money/transfers/queries.ts'
import type { AcceptedEntry, TransferStatus } from '../modules/registry/wallet-service/answers.ts'
import type { WalletClient } from '../modules/registry/wallet-service/client.ts'
import { takeAddressIn } from '../modules/vaults/addresses/take-in.ts'
import {
  type Difference,
  type HaltedVault,
  liftHalt,
  listHaltedVaults,
  readDifference,
} from '../modules/vaults/wallets/lift-halt.ts'
import { listUnknown } from '../modules/vaults/wallets/wallet-marks.ts'
import { walletOfVault } from '../modules/vaults/wallets/wallet-settings.ts'

/** The greatest number of events that a request asks for again, and the time in which they must arrive. */
const replayedMax = 500
export const replayMillisecondsMax = 60_000

type Recovering = Pick<Deps, 'config' | 'sealer' | 'log' | 'clock'> & { db: Db }
type Recovery = {
  isDry: boolean
  /** The e-mail address of the member who becomes the owner of lost addresses; null if the operator named no member. */
  owner: string | null
  operator: string
  say(line: string): void
  /** The time to wait for events that were requested again. */
  replayMilliseconds: number
}

type Of<Kind extends AcceptedEntry['kind']> = Extract<AcceptedEntry, { kind: Kind }>

/**
 * Adds lost addresses and then lost events about deposits to the books of halted vaults, and says which payments people must book.
 * Ends the halt of a vault when no difference is left. It may be run again at any time, and does nothing twice.
 *
 * @returns the number of vaults that stay halted
 */
export async function recoverVaults(deps: Recovering, recovery: Recovery): Promise<number> {
  const vaults = await listHaltedVaults(deps.db)
  if (vaults.length === 0) recovery.say('No vault is halted.')
  let left = 0
  for (const vault of vaults) {
    recovery.say(`${vault.code}: ${reasonTexts[vault.reason]}`)
    const isLifted = await recoverVault(deps, vault, recovery).catch((error: unknown) => {
      recovery.say(`${vault.code}: ${error instanceof Error ? error.message : String(error)}`)
      return false
    })
    if (!isLifted) left += 1
  }
  return left
}

const reasonTexts = {
  books_behind: 'the wallet service has accepted what the books do not have',
  wallet_behind: 'the wallet service no longer has what it accepted before',
}

async function recoverVault(deps: Recovering, vault: HaltedVault, recovery: Recovery): Promise<boolean> {
  const { db } = deps
  const { say, isDry, operator } = recovery
  const tell = (line: string) => say(`${vault.code}: ${line}`)
  const wallet = await walletOfVault(deps, vault.id)
  if (vault.reason === 'wallet_behind') await watchAddressesAgain(deps, wallet, vault, recovery)
  const difference = await readDifference(db, wallet, vault.id)
  const addresses = ofKind(difference.unknown, 'address')
  const events = ofKind(difference.unknown, 'event')
  const transfers = ofKind(difference.unknown, 'transfer')
  const transactions = ofKind(difference.unknown, 'transaction')
  tell(
    `unknown to the books: ${addresses.length} addresses, ${events.length} events, ${transfers.length} transfers, ` +
      `${transactions.length} transactions that nobody has a record of`,
  )

  await takeIn(deps, vault, addresses, recovery)
  if (!isDry) await replay(deps, wallet, { vault, events, recovery })
  const open =
    (await listOpenPayments(deps, wallet, { vault, transfers, isDry, say: tell })) +
    (await listOpenTransactions(deps, { vault, transactions, isDry, say: tell }))
  const left = (await listUnknown(db, vault.id, [...addresses, ...events])).length + open
  if (isDry) {
    tell(left === 0 ? 'would be lifted' : 'nothing was changed')
    return left === 0
  }
  if (left > 0) {
    tell(`stays halted: ${left} of them are left. Run this command again when they are settled`)
    return false
  }
  const recovered = {
    addresses: addresses.length,
    events: events.length,
    transfers: transfers.map(({ id }) => id),
    transactions: transactions.map(({ txHash }) => txHash),
  }
  const isLifted = await liftHalt(db, vault.id, { ...placeOf(difference), operator, recovered, now: deps.clock() })
  tell(isLifted ? 'is no longer halted' : 'has changed meanwhile; run this command again')
  return isLifted
}

const placeOf = ({ unknown: _, ...place }: Difference) => place

const ofKind = <Kind extends AcceptedEntry['kind']>(entries: AcceptedEntry[], kind: Kind): Of<Kind>[] =>
  entries.filter((entry): entry is Of<Kind> => entry.kind === kind)

async function takeIn(
  deps: Recovering,
  { id: vaultId, code }: HaltedVault,
  addresses: Of<'address'>[],
  { isDry, owner, operator, say }: Recovery,
): Promise<void> {
  for (const { address, derivationPath } of addresses) say(`${code}: address ${address} (${derivationPath})`)
  if (isDry || addresses.length === 0) return
  const ownerId = owner === null ? null : await findMember(deps.db, vaultId, owner)
  if (ownerId === null) {
    say(`${code}: name the member who takes these addresses in: --owner EMAIL`)
    return
  }
  for (const lost of addresses) {
    const onAddressCreated: Parameters<typeof takeAddressIn>[2]['onAddressCreated'] = (trx, row) =>
      creditUnmatchedEvents(
        trx,
        { vaultId, networkId: row.network_id, addressKey: row.address_key },
        { now: deps.clock(), isScreened: deps.config.screening !== null },
      )
    await takeAddressIn(deps, lost, { vaultId, ownerId, operator, onAddressCreated })
    say(`${code}: took in ${lost.address}`)
  }
}

async function findMember(db: Db, vaultId: string, email: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select u.id from users u where u.email = ${email} and u.disabled_at is null and exists (
      select from policy_group_memberships m where m.vault_id = ${vaultId} and m.user_id = u.id)`.execute(db)
  return rows[0]?.id ?? null
}

type Replay = { vault: HaltedVault; events: Of<'event'>[]; recovery: Recovery }

/** Requests lost events again, and waits until the running service has them. */
async function replay({ db }: Recovering, wallet: WalletClient, { vault, events, recovery }: Replay): Promise<void> {
  const { say, replayMilliseconds } = recovery
  if (events.length === 0) return
  for (let first = 0; first < events.length; first += replayedMax) {
    const ids = events.slice(first, first + replayedMax).map(({ id }) => id)
    const replayed = await wallet.replayEvents(ids)
    if (replayed === null) throw new Error('the wallet service cannot send events again; have it send them')
    say(`${vault.code}: asked for ${replayed} events again`)
  }
  const until = Date.now() + replayMilliseconds
  while (Date.now() < until && (await listUnknown(db, vault.id, events)).length > 0) await sleep(500)
  const left = (await listUnknown(db, vault.id, events)).length
  if (left > 0) say(`${vault.code}: ${left} events have not come: a node of the service must run and take them`)
}

type Payments = { vault: HaltedVault; transfers: Of<'transfer'>[]; isDry: boolean; say(line: string): void }

/**
 * Says for each transfer that the books lost what the wallet service did with it, and how people book it. Returns the number of
 * transfers that are not settled: their outcome is open, or nobody has booked it. A transfer that waits for its hand-over in the
 * books is followed from now on.
 */
async function listOpenPayments(
  { db, clock }: Recovering,
  wallet: WalletClient,
  { vault, transfers, isDry, say }: Payments,
): Promise<number> {
  let open = 0
  for (const { id } of transfers) {
    const status = await wallet.getTransfer(id)
    if (status === null) throw new Error(`the wallet service lists the transfer ${id} and does not know it`)
    const booked = await findInBooks(db, vault.id, id)
    if (booked?.status === 'pending') {
      say(`transfer ${id} is ${status.status} at the wallet service, and is followed from now on`)
      if (!isDry) await noteHandedOver(db, vault.id, id, clock())
      continue
    }
    if (booked?.status === 'awaiting_approval') {
      open += 1
      say(
        `transfer ${id} waits for votes in the books, and is ${status.status} at the wallet service: have it decided first`,
      )
      continue
    }
    if (status.status !== 'confirmed' && status.status !== 'failed') {
      open += 1
      say(`transfer ${id} is ${status.status} at the wallet service: wait for its end, or cancel it there`)
      continue
    }
    for (const booking of await listBookings(db, vault.id, status)) {
      if (booking.isBooked) say(`transfer ${id}: ${booking.text} is booked`)
      else {
        open += 1
        say(`transfer ${id} was ${status.status} (${status.txHash ?? 'no transaction'}): book ${booking.text}`)
        say(`  POST /vaults/${vault.code}/adjustments ${JSON.stringify(booking.body)}`)
      }
    }
  }
  return open
}

async function findInBooks(db: Db, vaultId: string, id: string): Promise<{ status: string } | null> {
  const { rows } = await sql<{ status: string }>`
    select o.status from operations o where o.vault_id = ${vaultId} and o.id = ${id}`.execute(db)
  return rows[0] ?? null
}

type Booking = { text: string; isBooked: boolean; body: object }

type Transactions = { vault: HaltedVault; transactions: Of<'transaction'>[]; isDry: boolean; say(line: string): void }

/**
 * Says how people book each transaction of which neither the books nor the wallet service has a record. If a transfer in the books
 * orders the same payment, the transaction may have paid it, so that the transfer is halted until people have decided. Returns the
 * number of transactions that are not settled.
 */
async function listOpenTransactions(
  { db, log, clock }: Recovering,
  { vault, transactions, isDry, say }: Transactions,
): Promise<number> {
  let open = 0
  const named: string[] = []
  for (const transaction of transactions) {
    const { txHash } = transaction
    const ordered = await findOrdered(db, vault.id, { transaction, except: named })
    if (ordered !== null) {
      open += 1
      named.push(ordered.id)
      if (ordered.status === 'pending' && !isDry)
        await stopPaid(db, log, { vaultId: vault.id, id: ordered.id, txHash, now: clock() })
      say(
        ordered.status === 'pending'
          ? `transaction ${txHash} pays what transfer ${ordered.id} orders, which is halted: two people settle it\n` +
              `  POST /vaults/${vault.code}/transfers/${ordered.id}/resolve ${JSON.stringify(settlementBy(txHash))}`
          : `transaction ${txHash} pays what transfer ${ordered.id} orders, which waits for votes: have it rejected or cancelled`,
      )
      continue
    }
    for (const booking of await listBookingsOf(db, vault.id, transaction)) {
      if (booking.isBooked) say(`transaction ${txHash}: ${booking.text} is booked`)
      else {
        open += 1
        say(`transaction ${txHash}: book ${booking.text}`)
        say(`  POST /vaults/${vault.code}/adjustments ${JSON.stringify(booking.body)}`)
      }
    }
  }
  return open
}

const settlementBy = (txHash: string) => ({ outcome: 'settle', txHash, reason: `Paid by ${txHash}` })

type Search = { transaction: Of<'transaction'>; except: string[] }

/** Finds the oldest transfer that orders a payment of the transaction, has not ended, and has no known transaction. */
async function findOrdered(
  db: Db,
  vaultId: string,
  { transaction: { network, fromAddress, payments }, except }: Search,
): Promise<{ id: string; status: string } | null> {
  for (const { toAddress, contractAddress, amount } of payments) {
    const { rows } = await sql<{ id: string; status: string }>`
      select o.id, o.status from networks n
      join addresses a on a.vault_id = ${vaultId} and a.network_id = n.id and lower(a.address_key) = lower(${fromAddress})
      join tokens t on t.network_id = n.id and lower(t.contract_key) = lower(${contractAddress ?? ''})
      join operations o on o.vault_id = a.vault_id and o.address_id = a.id and o.token_id = t.id and o.type = 'transfer'
      join transfers f on f.vault_id = o.vault_id and f.id = o.id
      where n.slug = ${network} and o.status in ('pending', 'awaiting_approval') and o.tx_hash is null
        and o.amount = ${amount}::numeric and lower(f.to_address_key) = lower(${toAddress}) and o.id <> all(${except}::text[])
      order by o.created_at, o.id limit 1`.execute(db)
    if (rows[0] !== undefined) return rows[0]
  }
  return null
}

type Paid = { vaultId: string; id: string; txHash: string; now: Date }

async function stopPaid(db: Db, log: Deps['log'], { vaultId, id, txHash, now }: Paid): Promise<void> {
  await inTransaction(db, async (trx) => {
    const transfer = await lockTransfer(trx, vaultId, id)
    if (transfer?.status !== 'pending' || transfer.phase === 'halted') return
    await haltTransfer(
      trx,
      log,
      transfer,
      `${txHash} pays what it orders, and nobody has a record of that transaction`,
      now,
    )
  })
}

async function listBookingsOf(
  db: Db,
  vaultId: string,
  { network, txHash, fromAddress, payments, fee }: Of<'transaction'>,
): Promise<Booking[]> {
  const wanted = payments.map(({ toAddress, contractAddress, amount }, n) => ({
    contract: contractAddress ?? '',
    raw: amount,
    reason: `Found transaction ${txHash} to ${toAddress}${n === 0 ? '' : `, ${n + 1}`}`,
  }))
  if (fee !== '0') wanted.push({ contract: '', raw: fee, reason: `Found fee of ${txHash}` })
  return await toBookings(db, { vaultId, network, fromAddress, name: `transaction ${txHash}` }, wanted)
}

/** Returns the adjustments that book a transfer: its amount and its fee. The reason of each adjustment names the transfer. */
async function listBookings(db: Db, vaultId: string, status: TransferStatus): Promise<Booking[]> {
  const { id, network, contractAddress, amount, fromAddress, toAddress } = status
  const wanted = [
    ...(status.status === 'confirmed'
      ? [{ contract: contractAddress ?? '', raw: amount, reason: `Recovered transfer ${id} to ${toAddress}` }]
      : []),
    ...(status.fee === null || status.fee === '0'
      ? []
      : [{ contract: '', raw: status.fee, reason: `Recovered fee of ${id}` }]),
  ]
  return await toBookings(db, { vaultId, network, fromAddress, name: `transfer ${id}` }, wanted)
}

type Source = {
  vaultId: string
  network: TransferStatus['network']
  fromAddress: TransferStatus['fromAddress']
  name: string
}
type Wanted = { contract: string; raw: string | null | undefined; reason: string }

async function toBookings(
  db: Db,
  { vaultId, network, fromAddress, name }: Source,
  wanted: Wanted[],
): Promise<Booking[]> {
  const bookings: Booking[] = []
  for (const { contract, raw, reason } of wanted) {
    const { rows } = await sql<{
      addressId: string
      tokenId: string
      decimals: number
      code: string
      isBooked: boolean
    }>`
      select a.id as "addressId", t.id as "tokenId", t.decimals, t.code, exists (
        select from adjustments j where j.vault_id = a.vault_id and j.address_id = a.id and j.token_id = t.id
          and j.reason = ${reason} and j.amount = -(${raw}::numeric)) as "isBooked"
      from networks n
      join addresses a on a.vault_id = ${vaultId} and a.network_id = n.id and lower(a.address_key) = lower(${fromAddress})
      join tokens t on t.network_id = n.id and lower(t.contract_key) = lower(${contract})
      where n.slug = ${network}`.execute(db)
    const found = rows[0]
    if (found === undefined || raw == null) throw new Error(`${name}: its address or token is not in the books`)
    const { addressId, tokenId, decimals, code, isBooked } = found
    const decimal = `-${formatDecimal(BigInt(raw), decimals)}`
    bookings.push({ text: `${decimal} ${code}`, isBooked, body: { addressId, tokenId, amount: decimal, reason } })
  }
  return bookings
}

/** Creates each address of the vault again at a wallet service that lost its state, so that it watches the addresses. */
async function watchAddressesAgain(
  { db }: Recovering,
  wallet: WalletClient,
  { id, code }: HaltedVault,
  { isDry, say }: Recovery,
): Promise<void> {
  const { rows } = await sql<{ network: string; coinType: number; derivationPath: string; address: string }>`
    select n.slug as network, n.coin_type as "coinType", a.derivation_path as "derivationPath", a.address
    from addresses a join networks n on n.id = a.network_id where a.vault_id = ${id} order by a.created_at, a.id`.execute(
    db,
  )
  if (isDry) return say(`${code}: would have ${rows.length} addresses watched again`)
  for (const { address: stored, ...order } of rows) {
    const { address } = await wallet.createAddress(order)
    if (address.toLowerCase() !== stored.toLowerCase())
      throw new Error(`the wallet service has another address of ${order.derivationPath}: ${address}`)
  }
  say(`${code}: ${rows.length} addresses are watched again`)
}
