import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readCommandConfig } from '../config/config.ts'
import type { Db } from '../db/client.ts'
import { createSealKey } from '../lib/seal-key.ts'
import { verifyPayouts } from '../modules/money/payouts/compare-payout.ts'
import { verifyTransfers } from '../modules/money/transfers/compare-order.ts'
import { verifyLedger } from '../modules/money/verifications/verify-ledger.ts'
import { verifyLedgerSeals } from '../modules/money/verifications/verify-seals.ts'
import { verifyAudit } from '../modules/record/audit/verify.ts'
import { listHeads } from '../modules/record/seals/queries.ts'
import type { SealLog } from '../modules/record/seals/seal-content.ts'
import type { ChainReport, TrustedKeys } from '../modules/record/seals/verify-chain.ts'
import {
  compareAuthorities,
  compareHeads,
  type HeadFault,
  headLine,
  readAuthorities,
  readHeads,
} from '../modules/record/witnesses/heads.ts'
import { verifyRequests } from '../modules/rules/approval-requests/compare-request-record.ts'
import { foundDifference, macsNotChecked, print, useOwnRecordKey, withDatabase } from './database-commands.ts'

export type VerifyFlags = {
  json?: true
  /** The files with heads that a witness keeps. */
  head?: string[]
  /** The ids of keys that may have signed. */
  key?: string[]
}

export function printHeads(log: SealLog): Promise<void> {
  return withDatabase(async (db) => {
    for (const head of await listHeads(db, log)) print(headLine(head))
  })
}

export async function reportLedger(flags: VerifyFlags): Promise<void> {
  const trusted = await readTrusted(flags)
  await withDatabase(async (db) => {
    const witnessed = await compareWithWitnesses(db, 'ledger', { flags, trusted })
    const report = await verifyLedger(db)
    const chains = await verifyLedgerSeals(db, { trusted })
    const { differences, checked } = report
    const isSound = isWithoutFault(chains, witnessed) && differences.length === 0
    if (!isSound) process.exitCode = foundDifference
    if (flags.json) return print(JSON.stringify({ ...report, chains, heads: witnessed }, null, 2))
    for (const { kind, vaultId, detail } of differences) print(`vault ${vaultId}: ${kind}: ${detail}`)
    printChains(chains, { log: 'ledger', noun: 'entries', trusted })
    printWitnessed(witnessed)
    const counts = Object.entries(checked).map(([noun, count]) => `${count} ${noun}`)
    print(
      `Checked ${counts.join(', ')}: ${differences.length === 0 ? 'no difference' : `${differences.length} differences`}.`,
    )
  })
}

export async function reportAudit(flags: VerifyFlags): Promise<void> {
  const trusted = await readTrusted(flags)
  await withDatabase(async (db) => {
    const hasKey = await useOwnRecordKey(db)
    const witnessed = await compareWithWitnesses(db, 'audit', { flags, trusted })
    const chains = await verifyAudit(db, trusted)
    const transfers = await verifyTransfers(db)
    const payouts = await verifyPayouts(db)
    const requests = await verifyRequests(db)
    const differences = [...transfers.differences, ...payouts.differences, ...requests.differences]
    if (!isWithoutFault(chains, witnessed) || differences.length > 0) process.exitCode = foundDifference
    const checked = { transfers: transfers.checked, payouts: payouts.checked, approvalRequests: requests.checked }
    if (flags.json) return print(JSON.stringify({ chains, checked, differences, heads: witnessed }, null, 2))
    printChains(chains, { log: 'audit', noun: 'records', trusted })
    if (!hasKey) print(macsNotChecked)
    printWitnessed(witnessed)
    for (const { vaultId, targetType, targetId, detail } of differences) {
      print(`${vaultId}: NOT AS RECORDED: ${targetType} ${targetId}: ${detail}`)
    }
    print(
      `Compared ${checked.transfers} transfers, ${checked.payouts} payouts and ${checked.approvalRequests} approval requests ` +
        'with the record: ' +
        `${differences.length === 0 ? 'no difference' : `${differences.length} differences`}.`,
    )
  })
}

const isWithoutFault = (chains: ChainReport[], witnessed: Witnessed | null): boolean =>
  chains.every(({ fault }) => fault === null) && (witnessed === null || witnessed.faults.length === 0)

type Shown = { log: SealLog; noun: string; trusted: TrustedKeys }

function printChains(chains: ChainReport[], { log, noun, trusted }: Shown): void {
  for (const { chain, head, sealedRecords, unsealedRecords, fault, forged } of chains) {
    const name = log === 'audit' ? chain : `${log} ${chain}`
    const headText = head === null ? 'no seal yet' : `seal ${head.sequence} ${head.hash}`
    print(`${name}: ${sealedRecords} ${noun} sealed, ${unsealedRecords} not yet sealed, ${headText}`)
    if (fault !== null) print(`${name}: FIRST FAULT: ${fault.kind}: ${fault.detail}`)
    for (const id of forged) print(`${name}: NOT WRITTEN BY THE SERVICE: record ${id}`)
  }
  const keys = [...new Set(chains.flatMap((chain) => chain.keys))]
  if (trusted === null && keys.length > 0) {
    print(`Signed by ${keys.join(', ')}. No key of the node is known here: name its keys with --key or SEAL_KEYS.`)
  }
  const faults = chains.filter(({ fault }) => fault !== null).length
  print(`Checked ${chains.length} chains: ${faults === 0 ? 'nothing was changed' : `${faults} with a fault`}.`)
}

type Witnessed = { compared: number; faults: HeadFault[] }

/** Compares the database with the heads in the files of the flags. Returns null without such files. */
async function compareWithWitnesses(
  db: Db,
  log: SealLog,
  { flags, trusted }: { flags: VerifyFlags; trusted: TrustedKeys },
): Promise<Witnessed | null> {
  if (flags.head === undefined) return null
  const heads = []
  const authorities = []
  for (const file of flags.head) {
    try {
      const text = await readFile(file, 'utf8')
      heads.push(...readHeads(text, log, trusted))
      if (log === 'audit') authorities.push(...readAuthorities(text, trusted))
    } catch (error) {
      throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }
  const faults = [...(await compareHeads(db, log, heads)), ...(await compareAuthorities(db, authorities))]
  return { compared: heads.length, faults }
}

function printWitnessed(witnessed: Witnessed | null): void {
  if (witnessed === null) return
  for (const { chain, detail } of witnessed.faults) print(`${chain}: NOT AS WITNESSED: ${detail}`)
  const { compared, faults } = witnessed
  print(
    `Compared ${compared} heads of witnesses: ${faults.length === 0 ? 'all are there' : `${faults.length} differ`}.`,
  )
}

/**
 * Returns the keys that may have signed: the keys that the operator names, and the key of this machine's STRONGROOM_SECRET_KEY
 * or of an embedded database. Returns null when there are none.
 */
async function readTrusted({ key = [] }: VerifyFlags): Promise<TrustedKeys> {
  const { databaseUrl, dataDir, secretKey, sealKeys } = readCommandConfig()
  const file = join(dataDir, 'secret-key')
  const ownSecret =
    secretKey ?? (databaseUrl === null && existsSync(file) ? (await readFile(file, 'utf8')).trim() : null)
  const named = [...key, ...sealKeys]
  if (ownSecret === null && named.length === 0) return null
  return new Set(ownSecret === null ? named : [...named, createSealKey(ownSecret).keyId])
}
