import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { megabytesOf } from './lib/processes.ts'
import type { BenchRecord } from './lib/record.ts'
import { runOnStack } from './lib/run-bench.ts'
import type { Stack } from './lib/stack.ts'
import { createWorld, type World } from './lib/world.ts'

/**
 * The cost of the files of a long account statement for the node that makes and sends them: the peak resident memory of
 * the whole node, seconds and bytes. Each file is requested as an export and downloaded; CSV is also requested
 * directly. BENCH_POSTINGS is the length of the statement. Requires Linux, which alone reports the peak memory of a
 * process.
 */
const postings = Number(process.env.BENCH_POSTINGS ?? 1_000_000)
const perInsert = 250_000
const interval = { from: '2026-01-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z' }

type Order = { id: string; state: string; percent: number; failure: string | null; sizeBytes: number | null }

let nodePid: number
let port: number
await runOnStack(async ({ record, stack }) => {
  nodePid = stack.nodePid
  port = stack.port
  const world = await createWorld(stack, { vaults: 1, spread: 1, funded: 1 })
  await fill(stack, world)
  record.add('postings', '', postings)
  record.add('resident memory of the node before the first file', 'MB', megabytesOf(nodePid, 'VmRSS'))
  for (const format of ['csv', 'xlsx', 'pdf']) await measureExport(record, world, format)
  await measureInline(record, world)
  await world.close()
})

async function measureExport(record: BenchRecord, world: World, format: string): Promise<void> {
  const { vault, funded, usdt, call, initiator } = world
  const reports = `/vaults/${vault.code}/reports`
  forgetPeak()
  const began = performance.now()
  const { id } = (await call(initiator, 'POST', `${reports}/account_statement/exports`, {
    addressId: funded[0]!.id,
    tokenId: usdt.id,
    format,
    ...interval,
  })) as { id: string }
  let order: Order
  do {
    await sleep(200)
    order = (await call(initiator, 'GET', `${reports}/exports/${id}`)) as Order
  } while (order.state === 'queued' || order.state === 'running')
  if (order.state !== 'done') throw new Error(`${format}: ${order.state}, ${order.failure}`)
  record.add(`${format}, from the order to the file`, 's', (performance.now() - began) / 1_000)
  const making = megabytesOf(nodePid, 'VmHWM')
  record.add(`  resident memory at the highest`, 'MB', making)
  record.expect('exportMemory', making, `${format}, made`)

  forgetPeak()
  const { bytes, seconds } = await download(world, `${reports}/exports/${id}/download`, format)
  if (bytes !== order.sizeBytes) throw new Error(`${format}: ${bytes} bytes came of ${order.sizeBytes}`)
  record.add(`  size`, 'MB', bytes / 1e6)
  record.add(`  download`, 's', seconds)
  record.expect('exportMemory', megabytesOf(nodePid, 'VmHWM'), `${format}, sent`)
}

async function measureInline(record: BenchRecord, world: World): Promise<void> {
  const { vault, funded, usdt } = world
  const query = new URLSearchParams({ addressId: funded[0]!.id, tokenId: usdt.id, format: 'csv', ...interval })
  forgetPeak()
  const { bytes, seconds } = await download(world, `/vaults/${vault.code}/reports/account_statement?${query}`, 'csv')
  record.add(`csv, made while it is sent`, 's', seconds)
  record.add(`  size`, 'MB', bytes / 1e6)
  record.expect('exportMemory', megabytesOf(nodePid, 'VmHWM'), 'csv, made and sent')
}

/**
 * Reads a file to its end without keeping it. BENCH_KEEP names a directory to which small files are saved for
 * inspection.
 */
async function download({ initiator }: World, path: string, format: string) {
  const began = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { authorization: `Bearer ${initiator}` },
  })
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  const kept: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body!) {
    bytes += part.length
    if (process.env.BENCH_KEEP !== undefined) kept.push(part)
  }
  if (process.env.BENCH_KEEP !== undefined) {
    writeFileSync(`${process.env.BENCH_KEEP}/statement.${format}`, Buffer.concat(kept))
  }
  return { bytes, seconds: (performance.now() - began) / 1_000 }
}

/** Inserts deposits on the initiator's address, one a second, with matching ledger entries. */
async function fill({ sql }: Stack, { vault, funded, usdt }: World): Promise<void> {
  const addressId = funded[0]!.id
  const [account] = await sql<{ number: string }>(
    `select number from ledger_accounts where vault_id = $1 and address_id = $2 and token_id = $3 and purpose = 'available'`,
    [vault.id, addressId, usdt.id],
  )
  for (let first = 1; first <= postings; first += perInsert) {
    const last = Math.min(first + perInsert - 1, postings)
    await sql(
      `insert into operations (vault_id, id, type, status, address_id, owner_id, network_id, token_id, amount, flow_type, tx_hash,
         usd_rate, usd_value, counterparty_id, counterparty_name, counterparty_kind, created_at, confirmed_at, blockchain_at, updated_at)
       select a.vault_id, 'cexport' || lpad(i::text, 18, '0'), 'deposit', 'confirmed', a.id, a.owner_id, a.network_id, $3,
         1000000 + i % 999983, 'external', '0x' || md5(i::text) || md5('b' || i), 1, (1000000 + i % 999983) / 1e6,
         case when i % 3 > 0 then 'cparty' || lpad((i % 100)::text, 19, '0') end,
         case when i % 3 > 0 then 'Party number ' || i % 100 || ', Sons & Co.' end, case when i % 3 > 0 then 'company' end,
         at, at, at, at
       from addresses a, generate_series($4::int, $5::int) i,
         lateral (select $6::timestamptz + i * interval '1 second' as at) moment
       where a.vault_id = $1 and a.id = $2`,
      [vault.id, addressId, usdt.id, first, last, interval.from],
    )
    await sql(
      `insert into ledger_entries (vault_id, kind, token_id, operation_id, credit_account, amount, credit_balance, created_at)
       select vault_id, 'deposit', token_id, id, $3, amount, 1, created_at from operations
       where vault_id = $1 and id between 'cexport' || lpad($4::text, 18, '0') and 'cexport' || lpad($5::text, 18, '0')
         and token_id = $2
       order by id`,
      [vault.id, usdt.id, account!.number, first, last],
    )
  }
  await sql('vacuum analyze operations, ledger_entries')
}

/** Resets the peak memory to the current memory. */
function forgetPeak(): void {
  writeFileSync(`/proc/${nodePid}/clear_refs`, '5')
}
