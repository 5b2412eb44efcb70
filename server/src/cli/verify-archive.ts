import { createHash } from 'node:crypto'
import type { Head } from '../modules/record/seals/queries.ts'
import type { readHeads as HeadsReader } from '../modules/record/witnesses/heads.ts'
import {
  evidenceFolder,
  isSigned,
  type Manifest,
  manifestName,
  readManifest,
  sealsName,
  sumsName,
  verificationName,
} from '../modules/reports/archives/manifest.ts'
import type { Verification } from '../modules/reports/archives/verification.ts'
import { checkEvidence, checkSealLine, type ReadSeal } from './verify-evidence.ts'
import { openZip, ZipFault, type ZipMember } from './zip-file.ts'

/** Lines for people. `isSound` is true if nothing differs. */
type ArchiveReport = { lines: string[]; isSound: boolean }

export type ArchiveOptions = {
  /** The ids of the keys that may have signed; any key if it is empty. */
  keys: readonly string[]
  /** The texts of files with the heads that a witness keeps. */
  heads: readonly string[]
}

/** The largest member that is read as a whole: a list of sums, a manifest, a verification or a file of evidence. */
const textBytesMax = 64 * 1_048_576

type Log = 'audit' | 'ledger'
const logs: readonly Log[] = ['audit', 'ledger']
const logNames: Record<Log, string> = { audit: 'audit trail', ledger: 'ledger' }

/** The seals of a log in an archive: their hashes by number, the last of them, and the ids of the keys that signed. */
type Chain = { hashes: Map<number, string>; last: ReadSeal | null; keys: Set<string>; isBroken: boolean }

/** An archive with everything that was found of it so far. `faults` are sentences. */
type Examined = {
  manifest: Manifest
  /** The SHA-256 that each member must have. */
  sums: Map<string, string>
  chains: Record<Log, Chain>
  faults: string[]
}

/**
 * Checks an archive for an auditor by itself: its members against their sums, the sums against the signed manifest, the seals, and
 * the evidence, whose seals must be those of the archive.
 *
 * @throws Error for a file that cannot be read
 */
export async function reportOnArchive(path: string, options: ArchiveOptions): Promise<ArchiveReport> {
  let zip: Awaited<ReturnType<typeof openZip>> | null = null
  try {
    zip = await openZip(path)
    const outcome = await examine(zip.members, options)
    if (typeof outcome === 'string') return failed([outcome])
    const compared = await compareWitnesses(outcome, options)
    if (outcome.faults.length > 0) return failed(outcome.faults)
    return { lines: summaryOf(outcome, options, compared), isSound: true }
  } catch (error) {
    if (error instanceof ZipFault) return failed([`The archive ${error.message}.`])
    throw error
  } finally {
    await zip?.close()
  }
}

function failed(faults: string[]): ArchiveReport {
  const count = faults.length === 1 ? '1 difference' : `${faults.length} differences`
  return { lines: [...faults.map((fault) => `FAIL ${fault}`), `Checked the archive: ${count}.`], isSound: false }
}

/** Returns the archive, or the sentence about a fault beyond which nothing can be checked. */
async function examine(members: ZipMember[], { keys }: ArchiveOptions): Promise<Examined | string> {
  const content = members.slice(0, -2)
  const [sumsMember, manifestMember] = members.slice(-2)
  if (sumsMember?.name !== sumsName || manifestMember?.name !== manifestName) {
    return `The archive does not end with ${sumsName} and ${manifestName}.`
  }
  const manifest = readManifest((await readText(manifestMember)).text)
  if (manifest === null) return `${manifestName} does not have the form that this version knows.`
  const chains = { audit: newChain(), ledger: newChain() }
  const { text, sha256 } = await readText(sumsMember)
  const examined: Examined = { manifest, sums: readSums(text), chains, faults: [] }
  const { faults } = examined
  if (!isSigned(manifest)) faults.push(`${manifestName} was changed: its signature does not hold.`)
  if (sha256 !== manifest.sums.sha256)
    faults.push(`${sumsName} was changed: ${manifestName} has another SHA-256 of it.`)
  faults.push(...faultsOfNames(content, examined))
  // The seals come first, because the evidence names them.
  for (const log of logs) await checkSeals(content, log, examined)
  for (const member of content) if (!isOfSeals(member)) await checkMember(member, examined)
  faults.push(...faultsOfEvidence(content, examined), ...faultsOfKeys(examined, keys))
  return examined
}

const newChain = (): Chain => ({ hashes: new Map(), last: null, keys: new Set(), isBroken: false })
const isOfSeals = ({ name }: ZipMember) => logs.some((log) => sealsName(log) === name)

