import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { recoverVaults, replayMillisecondsMax } from '../composition/recover.ts'
import { adoptKey, rotateKey } from '../composition/seal-again.ts'
import { verifyState } from '../composition/verify-state.ts'
import { isDemo, readCommandConfig, readConfigWithKey, readSecretKeys } from '../config/config.ts'
import { findRunningOrigin } from '../config/running-service.ts'
import { makeSecretKey, readSecretKeyFile } from '../config/secret-key-file.ts'
import { connectionsOf, type Db, openDatabase, type Trx } from '../db/client.ts'
import { ensureLogin } from '../db/login-role.ts'
import { migrate } from '../db/migrate.ts'
import { useRecordKey } from '../db/record-key.ts'
import { findSealingKeyId } from '../db/sealing-key.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Deps } from '../deps.ts'
import { connectEmbeddedPostgres, startEmbeddedPostgres, toServiceUrl } from '../embedded-postgres/start.ts'
import { judge } from '../jobs/watch/checks.ts'
import { readSamples } from '../jobs/watch/samples.ts'
import { firstHostOf } from '../lib/database-hosts.ts'
import { firstPasskeyMinutes, magicLinkTtlMinutes } from '../lib/limits.ts'
import { createRecordKey } from '../lib/record-key.ts'
import { createSealKey } from '../lib/seal-key.ts'
import { createSealer, keyIdOfSecret } from '../lib/secrets.ts'
import { releaseByOperator } from '../modules/money/holds/release.ts'
import { sealLate } from '../modules/money/ledger/seal-late.ts'
import { disable, enable, findUserIdOf, type Offboard } from '../modules/people/offboarding/offboarding.ts'
import { allowPasskeyOf, removePasskeysOf } from '../modules/people/passkeys/actions.ts'
import { createSignInLink, nameOfOperator } from '../modules/people/sign-in/actions.ts'
import { addPlatformAdmin } from '../modules/people/users/actions.ts'
import { resetGovernance } from '../modules/rules/governance/reset.ts'
import { acceptAuthority } from '../modules/vaults/authority/authority-mark.ts'

/** The exit code of a verification that finds a difference. When the work itself fails, `cli.ts` exits with 2, as diff does. */
export const foundDifference = 1

export function migrateDatabase(waits: boolean): Promise<void> {
  return withDatabaseUrls({ mayCreate: true }, async ({ url, ownerUrl }) => {
    const isNew = await migrate(ownerUrl, url, { waits, say: print })
    print('The database is up to date.')
    // The role of the embedded server does not concern the operator.
    if (isNew && readCommandConfig().databaseUrl !== null) {
      print(
        `The role ${decodeURIComponent(firstHostOf(url).username)} of DATABASE_URL may work with it, and owns nothing.`,
      )
    }
  })
}

export function addAdmin(email: string): Promise<void> {
  return withRecord(async (db) => {
    await inTransaction(db, (trx) => addPlatformAdmin(trx, email, new Date()))
    print(`${email} is a platform administrator. Sign in within ${magicLinkTtlMinutes} minutes:`)
    print(await makeSignInLink(db, email))
  })
}

export function disableUser(email: string, reason: string): Promise<void> {
  return withRecord(async (db) => {
    const left = await inTransaction(db, async (trx) => disable(trx, await byOperator(trx, email, reason)))
    print(`${email} is disabled.`)
    for (const { vault, name } of left.serviceTokens) print(`${vault.code}: revoke the service token ${name}`)
    for (const { vault, email: invited } of left.invitations)
      print(`${vault.code}: revoke the invitation of ${invited}`)
    for (const { code } of left.onlyAdministratorOf) print(`${code}: nobody else administers this vault`)
    if (left.withoutQuorum > 0) print(`${left.withoutQuorum} requests wait for more votes than people can cast`)
  })
}

export function enableUser(email: string, reason: string): Promise<void> {
  return withRecord(async (db) => {
    await inTransaction(db, async (trx) => enable(trx, await byOperator(trx, email, reason)))
    print(`${email} is enabled and can sign in.`)
  })
}

export function removePasskeys(email: string, reason: string): Promise<void> {
  return withRecord(async (db) => {
    const removed = await inTransaction(db, async (trx) =>
      removePasskeysOf(trx, { ...(await byOperator(trx, email, reason)), operator: nameOfOperator() }),
    )
    print(
      `Passkeys of ${email} that were removed: ${removed}. In a protected vault, a second person accepts the next one.`,
    )
  })
}

export function allowPasskey(email: string, reason: string): Promise<void> {
  return withRecord(async (db) => {
    await inTransaction(db, async (trx) =>
      allowPasskeyOf(trx, { ...(await byOperator(trx, email, reason)), operator: nameOfOperator() }),
    )
    print(`${email} may add a first passkey within ${firstPasskeyMinutes} minutes, without a second person.`)
  })
}

