import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import type pg from 'pg'
import { findClientByName } from '../clients.ts'
import { ConfigError } from '../config.ts'
import { migrate } from '../database/migrate.ts'
import { WalletError } from '../errors.ts'
import { cancelPending, listRejections } from './cancellation.ts'
import { hashOf, toFingerprint } from './canonical.ts'
import { cancellingVotes } from './decide.ts'
import { contactsOf, delayHoursOf, trustsServicePage } from './delay.ts'
import type { AnyAuthority } from './documents.ts'
import { refusalOfFit, type Surroundings } from './fit.ts'
import { parseAuthority } from './parse.ts'
import { pinAuthority, showProtection, updateAuthority } from './protection.ts'
import { toText } from './refusal.ts'
import { AuthorityStore, openAuthorities, type Pending, type Shown } from './store.ts'
import { untoldWarning } from './tell-contacts.ts'

/** The ceremony at the wallet service (docs/security/ceremony.md). It needs neither Strongroom nor the database of Strongroom. */

type Place = { pool: pg.Pool; directory: string | undefined; around: Surroundings; print(line: string): void }

/** Digits of the fingerprint that a person reads from another screen and types. */
const typedDigits = 8

/** Pins version 1, after a person has typed the first digits of its fingerprint. */
export async function initAuthority(place: Place, name: string, file: string, fingerprint?: string): Promise<void> {
  const { clientId, directory } = await enter(place, name)
  const document = parseAuthority(await readJson(file))
  const unfit = await refusalOfFit(document, place.around)
  if (unfit !== null) throw new ConfigError(toText(unfit))
  for (const line of describe(document)) place.print(line)
  const typed =
    fingerprint ?? (await ask(`type the first ${typedDigits} digits of the fingerprint on the other screen: `))
  assertTyped(typed, hashOf(document))
  await pinAuthority(place.pool, new AuthorityStore(directory), clientId, document)
  place.print(`${name} is protected by version 1`)
}

export async function showAuthority(place: Place, name: string, { json = false } = {}): Promise<void> {
  const { clientId, directory } = await enter(place, name)
  const present = await showProtection(place.pool, await openAuthorities(directory), clientId)
  if (present === null) throw new ConfigError(`${name} is not protected`)
  const lines = json ? [JSON.stringify(present.authority, null, 2)] : describe(present.authority)
  for (const line of lines) place.print(line)
  if (!json && present.pending !== null) place.print(waitingLine(present.pending))
}

/** Shows the pending version, its signers, and the people who signed against it so far. */
export async function showPending(place: Place, name: string): Promise<void> {
  const { clientId, directory } = await enter(place, name)
  const store = await openAuthorities(directory)
  const shown = await showProtection(place.pool, store, clientId)
  if (shown === null) throw new ConfigError(`${name} is not protected`)
  if (shown.pending === null) return place.print('no version waits')
  const { authority, pending } = shown
  const rejections = await listRejections(store!, clientId, { authority, hash: pending.hash, now: new Date() })
  const rejected = rejections.map(({ vote }) => `rejected     by ${vote.person} at ${vote.signedAt}`)
  const needed = cancellingVotes(authority)
  const lines = [
    waitingLine(pending),
    ...pending.signedBy.map((person) => `signed       by ${person}`),
    ...rejected,
    `cancel       signatures of ${authority.change.group}: ${needed} needed, ${rejected.length} kept here`,
    ...describe(pending.authority),
  ]
  for (const line of lines) place.print(line)
  printWarning(place, shown)
}

function printWarning({ around, print }: Place, shown: Shown) {
  const warning = untoldWarning(shown, around)
  if (warning !== null) print(`WARNING      ${warning}`)
}

