import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { authorityBytesMax } from '../limits.ts'
import { canonicalForm } from './canonical.ts'
import {
  type AnyAuthority,
  type AnySignedVote,
  Authority,
  Authority1,
  Authorization,
  type SignedVote,
  SignedVotes,
  SignedVotes1,
} from './documents.ts'
import { toEip55 } from './eip55.ts'
import { readPublicKey } from './public-key.ts'

/** A document cannot be read; the message is a sentence for people. */
export class MalformedError extends Error {}

const authorization = Compile(Authorization)
const signedVotes = Compile(SignedVotes)
const signedVotes1 = Compile(SignedVotes1)
const authority = Compile(Authority)
const authority1 = Compile(Authority1)

/** @throws MalformedError */
export function parseAuthorization(value: unknown): Authorization {
  const parsed = read(authorization, value, 'the authorization') as Authorization
  const { order, batch } = parsed
  checkTime('expiresAt', order.expiresAt)
  checkTimes(parsed.votes)
  const sums = batch?.payout.sums ?? []
  assertUnique(
    'sums of the payout',
    sums.map(({ network, contractAddress }) => `${network} ${contractAddress}`),
  )
  return parsed
}

/** @throws MalformedError */
export function parseVotes(value: unknown): SignedVote[] {
  const votes = read(signedVotes, value, 'the list of votes') as SignedVote[]
  checkTimes(votes)
  return votes
}

const checkTimes = (votes: SignedVote[]) => {
  for (const { vote } of votes) checkTime('signedAt', vote.signedAt)
}

function checkTime(name: string, text: string) {
  const time = new Date(text)
  if (Number.isNaN(time.getTime()) || time.toISOString() !== text) fail(`${name} is not a time`)
}

/**
 * Reads an authority. Beyond its form, it checks that names and keys are unique, that every named group exists, and that persons
 * with a key can reach each number of votes, so that a typing error cannot lock people out.
 * @throws MalformedError
 */
export function parseAuthority(value: unknown): Authority {
  const parsed = read(authority, value, 'the authority') as Authority
  checkAuthority(parsed)
  return parsed
}

/**
 * Reads a version of the past, or that in force, with the votes for it: both are of format 1, or both of format 2.
 * @throws MalformedError
 */
export function parseKept(kept: { authority: unknown; votes: unknown }): {
  authority: AnyAuthority
  votes: AnySignedVote[]
} {
  if (!authority1.Check(kept.authority)) {
    return { authority: parseAuthority(kept.authority), votes: parseVotes(kept.votes) }
  }
  const parsed = read(authority1, kept.authority, 'the authority') as Authority1
  checkAuthority(parsed)
  return { authority: parsed, votes: read(signedVotes1, kept.votes, 'the list of votes') as AnySignedVote[] }
}

function checkAuthority(parsed: AnyAuthority) {
  if (Buffer.byteLength(canonicalForm(parsed)) > authorityBytesMax) fail(`it has more than ${authorityBytesMax} bytes`)
  if ((parsed.version === 1) !== (parsed.previous === null)) fail('previous is null in version 1, and only there')
  checkKeys(parsed)
  checkAddresses(parsed)
  const votersOf = checkGroups(parsed)
  checkVotes('change', parsed.change, votersOf)
  assertUnique(
    'rules',
    parsed.rules.map(({ network, contractAddress }) => `${network} ${contractAddress}`),
  )
  for (const { network, contractAddress, initiators, floors } of parsed.rules) {
    const where = `the rule of ${contractAddress ?? 'the coin'} on ${network}`
    if (!votersOf.has(initiators)) fail(`${where} names the group ${initiators}, which does not exist`)
    for (const floor of floors) checkVotes(where, floor, votersOf)
  }
}

function checkKeys({ keys }: AnyAuthority) {
  assertUnique(
    'keys',
    keys.map(({ id }) => id),
  )
  assertUnique(
    'keys',
    keys.map(({ publicKey }) => publicKey),
  )
  for (const { id, kind, publicKey } of keys) {
    const key = readPublicKey(publicKey)
    if (key === null) fail(`the public key of ${id} is neither of P-256 nor of Ed25519, as SPKI`)
    else if (kind === 'service' && key.algorithm !== 'ed25519') fail(`${id} is of a service, so it must be of Ed25519`)
  }
}

function checkAddresses({ addresses, rules }: AnyAuthority) {
  assertUnique(
    'addresses',
    addresses.map(({ network, address }) => `${network} ${address}`),
  )
  const named = [...addresses.map(({ address }) => address), ...rules.map(({ contractAddress }) => contractAddress)]
  for (const address of named) {
    if (address !== null && toEip55(address) !== address) fail(`${address} is not in EIP-55 form`)
  }
}

/** Returns the number of persons with a key, by group. */
function checkGroups({ groups, keys }: AnyAuthority): Map<string, number> {
  assertUnique(
    'groups',
    groups.map(({ id }) => id),
  )
  const haveKey = new Set(keys.map(({ person }) => person))
  return new Map(
    groups.map(({ id, persons }) => {
      assertUnique(`persons of the group ${id}`, persons)
      return [id, persons.filter((person) => haveKey.has(person)).length]
    }),
  )
}

function checkVotes(where: string, requirement: { group: string; votes: number }, votersOf: Map<string, number>) {
  const voters = votersOf.get(requirement.group)
  if (voters === undefined) fail(`${where} names the group ${requirement.group}, which does not exist`)
  else if (voters < requirement.votes) {
    fail(`${where} asks for ${requirement.votes} votes of ${requirement.group}, where ${voters} persons have a key`)
  }
}

function assertUnique(what: string, names: string[]) {
  if (new Set(names).size < names.length) fail(`${what} has an entry twice`)
}

function read(validator: Validator<Record<never, never>, TSchema>, value: unknown, what: string): unknown {
  if (validator.Check(value)) {
    canonicalForm(value)
    return value
  }
  const [error] = validator.Errors(value)
  return fail(`${what}${error?.instancePath.replaceAll('/', '.') ?? ''} ${error?.message ?? 'has another form'}`)
}

function fail(sentence: string): never {
  throw new MalformedError(sentence)
}