function readSums(text: string): Map<string, string> {
  return new Map([...text.matchAll(/^([0-9a-f]{64}) {2}(.+)\n/gm)].map(([, sum, name]) => [name!, sum!]))
}

function faultsOfNames(content: ZipMember[], { sums, manifest }: Examined): string[] {
  const names = content.map(({ name }) => name)
  const present = new Set(names)
  const faults = [
    ...[...sums.keys()].filter((name) => !present.has(name)).map((name) => `${name} is missing.`),
    ...names.filter((name) => !sums.has(name)).map((name) => `${name} was added: ${sumsName} does not list it.`),
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name} is in the archive twice.`),
  ]
  if (faults.length > 0) return faults
  const isInOrder = [...sums.keys()].every((name, at) => names[at] === name)
  const isWhole = names.length === manifest.sums.members && isInOrder
  return isWhole ? [] : ['The members of the archive are not those of its manifest, in their order.']
}

/** Reads a member part by part, and notes a fault if it does not have its sum. */
async function* summed(member: ZipMember, { sums, faults }: Examined): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const part of member.read()) {
    hash.update(part)
    yield part
  }
  const expected = sums.get(member.name)
  if (expected !== undefined && expected !== hash.digest('hex')) {
    faults.push(`${member.name} was changed: ${sumsName} has another SHA-256 of it.`)
  }
}

async function readText(member: ZipMember): Promise<{ text: string; sha256: string }> {
  if (member.sizeBytes > textBytesMax) throw new ZipFault(`has ${member.name}, which is too long to be checked`)
  const parts: Buffer[] = []
  for await (const part of member.read()) parts.push(part)
  const bytes = Buffer.concat(parts)
  return { text: bytes.toString('utf8'), sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** Checks that a member has its sum and, of evidence and verification, the content. */
async function checkMember(member: ZipMember, examined: Examined): Promise<void> {
  const isEvidence = member.name.startsWith(evidenceFolder)
  const isRead = isEvidence || member.name === verificationName
  if (isRead && member.sizeBytes > textBytesMax)
    throw new ZipFault(`has ${member.name}, which is too long to be checked`)
  const parts: Buffer[] = []
  for await (const part of summed(member, examined)) if (isRead) parts.push(part)
  if (!isRead) return
  const text = Buffer.concat(parts).toString('utf8')
  if (isEvidence) await checkEvidenceFile(member.name, text, examined)
  else examined.faults.push(...faultsOfVerification(text, examined))
}

async function checkEvidenceFile(name: string, text: string, { chains, faults }: Examined): Promise<void> {
  const evidence = await checkEvidence(text)
  if (evidence === null || name !== `${evidenceFolder}${evidence.transferId}.json`) {
    faults.push(`${name} is not the evidence of this transfer.`)
    return
  }
  faults.push(...evidence.faults.map((fault) => `${name} contradicts itself: ${fault}.`))
  for (const { log, sequence, hash } of evidence.seals) {
    if (!chains[log].isBroken && chains[log].hashes.get(sequence) !== hash) {
      faults.push(
        `${name} names seal ${sequence} of the ${logNames[log]}, which is not among the seals of the archive.`,
      )
    }
  }
}

function faultsOfEvidence(content: ZipMember[], { manifest }: Examined): string[] {
  const count = content.filter(({ name }) => name.startsWith(evidenceFolder)).length
  return count === manifest.transfers
    ? []
    : [`The archive has evidence of ${count} transfers instead of ${manifest.transfers}.`]
}

/** Returns what the service found in the vault, and a fault of a verification that cannot be read. */
function faultsOfVerification(text: string, { manifest }: Examined): string[] {
  try {
    const { findings } = JSON.parse(text) as Verification
    if (findings.length !== manifest.findings)
      return [`${verificationName} does not have the findings that ${manifestName} counts.`]
    return findings.map(({ check, message }) => `The service found a difference in the vault: ${check}: ${message}.`)
  } catch {
    return [`${verificationName} cannot be read.`]
  }
}

/** Checks the seals of a log: each by itself, its link to the one before, and the last against the manifest. */
async function checkSeals(content: ZipMember[], log: Log, examined: Examined): Promise<void> {
  const { manifest, chains, faults } = examined
  const name = sealsName(log)
  const member = content.find((candidate) => candidate.name === name)
  if (member === undefined) {
    faults.push(`${name} is missing.`)
    return
  }
  const chain = chains[log]
  for await (const line of linesOf(summed(member, examined))) {
    // The first fault is enough, because all later seals depend on the seal that does not hold.
    if (chain.isBroken) continue
    const fault = addSeal(chain, await checkSealLine(manifest.vault.id, log, line))
    if (fault !== null) faults.push(`${name}: ${fault}.`)
    chain.isBroken = fault !== null
  }
  const head = manifest.heads.find((candidate) => candidate.log === log)
  if (!chain.isBroken && chain.last?.hash !== head?.hash) {
    faults.push(`${name} does not end with the head that ${manifestName} names.`)
  }
}

/** Adds the next seal of a chain. Returns the fault of a seal that does not hold, or null. */
function addSeal(chain: Chain, seal: ReadSeal | null): string | null {
  const place = chain.last === null ? 'the first seal' : `the seal after ${chain.last.sequence}`
  if (seal === null) return `${place} does not have its hash or its signature`
  const fault = chain.last === null ? null : faultOfLink(seal, chain.last, place)
  if (fault !== null) return fault
  chain.hashes.set(seal.sequence, seal.hash)
  chain.last = seal
  if (seal.keyId !== null) chain.keys.add(seal.keyId)
  return null
}

function faultOfLink(seal: ReadSeal, before: ReadSeal, place: string): string | null {
  if (seal.sequence !== before.sequence + 1) return `${place} is missing`
  if (seal.previousHash !== before.hash) return `${place} does not continue it`
  return seal.isUnsigned && !before.isUnsigned ? `${place} is not signed, though seals are by then` : null
}

async function* linesOf(parts: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop()!
    if (rest.length > textBytesMax) throw new ZipFault('has a line that is too long to be checked')
    yield* lines
  }
  if (rest !== '') yield rest
}

function faultsOfKeys({ manifest, chains }: Examined, trusted: readonly string[]): string[] {
  const ofSeals = new Set(logs.flatMap((log) => [...chains[log].keys]))
  const all = [...new Set([...ofSeals, manifest.keyId])]
  return [
    ...(ofSeals.size === 0 || ofSeals.has(manifest.keyId)
      ? []
      : [`${manifestName} is signed by the key ${manifest.keyId}, which signed none of the seals.`]),
    ...(trusted.length === 0 ? [] : all.filter((key) => !trusted.includes(key))).map(
      (key) => `The key ${key} signed, which is not one of those that were named.`,
    ),
  ]
}

/** Compares the seals with the heads that witnesses keep, and returns the number of those in the archive. */
async function compareWitnesses(
  { manifest, chains, faults }: Examined,
  { heads: texts, keys }: ArchiveOptions,
): Promise<number> {
  if (texts.length === 0) return 0
  const { readHeads } = await import('../modules/record/witnesses/heads.ts')
  const trusted = keys.length === 0 ? null : new Set(keys)
  let compared = 0
  for (const { log, chain, sequence, hash } of texts.flatMap((text) => readAllHeads(text, readHeads, trusted))) {
    const known = chain === manifest.vault.id ? chains[log].hashes.get(sequence) : undefined
    if (known === undefined) continue
    compared += 1
    if (known !== hash) faults.push(`The witness keeps another seal ${sequence} of the ${logNames[log]}: ${hash}.`)
  }
  return compared
}

/** Returns the heads of both logs. @throws Error for a text with neither */
function readAllHeads(text: string, readHeads: typeof HeadsReader, trusted: ReadonlySet<string> | null): Head[] {
  const heads: Head[] = []
  const failures: unknown[] = []
  for (const log of logs) {
    try {
      heads.push(...readHeads(text, log, trusted))
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length === logs.length) throw failures[0]
  return heads
}

function summaryOf({ manifest, chains }: Examined, { keys, heads }: ArchiveOptions, compared: number): string[] {
  const { vault, period, madeAt, madeFor, accounts, transfers, sums, keyId } = manifest
  // The form of the heads that the other commands print: the output serves as the witness of a later archive.
  const chainOf = (log: Log) => {
    const { hashes, last } = chains[log]
    const head = last === null ? '' : `, seal ${last.sequence} ${last.hash}`
    return `${log === 'audit' ? '' : 'ledger '}${vault.id}: ${hashes.size} seals${head}`
  }
  return [
    `Vault ${vault.name} (${vault.code}), from ${period.from} until before ${period.to}`,
    `Made at ${madeAt} for ${madeFor.email ?? madeFor.userId}`,
    ...(period.hasEnded ? [] : ['The period had not ended when the archive was made: later operations are missing.']),
    `${sums.members} members, ${accounts} accounts, evidence of ${transfers} transfers`,
    ...logs.map(chainOf),
    ...(heads.length === 0 ? [] : [`Compared ${compared} heads of witnesses: all are there.`]),
    ...(keys.length === 0 ? [`Signed by ${keyId}. No key of the node is known here: name its keys with --key.`] : []),
    'Checked the archive: nothing was changed.',
  ]
}
