import { sql } from 'kysely'
import type { Db } from '../../../db/client.ts'
import { isOneOf } from '../../../db/one-of.ts'
import type { Deps } from '../../../deps.ts'
import { reconciledPerPage } from '../../../lib/limits.ts'
import { sentPhases } from '../../../lib/operations.ts'
import { isForbiddenWallet, isSilence } from '../../registry/wallet-service/call.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'

const balancesAtOnceMax = 8

/** A balance of an address in the books, with the reasons why the balance on the chain may differ. */
export type BookedBalance = {
  addressId: string
  address: string
  tokenId: string
  code: string
  decimals: number
  network: string
  contract: string | null
  held: bigint
  /** The amount spent of deposits that the chain took back: the address has that much less. */
  exposure: bigint
  /** Network fees that the chain has taken and the books have not posted yet. */
  owedFees: bigint
  /** The amount in transfers at the wallet service, which may have left the address or not. */
  inFlight: bigint
  /** True if the address may have paid a fee in this coin that is not known yet. */
  hasUnknownFee: boolean
}
export type Position = { addressId: string; tokenId: string }

/** `onChain` is null when the wallet service has not answered. */
export type ChainBalance = BookedBalance & { onChain: bigint | null }

type Sums = 'held' | 'exposure' | 'owedFees' | 'inFlight'
type BookedRow = Omit<BookedBalance, Sums> & Record<Sums, string>

/** Returns the next balances of a vault after a position, of all addresses with a balance or an owed fee; reads no more than a page. */
export async function listBooked(db: Db, vaultId: string, after: Position | null): Promise<BookedBalance[]> {
  const isAfter = (address: string, token: string) =>
    after === null ? sql`` : sql`and (${sql.ref(address)}, ${sql.ref(token)}) > (${after.addressId}, ${after.tokenId})`
  const { rows } = await sql<BookedRow>`
    with owed as (
      select coalesce(t.fee_address_id, o.address_id) as address_id, t.fee_token_id, t.fee from transfers t
      join operations o on o.vault_id = t.vault_id and o.id = t.id
      where t.vault_id = ${vaultId} and t.fee_owed
    ), pairs as (
      (select l.address_id, l.token_id from ledger_accounts l
        where l.vault_id = ${vaultId} and l.address_id <> '' ${isAfter('l.address_id', 'l.token_id')}
        group by l.address_id, l.token_id order by l.address_id, l.token_id limit ${reconciledPerPage})
      union
      (select f.address_id, f.fee_token_id from owed f
        where true ${isAfter('f.address_id', 'f.fee_token_id')}
        group by 1, 2 order by 1, 2 limit ${reconciledPerPage})
      order by address_id, token_id limit ${reconciledPerPage}
    ), flying as (
      select o.address_id, o.token_id, sum(o.amount) as amount from deliveries d
      join transfers t on t.vault_id = d.vault_id and t.id = d.id and ${isOneOf('t.phase', [...sentPhases, 'halted'])}
      join operations o on o.vault_id = t.vault_id and o.id = t.id
      where d.vault_id = ${vaultId} and d.queue <> 'votes'
        and o.address_id in (select address_id from pairs)
      group by o.address_id, o.token_id
    )
    select p.address_id as "addressId", a.address, p.token_id as "tokenId", k.code, k.decimals, n.slug as network,
      k.contract_address as contract,
      (select coalesce(sum(l.balance), 0) from ledger_accounts l
        where l.vault_id = ${vaultId} and l.address_id = p.address_id and l.token_id = p.token_id) as held,
      (select coalesce(sum(l.exposure), 0) from ledger_accounts l
        where l.vault_id = ${vaultId} and l.address_id = p.address_id and l.token_id = p.token_id) as exposure,
      (select coalesce(sum(f.fee), 0) from owed f
        where f.address_id = p.address_id and f.fee_token_id = p.token_id) as "owedFees",
      coalesce((select f.amount from flying f where f.address_id = p.address_id and f.token_id = p.token_id), 0)
        as "inFlight",
      k.contract_key = '' and exists (select from flying f where f.address_id = p.address_id) as "hasUnknownFee"
    from pairs p
    join addresses a on a.vault_id = ${vaultId} and a.id = p.address_id
    join tokens k on k.id = p.token_id
    join networks n on n.id = k.network_id
    order by p.address_id, p.token_id`.execute(db)
  return rows.map(({ held, exposure, owedFees, inFlight, ...row }) => {
    const sums = {
      held: BigInt(held),
      exposure: BigInt(exposure),
      owedFees: BigInt(owedFees),
      inFlight: BigInt(inFlight),
    }
    return { ...row, ...sums }
  })
}

/**
 * Returns the amount by which the chain has more, or less, than the books explain. Owed fees have left the address, and amounts
 * in flight may have. The coin that pays fees lacks nothing while a fee of an unknown amount may be paid.
 */
export function unexplained(booked: Omit<BookedBalance, 'code'>, onChain: bigint): bigint {
  const most = booked.held - booked.exposure - booked.owedFees
  if (onChain > most) return onChain - most
  const least = booked.hasUnknownFee ? 0n : most - booked.inFlight
  return onChain < least ? onChain - least : 0n
}

/**
 * Walks all balances of a vault and asks the wallet service for each. A wallet service that does not answer is not asked again;
 * an address that it refuses to answer for is left out.
 */
export async function* walkBalances(
  deps: Deps,
  vaultId: string,
  { after, deadline }: { after: Position | null; deadline: () => AbortSignal },
): AsyncGenerator<{ page: ChainBalance[]; isSilent: boolean }> {
  const wallet = await walletOfVault(deps, vaultId).catch((error: unknown) => {
    deps.log.error({ err: error, vaultId }, 'the wallet service is not asked for balances')
    return null
  })
  let isSilent = wallet === null
  const ask = async (booked: BookedBalance): Promise<ChainBalance> => {
    if (wallet === null || isSilent) return { ...booked, onChain: null }
    try {
      const { balance } = await wallet.getBalance(booked, deadline())
      return { ...booked, onChain: BigInt(balance) }
    } catch (error) {
      if (!isSilent) deps.log.warn({ err: error, vaultId }, 'the wallet service did not report every balance')
      isSilent ||= isSilence(error) || isForbiddenWallet(error)
      return { ...booked, onChain: null }
    }
  }
  for (let from = after; ; ) {
    const booked = await listBooked(deps.db, vaultId, from)
    const page: ChainBalance[] = []
    while (page.length < booked.length) {
      // The first answer shows whether further questions are useful.
      const count = from === after && page.length === 0 ? 1 : balancesAtOnceMax
      page.push(...(await Promise.all(booked.slice(page.length, page.length + count).map(ask))))
    }
    yield { page, isSilent }
    if (booked.length < reconciledPerPage) return
    from = booked.at(-1)!
  }
}