export function lowerThreshold(code: string, { reason, gone }: { reason: string; gone: string[] }): Promise<void> {
  return withRecord(async (db) => {
    const { threshold } = await inTransaction(db, (trx) =>
      resetGovernance(trx, { code, reason, gone, operator: nameOfOperator(), now: new Date() }),
    )
    print(`Changes of the rules of ${code} need ${threshold} besides their author now, and every member is told.`)
  })
}

export function releaseHold(code: string, id: string, reason: string): Promise<void> {
  return withRecord(async (db) => {
    await inTransaction(db, (trx) =>
      releaseByOperator(trx, { code, id, reason, operator: nameOfOperator(), now: new Date() }),
    )
    print(`The hold ${id} of the vault ${code} is released, and every member is told.`)
  })
}

export function sealLateEntries(reason: string): Promise<void> {
  return withRecord(async (db) => {
    const late = await inTransaction(db, (trx) =>
      sealLate(trx, { reason, operator: nameOfOperator(), now: new Date() }),
    )
    for (const { code, count, ranges } of late)
      print(`${code}: ${count} entries wait for the next seal: ${ranges.join(', ')}`)
    print(late.length === 0 ? 'Each entry is in a seal or waits for one.' : 'It is on the record of these vaults.')
  })
}

export function acceptShownAuthority(code: string, fingerprint: string, reason: string): Promise<void> {
  return withDatabase(async (db) => {
    const acceptance = { code, fingerprint, reason, operator: nameOfOperator(), now: new Date() }
    await inTransaction(db, (trx) => acceptAuthority(trx, acceptance))
    print(`Strongroom now accepts the authority that the wallet service of ${code} shows. The change is on the record.`)
  })
}

/** Recovers the halted vaults. It needs the settings of a node, a node that runs, and the wallet services. */
export function recover({ dryRun = false, owner }: { dryRun?: boolean; owner?: string }): Promise<void> {
  return withRecord(async (db) => {
    const secretKey = (await findSecretKey()) ?? (await makeKeyOfDemo())
    const config = readConfigWithKey(secretKey)
    const deps = {
      db,
      config,
      sealer: createSealer(secretKey),
      log: pino({ level: 'silent' }),
      clock: () => new Date(),
    }
    const recovery = { isDry: dryRun, owner: owner ?? null, operator: nameOfOperator(), say: print }
    const left = await recoverVaults(deps, { ...recovery, replayMilliseconds: replayMillisecondsMax })
    if (left > 0) process.exitCode = foundDifference
  })
}

async function byOperator(trx: Trx, email: string, reason: string): Promise<Offboard> {
  const userId = await findUserIdOf(trx, email)
  return { userId, reason, actorId: null, operator: nameOfOperator(), now: new Date() }
}

export function printSignInLink(email: string): Promise<void> {
  return withRecord(async (db) => print(await makeSignInLink(db, email)))
}

export async function rotateSecrets(previousFile: string | undefined): Promise<void> {
  const keys = await readSecretKeys(previousFile)
  await withDatabase(async (db) => {
    useRecordKey(db, createRecordKey(keys.next))
    const outcome = await inTransaction(db, (trx) =>
      rotateKey(trx, keys, { operator: nameOfOperator(), now: new Date() }),
    )
    if (outcome === null) return print('The database is already sealed under this key.')
    for (const { table, column, row } of outcome.unreadable) {
      print(`${table} ${row.join(' ')}: ${column} does not open under the previous key, and was left as it is`)
    }
    if (outcome.unreadable.length > 0) process.exitCode = foundDifference
    print(
      `Sealed ${outcome.resealed} secrets under the new key. Start the nodes with it, and destroy the previous one.`,
    )
    const previousKey = createSealKey(keys.previous).keyId
    print(
      `Seals until now are signed by the key ${previousKey}: add it to SEAL_KEYS, or the verifiers do not trust them.`,
    )
  })
}

export function reportHealth(asJson: boolean): Promise<void> {
  return withDatabase(async (db, connections) => {
    const config = readCommandConfig()
    const findings = judge(await readSamples({ db, config, clock: () => new Date(), connections }))
    if (findings.some(({ check, red }) => red.length > 0 && check.severity !== 'info'))
      process.exitCode = foundDifference
    if (asJson) return print(JSON.stringify(findings, null, 2))
    for (const { check, red } of findings) {
      const verdict = red.length === 0 ? 'ok' : check.severity === 'info' ? 'WARN' : 'RED'
      print(`${verdict.padEnd(5)}${check.title}`)
      for (const { labels, value } of red) {
        const names = Object.entries(labels).map(([name, text]) => `${name} ${text}`)
        print(`     ${[...names, `${check.red.gauge} ${Math.round(value)}`].join(', ')}`)
      }
      if (red.length > 0) print(`     ${check.advice}`)
    }
  })
}

