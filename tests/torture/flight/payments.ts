import { assertTransfersAndVotes, readSeen, refuse } from '../checks.ts'
import type { Acknowledged } from '../load.ts'
import type { Books } from '../stack.ts'
import type { World } from '../world.ts'
import type { Chain, Mined } from './chain.ts'
import type { WalletProcess } from './wallet-process.ts'

type Scene = {
  stack: Books
  wallet: Pick<WalletProcess, 'sql'>
  chain: Chain
  world: World
  acknowledged: Acknowledged
}

/** At every moment: the nonces that the wallet has given are those from 0 to the next one, without a gap. */
export async function assertNoGap(wallet: Pick<WalletProcess, 'sql'>): Promise<void> {
  const gaps = await wallet.sql(`
    select n.address, n.next_nonce, count(t.nonce)::int as count, max(t.nonce) as last
    from wallet.nonces n left join wallet.transfers t on t.network = n.network and t.from_address = n.address
    group by n.network, n.address having n.next_nonce <> count(t.nonce) or n.next_nonce <> coalesce(max(t.nonce) + 1, 0)`)
  refuse(
    'Nonces',
    gaps.map(({ address, next_nonce, count, last }) => `${address}: next ${next_nonce}, ${count} given, last ${last}`),
  )
}

/** At every moment: nobody was paid twice, whatever has not ended. */
export async function assertNoneTwice(chain: Chain, { addresses }: World): Promise<void> {
  const vault = new Set(addresses.map(({ address }) => address.toLowerCase()))
  const times = new Map<string, number>()
  for (const { from, to } of await chain.readMined()) if (vault.has(from)) times.set(to, (times.get(to) ?? 0) + 1)
  refuse(
    'Payments',
    [...times].flatMap(([to, count]) => (count > 1 ? [`${to} was paid ${count} times`] : [])),
  )
}

/**
 * When nothing is open: each acknowledged transfer is paid by exactly one transaction of the chain, no other transaction left the
 * vault's addresses, and ledger, wallet and chain agree on each address. Returns the number of payments.
 */
export async function assertPaidOnce({ stack, wallet, chain, world, acknowledged }: Scene): Promise<number> {
  const seen = await readSeen(stack)
  assertTransfersAndVotes(seen, acknowledged)
  refuse(
    'What is not over',
    seen.transfers.flatMap(({ to_address, status }) =>
      status === 'confirmed' || status === 'rejected' ? [] : [`${to_address} is ${status}`],
    ),
  )
  const mined = await chain.readMined()
  const vault = new Set(world.addresses.map(({ address }) => address.toLowerCase()))
  const payments = mined.filter(({ from }) => vault.has(from))
  refuse('Payments', findWrongPayments(payments, acknowledged))
  refuse('Deposits', await findWrongDeposits(stack, mined, vault))
  refuse('Addresses', await findWrongAddresses({ stack, wallet, chain, world }))
  return payments.length
}

function findWrongPayments(payments: Mined[], acknowledged: Acknowledged): string[] {
  const faults: string[] = []
  const byRecipient = new Map<string, Mined[]>()
  for (const payment of payments) byRecipient.set(payment.to, [...(byRecipient.get(payment.to) ?? []), payment])
  for (const [toAddress, { amount, isVetoed }] of acknowledged.transfers) {
    const paid = byRecipient.get(toAddress.toLowerCase()) ?? []
    byRecipient.delete(toAddress.toLowerCase())
    if (paid.length !== (isVetoed ? 0 : 1)) faults.push(`${toAddress} was paid ${paid.length} times`)
    for (const { value, failed, hash } of paid)
      if (failed || value !== amount) faults.push(`${hash} pays ${value}${failed ? ' in vain' : ''}, not ${amount}`)
  }
  for (const [to, [payment]] of byRecipient) faults.push(`${payment!.hash} pays ${to}, and nobody asked for it`)
  return faults
}

/** The chain is where deposits come from, so it says what must be credited. */
async function findWrongDeposits(stack: Books, mined: Mined[], vault: Set<string>): Promise<string[]> {
  const rows = await stack.sql(
    'select d.tx_hash, o.amount::text from deposits d join operations o using (vault_id, id)',
  )
  const credited = new Map<string, string[]>()
  for (const { tx_hash, amount } of rows) credited.set(tx_hash, [...(credited.get(tx_hash) ?? []), amount])
  const faults: string[] = []
  for (const { hash, value } of mined.filter(({ to, failed }) => vault.has(to) && !failed)) {
    const amounts = credited.get(hash) ?? []
    credited.delete(hash)
    if (amounts.join() !== `${value}`) faults.push(`${hash} deposits ${value}, credited is [${amounts.join()}]`)
  }
  for (const hash of credited.keys()) faults.push(`${hash} is credited, and the chain has it not`)
  return faults
}

async function findWrongAddresses({ stack, wallet, chain, world }: Omit<Scene, 'acknowledged'>): Promise<string[]> {
  const balances = new Map<string, string>(
    (await stack.sql('select address_id, sum(balance)::text as balance from ledger_accounts group by address_id')).map(
      (row) => [row.address_id, row.balance],
    ),
  )
  const nonces = new Map<string, string>(
    (await wallet.sql('select address, next_nonce::text from wallet.nonces')).map((row) => [
      row.address,
      row.next_nonce,
    ]),
  )
  const faults: string[] = []
  for (const { id, address } of world.addresses) {
    const onChain = await chain.balanceOf(address)
    if (balances.get(id) !== `${onChain}`) faults.push(`${address} has ${onChain}, the ledger says ${balances.get(id)}`)
    const sent = await chain.transactionsOf(address)
    if (Number(nonces.get(address) ?? 0) !== sent)
      faults.push(`${address} has sent ${sent}, the next nonce of the wallet is ${nonces.get(address)}`)
  }
  return faults
}