/** Cancels the pending version, as `POST /authority/cancel` does. */
export async function cancelAuthority(place: Place, name: string, votesFile: string): Promise<void> {
  const { clientId, directory } = await enter(place, name)
  const votes = await readJson(votesFile)
  try {
    const { version } = await cancelPending(place.pool, await openAuthorities(directory), clientId, votes)
    place.print(`the version that waited is cancelled; version ${version} stays in force`)
  } catch (error) {
    if (!(error instanceof WalletError)) throw error
    throw new ConfigError(error.code === 404 ? 'no version waits' : `${error.message}: ${String(error.details)}`)
  }
}

const waitingLine = ({ version, inForceAt }: Pending) =>
  `version ${version} waits, and comes into force at ${inForceAt}`

/** Puts the next version in force, as `POST /authority` does. */
export async function nextAuthority(place: Place, name: string, file: string, votesFile: string): Promise<void> {
  const { clientId, directory } = await enter(place, name)
  const next = { authority: await readJson(file), votes: await readJson(votesFile) }
  try {
    const shown = await updateAuthority(place.pool, await openAuthorities(directory), clientId, next, place.around)
    for (const line of describe((shown.pending ?? shown).authority)) place.print(line)
    if (shown.pending !== null) place.print(waitingLine(shown.pending))
    printWarning(place, shown)
  } catch (error) {
    if (!(error instanceof WalletError)) throw error
    throw new ConfigError(
      error.code === 404 ? `${name} is not protected` : `${error.message}: ${String(error.details)}`,
    )
  }
}

async function enter({ pool, directory }: Place, name: string): Promise<{ clientId: string; directory: string }> {
  if (directory === undefined) throw new ConfigError('AUTHORITY_DIR is required')
  await migrate(pool)
  const clientId = await findClientByName(pool, name)
  if (clientId === null) throw new ConfigError(`there is no client named ${name}`)
  return { clientId, directory }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    return await Promise.race([lines.question(question), ended])
  } finally {
    lines.close()
  }
}

function assertTyped(typed: string, hash: string) {
  const digits = typed.replaceAll(/\s/g, '').toLowerCase()
  if (digits.length < typedDigits || !hash.startsWith(digits)) {
    throw new ConfigError('these are not the digits of the fingerprint; nothing was changed')
  }
}

/** Returns the lines that two people read aloud to each other. */
function describe(document: AnyAuthority): string[] {
  const { keys, groups, change, rules, ...authority } = document
  const fingerprint = (publicKey: string) =>
    toFingerprint(createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex'))
  return [
    `authority of the vault ${authority.vaultId}, version ${authority.version}`,
    `fingerprint  ${toFingerprint(hashOf(document))}`,
    ...keys.flatMap((key) => [
      `key          ${key.kind} "${key.name}" of ${key.person}`,
      `             ${fingerprint(key.publicKey)}`,
      ...(key.kind === 'passkey' ? [`             signs at ${key.origins.join(', ')} (RP ID ${key.rpId})`] : []),
    ]),
    ...groups.map(({ id, persons }) => `group        ${id}: ${persons.join(', ')}`),
    `change       ${change.votes} of ${change.group} sign the next version`,
    `delay        the next version waits ${delayHoursOf(document)} hours`,
    ...contactsOf(document).map(({ person, email }) => `contact      ${email} of ${person}`),
    trustsServicePage(document)
      ? 'WARNING      keys of the page of the service are valid: who controls the service controls the page where people sign'
      : 'pages        only keys of the page of this wallet service sign',
    ...authority.addresses.map(({ network, address }) => `listed       ${address} on ${network}`),
    ...rules.flatMap(({ network, contractAddress, initiators, perDay, floors, ...token }) => [
      ...('symbol' in token ? [`token        ${token.symbol}, ${token.decimals} decimals`] : []),
      `rule         ${contractAddress ?? 'the coin'} on ${network}: ordered by ${initiators}, ${perDay ?? 'any amount'} in 24 hours`,
      ...floors.map(({ above, to, group, votes }) => `             above ${above} to ${to}: ${votes} of ${group}`),
    ]),
  ]
}
