import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { describeSettings, readCommandConfig } from './config.ts'
import { type Db, openDatabase } from './db/client.ts'
import { connectEmbeddedPostgres, startEmbeddedPostgres } from './db/embedded.ts'
import { createJobQueue, type JobQueue } from './db/job-queue.ts'
import { migrate } from './db/migrate.ts'
import { inTransaction } from './db/transaction.ts'
import { describeFailure } from './describe-failure.ts'
import { magicLinkTtlMinutes } from './lib/limits.ts'
import { verifyLedger } from './modules/money/ledger/verify.ts'
import { verifyTransfers } from './modules/money/transfers/verify.ts'
import { createSignInLink } from './modules/people/sign-in/actions.ts'
import { addPlatformAdmin } from './modules/people/users/actions.ts'
import { verifyAudit } from './modules/record/audit/verify.ts'
import { verifyRequests } from './modules/rules/approval-requests/verify.ts'

/** Like diff: 0 all is well, 1 a verification found something, 2 the command could not do its work. */
const foundDifference = 1
const couldNotRun = 2

const program = new Command('strongroom')
  .description('Custody vault service: the books, the rules and the record around digital assets')
  .exitOverride()

program
  .command('start')
  .description('run the service until it is told to stop')
  .action(async () => {
    await import('./main.ts')
  })

program
  .command('migrate')
  .description('bring the database up to this version')
  .action(() =>
    withDatabaseUrl({ mayCreate: true }, async (url) => {
      await migrate(url)
      print('The database is up to date.')
    }),
  )

program.command('config').description('list the settings, what they mean, and what they are now').action(printSettings)

const admin = program.command('admin').description('platform administrators')

admin
  .command('add')
  .argument('<email>')
  .description('make a person a platform administrator and print a link to sign in with')
  .action((email: string) =>
    withDatabase(async (db, jobs) => {
      const address = parseEmail(email)
      await inTransaction(db, (trx) => addPlatformAdmin(trx, address, new Date()))
      print(`${address} is a platform administrator. Sign in within ${magicLinkTtlMinutes} minutes:`)
      print(await makeSignInLink(db, jobs, address))
    }),
  )

admin
  .command('link')
  .argument('<email>')
  .description('print a link to sign in with, for a person whose mail does not arrive; it is on the record')
  .action((email: string) => withDatabase(async (db, jobs) => print(await makeSignInLink(db, jobs, parseEmail(email)))))

program
  .command('ledger')
  .description('the books')
  .command('verify')
  .option('--json', 'print the result as JSON')
  .description('recompute the whole ledger; exits 1 on a difference')
  .action((options: { json?: true }) => withDatabase((db) => reportLedger(db, options.json === true)))

program
  .command('audit')
  .description('the record')
  .command('verify')
  .option('--json', 'print the result as JSON')
  .description(
    'recompute the audit record and compare transfers, requests and votes with it; exits 1 when something was changed. Note the seals it prints somewhere else',
  )
  .action((options: { json?: true }) => withDatabase((db) => reportAudit(db, options.json === true)))

program
  .command('openapi')
  .description('print the OpenAPI document of this version')
  .action(async () => {
    const { describeApi } = await import('./describe-api.ts')
    process.stdout.write(await describeApi())
  })

// Whoever reads our output may stop reading, as head does.
process.stdout.on('error', () => process.exit())

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : couldNotRun
  else {
    process.stderr.write(`strongroom: ${describeFailure(error)}\n`)
    process.exitCode = couldNotRun
  }
}

function printSettings(): void {
  for (const { name, about, fallback, value } of describeSettings()) {
    print(name)
    print(`    ${about}`)
    print(`    default: ${fallback === '' ? 'none' : fallback}; now: ${value ?? 'not set'}`)
  }
}

async function reportLedger(db: Db, asJson: boolean): Promise<void> {
  const report = await verifyLedger(db)
  const { differences, checked } = report
  if (differences.length > 0) process.exitCode = foundDifference
  if (asJson) return print(JSON.stringify(report, null, 2))
  for (const { kind, vaultId, detail } of differences) print(`vault ${vaultId}: ${kind}: ${detail}`)
  const counts = Object.entries(checked).map(([noun, count]) => `${count} ${noun}`)
  print(
    `Checked ${counts.join(', ')}: ${differences.length === 0 ? 'no difference' : `${differences.length} differences`}.`,
  )
}

async function reportAudit(db: Db, asJson: boolean): Promise<void> {
  const chains = await verifyAudit(db)
  const [transfers, requests] = [await verifyTransfers(db), await verifyRequests(db)]
  const differences = [...transfers.differences, ...requests.differences]
  const faults = chains.filter(({ fault }) => fault !== null)
  if (faults.length + differences.length > 0) process.exitCode = foundDifference
  const checked = { transfers: transfers.checked, approvalRequests: requests.checked }
  if (asJson) return print(JSON.stringify({ chains, checked, differences }, null, 2))
  for (const { chain, head, sealedRecords, unsealedRecords, fault } of chains) {
    const headText = head === null ? 'no seal yet' : `seal ${head.sequence} ${head.hash}`
    print(`${chain}: ${sealedRecords} records sealed, ${unsealedRecords} not yet sealed, ${headText}`)
    if (fault !== null) print(`${chain}: FIRST FAULT: ${fault.kind}: ${fault.detail}`)
  }
  for (const { vaultId, targetType, targetId, detail } of differences) {
    print(`${vaultId}: NOT AS RECORDED: ${targetType} ${targetId}: ${detail}`)
  }
  print(
    `Checked ${chains.length} chains: ${faults.length === 0 ? 'nothing was changed' : `${faults.length} with a fault`}.`,
  )
  print(
    `Compared ${checked.transfers} transfers and ${checked.approvalRequests} approval requests with the record: ${differences.length === 0 ? 'no difference' : `${differences.length} differences`}.`,
  )
}

async function makeSignInLink(db: Db, jobs: JobQueue, email: string): Promise<string> {
  const { publicUrl, port } = readCommandConfig()
  const publicOrigin = () => publicUrl ?? `http://localhost:${port}`
  return inTransaction(db, (trx) => createSignInLink(trx, { publicOrigin, jobs }, email, new Date()))
}

async function withDatabase(work: (db: Db, jobs: JobQueue) => Promise<void>): Promise<void> {
  await withDatabaseUrl({ mayCreate: false }, async (url) => {
    const { db, pool } = openDatabase({ url, connectionsMax: 2, statementMilliseconds: 0, onError: () => {} })
    try {
      // Jobs are put into the queue here; a running server works on them.
      await work(
        db,
        createJobQueue(pool, () => {}),
      )
    } finally {
      await db.destroy()
    }
  })
}

/** DATABASE_URL, else the embedded server that a running service started, else one of our own for the time of the work. */
async function withDatabaseUrl(
  { mayCreate }: { mayCreate: boolean },
  work: (url: string) => Promise<void>,
): Promise<void> {
  const { databaseUrl, dataDir } = readCommandConfig()
  const running = databaseUrl ?? (await connectEmbeddedPostgres(dataDir))
  if (running !== null) return work(running)
  if (!mayCreate && !existsSync(join(dataDir, 'postgres'))) {
    throw new Error(`There is no database in ${dataDir}; set DATA_DIR or DATABASE_URL`)
  }
  const embedded = await startEmbeddedPostgres({ dataDir })
  try {
    await work(embedded.url)
  } finally {
    await embedded.stop()
  }
}

function parseEmail(text: string): string {
  const email = text.trim().toLowerCase()
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new Error(`"${text}" is not an e-mail address`)
  return email
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
