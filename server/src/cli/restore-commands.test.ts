import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sealLedgerEntries } from '../modules/money/ledger/ledger-seals.ts'
import { buildProject } from '../testing/build-project.ts'
import { bundledProgram } from '../testing/bundled-program.ts'
import { fakeAddress } from '../testing/fake-wallet.ts'
import { createTransferBench, type TransferBench } from '../testing/transfer-bench.ts'

/** The vault whose database the commands repair, on a machine whose data directory has the key. */
let bench: TransferBench
let dataDir: string
let program: string
beforeAll(async () => {
  buildProject('build:server')
  program = await bundledProgram('server/dist/cli/cli.js')
  bench = await createTransferBench()
  dataDir = await mkdtemp(join(tmpdir(), 'strongroom-restore-commands-'))
  await writeFile(join(dataDir, 'secret-key'), `${bench.test.deps.config.secretKey}\n`)
})
afterAll(async () => {
  await bench.close()
  await rm(dataDir, { recursive: true, force: true })
})

function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { PATH: process.env.PATH, DEMO: 'true', DATABASE_URL: bench.test.databaseUrl, DATA_DIR: dataDir }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...args], { env }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    )
  })
}
const records = async (action: string) =>
  (await bench.sql(`select content from audit_records where action = '${action}'`)).map(
    ({ content }) => JSON.parse(content).details,
  )

it('`ledger seal-late` needs a reason, names what it seals late, and finds nothing afterwards', async () => {
  await sealLedgerEntries(bench.test.deps)
  await bench.fundedAddress({ usdt: '2' })
  const missed = await bench.sql('delete from ledger_unsealed returning sequence')
  expect(missed.length).toBeGreaterThan(0)
  expect(await run('ledger', 'verify')).toMatchObject({ code: 1 })

  const unreasoned = await run('ledger', 'seal-late')
  expect(unreasoned).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--reason') })
  expect(await records('ledger.sealed_late')).toEqual([])

  const late = await run('ledger', 'seal-late', '--reason', 'An old node wrote beside the new schema')
  expect(late).toEqual({
    code: 0,
    out: expect.stringMatching(
      new RegExp(
        `^main-vault: ${missed.length} entries wait for the next seal: [-0-9, ]+\nIt is on the record of these vaults.\n$`,
      ),
    ),
    err: '',
  })
  expect(await records('ledger.sealed_late')).toMatchObject([
    { count: missed.length, reason: 'An old node wrote beside the new schema' },
  ])
  await sealLedgerEntries(bench.test.deps)
  expect(await run('ledger', 'verify')).toMatchObject({ code: 0 })
  expect(await run('ledger', 'seal-late', '--reason', 'Once more')).toEqual({
    code: 0,
    out: 'Each entry is in a seal or waits for one.\n',
    err: '',
  })
})

it('`recover` prints the losses, ends with 1 while a loss is left, and ends the halt', async () => {
  expect(await run('recover')).toEqual({ code: 0, out: 'No vault is halted.\n', err: '' })
  const { id } = bench.vault
  bench.vault.wallet.accepted = []
  await bench.sql(`update vaults set halted_at = now(), halt_reason = 'books_behind' where id = '${id}'`)
  const lost = { kind: 'transfer', id: 'a-transfer-that-the-books-lost' } as const
  bench.vault.wallet.accepted.push(lost)
  const unknown = await run('recover', '--owner', 'nobody@example.org')
  expect(unknown).toMatchObject({ code: 1, err: '' })
  expect(unknown.out).toContain('does not know it')
  const halted = () => bench.sql('select from vaults where halted_at is not null')
  expect(await halted()).toHaveLength(1)

  bench.vault.wallet.accepted.pop()
  const address = { kind: 'address', network: 'ethereum', derivationPath: 'm/0', address: fakeAddress('lost') } as const
  bench.vault.wallet.accepted.push(address)
  const nameTheMember = 'name the member who takes these addresses in'
  const takenBy = async (owner: string) => !(await run('recover', '--owner', owner)).out.includes(nameTheMember)
  expect(await takenBy(' Owner@Example.org ')).toBe(true)
  expect(await run('recover', '--owner', 'owner')).toMatchObject({ code: 2, err: expect.stringContaining('e-mail') })
  await bench.sql('update users set disabled_at = now() where id = $1', [bench.owner.userId])
  expect(await takenBy('owner@example.org')).toBe(false)
  await bench.sql('update users set disabled_at = null where id = $1', [bench.owner.userId])
  bench.vault.wallet.accepted.pop()
  const dry = await run('recover', '--dry-run')
  expect(dry).toMatchObject({ code: 0, err: '' })
  expect(dry.out).toMatch(/^main-vault: would be lifted$/m)
  expect(await halted()).toHaveLength(1)
  const lifted = await run('recover')
  expect(lifted).toMatchObject({ code: 0, err: '' })
  expect(lifted.out).toMatch(/^main-vault: is no longer halted$/m)
  expect(await halted()).toEqual([])
  expect(await records('vault.halt_lifted')).toMatchObject([{ reason: 'books_behind', transfers: [] }])
})
