import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
afterEach(() => bench.expectSoundLedger())

const phaseOf = async (id: string) => (await bench.sql('select phase from transfers where id = $1', [id]))[0]?.phase
const posted = (id: string) =>
  bench.vault.wallet.requests.filter(({ method, body }) => method === 'POST' && body?.id === id)

/** Copies every row of the database. The returned function restores exactly these rows, as a restore does. */
async function backUp(): Promise<() => Promise<void>> {
  const tables = await bench.sql(
    `select table_name as name, string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
     from information_schema.columns join pg_tables on tablename = table_name and schemaname = table_schema
     where table_schema = 'public' and is_generated = 'NEVER' group by table_name`,
  )
  await bench.sql('drop schema if exists backup cascade; create schema backup')
  for (const { name } of tables) await bench.sql(`create table backup.${name} as table public.${name}`)
  const copies = tables.map(
    ({ name, columns }) =>
      `insert into public.${name} (${columns}) overriding system value select ${columns} from backup.${name};`,
  )
  return async () => {
    await bench.sql(
      `begin; set local session_replication_role = replica;
       truncate ${tables.map(({ name }) => `public.${name}`).join(', ')}; ${copies.join('\n')} commit`,
    )
  }
}

describe('T26 a service whose database was restored from an older backup', () => {
  it.each(['queued', 'submitted'])('T5 T26 carries out an order that was %s once, under the same id', async (phase) => {
    const { id: addressId } = await bench.fundedAddress()
    const { id } = (await bench.order(addressId, '10')).body
    if (phase === 'submitted') await bench.deliver()
    expect(await phaseOf(id)).toBe(phase)
    const restore = await backUp()
    await bench.deliver()
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    const { id: later } = (await bench.order(addressId, '20')).body
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed' })
    expect(await bench.balances(addressId)).toEqual({ available: '970', reserved: '20' })

    await restore()
    expect(await phaseOf(id)).toBe(phase)
    await bench.deliver()
    await bench.deliver()
    expect(await bench.read(id)).toMatchObject({ status: 'confirmed' })
    expect(bench.vault.wallet.broadcastCount(id)).toBe(1)
    // Every order that was sent under the id was the same.
    expect(new Set(posted(id).map(({ body }) => JSON.stringify(body))).size).toBe(1)

    // An order after the backup is unknown here. Its id is not given to another order, and it is not sent again.
    expect(await phaseOf(later)).toBeUndefined()
    const again = (await bench.order(addressId, '20')).body
    expect(again.id).not.toBe(later)
    await bench.deliver()
    expect(posted(later)).toHaveLength(1)
    expect(await bench.balances(addressId)).toEqual({ available: '970', reserved: '20' })
  })

  it('T26 halts, and releases nothing, when the wallet service lost the order too', async () => {
    const { id: addressId } = await bench.fundedAddress()
    const { id } = (await bench.order(addressId, '10')).body
    await bench.deliver()
    const restore = await backUp()
    bench.vault.wallet.confirm(id)
    await bench.deliver()
    await restore()
    bench.vault.wallet.forget(id)
    for (let round = 0; round < 3; round += 1) await bench.deliver()
    expect(await bench.read(id)).toMatchObject({
      status: 'pending',
      haltReason: expect.stringContaining('no longer knows'),
    })
    expect(posted(id)).toHaveLength(1)
    expect(await bench.balances(addressId)).toEqual({ available: '990', reserved: '10' })
  })
})