export function reportState(asJson: boolean): Promise<void> {
  return withDatabase(async (db) => {
    if (!(await useOwnRecordKey(db)) && !asJson) print(macsNotChecked)
    const report = await verifyState(db)
    const { checked, differences } = report
    if (differences.length > 0) process.exitCode = foundDifference
    if (asJson) return print(JSON.stringify(report, null, 2))
    for (const { vaultId, targetType, targetId, detail } of differences) {
      print(`${vaultId}: NOT AS RECORDED: ${targetType} ${targetId}: ${detail}`)
    }
    const counts = Object.entries(checked).map(([kind, count]) => `${kind} ${count}`)
    print(`Compared with the record: ${counts.join(', ')}. ${differences.length} differences.`)
  })
}

async function makeSignInLink(db: Db, email: string): Promise<string> {
  const { publicUrl, port, dataDir } = readCommandConfig()
  const origin = publicUrl ?? (await findRunningOrigin(dataDir)) ?? `http://localhost:${port}`
  return inTransaction(db, (trx) => createSignInLink(trx, { publicOrigin: () => origin }, email, new Date()))
}

/** Runs `work` with a database whose audit log it writes, with the key of the node. @throws when this machine does not have the key */
function withRecord(work: (db: Db) => Promise<void>): Promise<void> {
  return withDatabase(async (db) => {
    const secretKey = (await findSecretKey()) ?? (await makeKeyOfDemo())
    useRecordKey(db, createRecordKey(secretKey))
    await inTransaction(db, (trx) => adoptKey(trx, createSealer(secretKey), new Date()))
    await work(db)
  })
}

/** Makes verifiers check the MACs of audit records, if this machine has the key of the database. Returns false if it does not. */
export async function useOwnRecordKey(db: Db): Promise<boolean> {
  const secretKey = await findSecretKey()
  if (secretKey === null) return false
  const keyId = await findSealingKeyId(db)
  if (keyId !== null && !keyId.equals(keyIdOfSecret(secretKey))) return false
  useRecordKey(db, createRecordKey(secretKey))
  return true
}

export const macsNotChecked =
  'The key of the node is not on this machine: nothing says here which records that no seal holds the service has written.'

async function makeKeyOfDemo(): Promise<string> {
  if (isDemo()) return makeSecretKey(readCommandConfig().dataDir)
  throw new Error('STRONGROOM_SECRET_KEY is required: what this command does is written to the audit record with it')
}

/** Returns STRONGROOM_SECRET_KEY, or the key that demo mode keeps beside its data; null when this machine has neither. */
async function findSecretKey(): Promise<string | null> {
  const { secretKey, dataDir } = readCommandConfig()
  return secretKey ?? (await readSecretKeyFile(dataDir))
}

export async function withDatabase(work: (db: Db, connections: Deps['connections']) => Promise<void>): Promise<void> {
  await withDatabaseUrls({ mayCreate: false }, async ({ url, ownerUrl }) => {
    // Before the first migration only the owner can connect. The work then fails with a message about the missing migration.
    const isReady = readCommandConfig().databaseUrl !== null || (await ensureLogin(ownerUrl, url)) !== null
    const { db, pool } = openDatabase({
      url: isReady ? url : ownerUrl,
      connectionsMax: 2,
      statementMilliseconds: 0,
      onError: () => {},
    })
    useRecordKey(db, null)
    try {
      await work(db, () => connectionsOf(pool))
    } finally {
      await db.destroy()
    }
  })
}

type DatabaseUrls = { url: string; ownerUrl: string }

/** Runs `work` with DATABASE_URL, or the embedded server of a running service, or an embedded server that runs only for the work. */
async function withDatabaseUrls(
  { mayCreate }: { mayCreate: boolean },
  work: (urls: DatabaseUrls) => Promise<void>,
): Promise<void> {
  const { databaseUrl, databaseOwnerUrl, dataDir } = readCommandConfig()
  if (databaseUrl !== null) return work({ url: databaseUrl, ownerUrl: databaseOwnerUrl ?? databaseUrl })
  const ofEmbedded = (ownerUrl: string) => work({ url: toServiceUrl(dataDir, ownerUrl), ownerUrl })
  const running = await connectEmbeddedPostgres(dataDir)
  if (running !== null) return ofEmbedded(running)
  if (!mayCreate && !existsSync(join(dataDir, 'postgres'))) {
    throw new Error(`There is no database in ${dataDir}; set DATA_DIR or DATABASE_URL`)
  }
  const embedded = await startEmbeddedPostgres({ dataDir })
  try {
    await ofEmbedded(embedded.url)
  } finally {
    await embedded.stop()
  }
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
