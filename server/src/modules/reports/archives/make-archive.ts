import type { Db } from '../../../db/client.ts'
import { readSnapshot } from '../../../db/transaction.ts'
import { AppError } from '../../../lib/errors.ts'
import {
  archiveAccountsMax,
  archiveClockSkewMinutes,
  archivePageSealsMax,
  archivePrintedAccountsMax,
  archiveTransfersMax,
} from '../../../lib/limits.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { getEvidence } from '../../money/transfers/evidence.ts'
import { findTransfer } from '../../money/transfers/queries.ts'
import { toSealHead } from '../../record/seals/present.ts'
import { findSealBefore, type Head, listSealHeads } from '../../record/seals/queries.ts'
import { type SealLog, sealLogs } from '../../record/seals/seal-content.ts'
import { collectGarbageAbove } from '../files/garbage.ts'
import type { Interval } from '../requests/buckets.ts'
import { addAccounts } from './accounts.ts'
import type { ArchiveOrder, ArchiveParameters, Making, Plan } from './making.ts'
import { evidenceFolder, manifestName, sealsName, sumsName, verificationName, writeManifest } from './manifest.ts'
import { listAccounts, listTransferIds } from './queries.ts'
import { readmeName, toReadme } from './readme.ts'
import { addStatements, statements } from './statements.ts'
import { verifyVault } from './verification.ts'
import { createMemberWriter, type Sink } from './write-members.ts'

/**
 * Writes the archive of a period in one pass: the members in a fixed order, their sums, and the manifest, which the node signs.
 * The seals come after everything that names a seal, so that they hold it.
 *
 * @param onPercent is told of the progress, from 0 to 100
 * @throws 400 for a period with more transfers or accounts than an archive holds
 */
export async function makeArchive(
  db: Db,
  order: ArchiveOrder,
  { sink, onPercent }: { sink: Sink; onPercent: (percent: number) => void },
  limits: Limits = usualLimits,
): Promise<void> {
  const plan = await readPlan(db, order, limits)
  const writer = createMemberWriter(order.now, sink)
  const steps = stepsOf(plan)
  let done = 0
  const onStep = () => {
    collectGarbageAbove()
    done += 1
    onPercent(Math.floor((100 * done) / steps))
  }
  const making: Making = { db, order, plan, writer, onStep }
  await writer.add(readmeName, [Buffer.from(toReadme(order, plan))])
  await addStatements(making)
  await addAccounts(making)
  await addEvidence(making)
  const findings = await addVerification(making)
  const heads = await addSeals(making)
  await addManifest(making, { findings, heads })
  await writer.end()
}

type Limits = { transfersMax: number; accountsMax: number; printedAccountsMax: number }
const usualLimits: Limits = {
  transfersMax: archiveTransfersMax,
  accountsMax: archiveAccountsMax,
  printedAccountsMax: archivePrintedAccountsMax,
}

async function readPlan(
  db: Db,
  { member, parameters }: ArchiveOrder,
  { transfersMax, accountsMax, printedAccountsMax }: Limits,
): Promise<Plan> {
  const vaultId = member.vault.id
  const interval = intervalOf(parameters)
  const transferIds = await listTransferIds(db, vaultId, interval, transfersMax + 1)
  refuseMore(transferIds, transfersMax, 'transfers')
  const accounts = await listAccounts(db, vaultId, interval, accountsMax + 1)
  refuseMore(accounts, accountsMax, 'accounts with a posting or a balance')
  return { accounts, isPrinted: accounts.length <= printedAccountsMax, transferIds }
}

const intervalOf = ({ from, to }: ArchiveParameters): Interval => ({ from: new Date(from), to: new Date(to) })

function refuseMore(found: unknown[], max: number, what: string): void {
  if (found.length <= max) return
  throw new AppError('validation_failed', `The period has more than ${max} ${what}; choose a shorter period`)
}

/** A statement or an account counts for each of its files, and the verification for as much as all statements. */
function stepsOf({ accounts, isPrinted, transferIds }: Plan): number {
  return 3 * statements.length + accounts.length * (isPrinted ? 2 : 1) + transferIds.length + sealLogs.length
}

/** Adds the evidence of each transfer. Its parts are of one snapshot: a transfer may go on meanwhile. */
async function addEvidence({ db, order: { member }, plan, writer, onStep }: Making): Promise<void> {
  for (const id of plan.transferIds) {
    const evidence = await readSnapshot(db, async (trx) => {
      const row = await findTransfer(trx, member, id)
      if (row === null) throw new Error(`Transfer ${id} is not there any more`)
      return getEvidence(trx, row)
    })
    await writer.add(`${evidenceFolder}${id}.json`, [Buffer.from(`${JSON.stringify(evidence)}\n`)])
    onStep()
  }
}

/** Adds the verification of the vault, and returns the number of its findings. */
async function addVerification({ db, order, writer, onStep }: Making): Promise<number> {
  const { member, trusted, now } = order
  const verification = await verifyVault(db, member.vault.id, { trusted, at: now })
  await writer.add(verificationName, [Buffer.from(`${JSON.stringify(verification, null, 2)}\n`)])
  for (const _ of statements) onStep()
  return verification.findings.length
}

/** Adds the seals of the vault since the beginning of the period, and returns the last of each log. */
async function addSeals({ db, order, writer, onStep }: Making): Promise<Head[]> {
  const { member, parameters } = order
  const chain = member.vault.id
  const since = new Date(intervalOf(parameters).from.getTime() - archiveClockSkewMinutes * 60_000)
  const heads = new Map<SealLog, Head>()
  for (const log of sealLogs) {
    const before = await findSealBefore(db, log, chain, since)
    // The first seal of the archive is the one before the period, to which the next one is linked.
    const after = before === null ? '0' : String(BigInt(before) - 1n)
    await writer.add(
      sealsName(log),
      sealLines(db, { log, chain, after }, (last) => heads.set(log, last)),
    )
    onStep()
  }
  return [...heads.values()]
}

/** Yields a line of JSON for each seal after a number, and tells of the last seal of each page. */
async function* sealLines(
  db: Db,
  { log, chain, after }: { log: SealLog; chain: string; after: string },
  onLast: (last: Head) => void,
): AsyncGenerator<Uint8Array> {
  for (let sequence = after; ; ) {
    const page = await listSealHeads(db, log, chain, { sequence, limit: archivePageSealsMax })
    const last = page.at(-1)
    if (last === undefined) return
    yield Buffer.from(page.map((seal) => `${JSON.stringify(toSealHead(seal))}\n`).join(''))
    onLast({ log, chain, sequence: Number(last.sequence), hash: last.hash.toString('hex') })
    if (page.length < archivePageSealsMax) return
    sequence = last.sequence
  }
}

async function addManifest(
  { order, plan, writer }: Making,
  { findings, heads }: { findings: number; heads: Head[] },
): Promise<void> {
  const { id, member, parameters, signer, now } = order
  const { from, to, timezone } = parameters
  const lines = [...writer.sums()]
  const text = lines.join('')
  await writer.add(sumsName, [Buffer.from(text)])
  const { id: vaultId, code, name } = member.vault
  const manifest = await writeManifest(
    {
      id,
      vault: { id: vaultId, code, name },
      period: { from, to, timezone, hasEnded: new Date(to) <= now },
      madeAt: now.toISOString(),
      madeFor: { userId: member.userId, email: member.email },
      accounts: plan.accounts.length,
      transfers: plan.transferIds.length,
      findings,
      heads,
      sums: { members: lines.length, sha256: sha256(text).toString('hex') },
    },
    signer,
  )
  await writer.add(manifestName, [Buffer.from(manifest)])
}
