import { describe, expect, test } from 'vitest'
import {
  type Assertion,
  authority,
  authorize,
  follow,
  listed,
  order,
  passkey,
  serviceKey,
  signVote,
  team,
  token,
  unlisted,
} from '../testing/signing.ts'
import { canonicalForm, hashOf, toFingerprint } from './canonical.ts'
import { type Ordered, refusalOfNext, refusalOfOrder } from './decide.ts'
import type { Authority, Authorization, Order } from './documents.ts'
import { parseAuthority } from './parse.ts'

const { anna, annaToo, ben, carla, dora, emil, payroll } = team
const now = new Date('2026-01-31T09:00:00.000Z')

function orderedOf(signed: Order): Ordered {
  const { transferId: id, network, coinType, derivationPath, fromAddress, toAddress, contractAddress } = signed
  const fees = { feeLevel: signed.feeLevel ?? null, maxFee: signed.maxFee === undefined ? null : BigInt(signed.maxFee) }
  return {
    ...{ id, network, coinType, derivationPath, fromAddress, toAddress, contractAddress, ...fees },
    amount: BigInt(signed.amount),
  }
}

type Case = Partial<{
  ordered: Partial<Ordered>
  authorization: unknown
  authority: Authority
  lastDay: bigint
  now: Date
}>

function codeOf({ authorization = valid(), ordered, lastDay = 0n, ...others }: Case): string {
  const refused = refusalOfOrder({
    ordered: { ...orderedOf(order), ...ordered },
    authorization,
    authority: others.authority ?? authority,
    orderedLastDay: lastDay,
    now: others.now ?? now,
  })
  return refused?.code ?? 'ok'
}

/** The code for an order that is carried out as it was signed. */
const codeOfSigned = (signed: Order, authorization: unknown, others: Case = {}) =>
  codeOf({ ...others, ordered: orderedOf(signed), authorization })

const valid = () => authorize(order, { by: anna, approvers: [ben, carla] })
const withVotes = (votes: Authorization['votes']): Authorization => ({ ...valid(), votes })
const initiation = (by = anna) => signVote(by, { hash: hashOf(order), decision: 'initiate' })
const approval = (by: typeof anna, assertion: Assertion = {}) =>
  signVote(by, { hash: hashOf(order), decision: 'approve' }, assertion)

test('T58 an order is permitted when the people whom the authority names have signed it', () => {
  expect(codeOf({})).toBe('ok')
  expect(codeOf({ authorization: JSON.parse(JSON.stringify(valid())) })).toBe('ok')
  const small = { ...order, amount: '10', toAddress: listed, initiatorId: 'payroll' }
  expect(codeOfSigned(small, authorize(small, { by: payroll }))).toBe('ok')
  const limited = { ...order, feeLevel: 'low' as const, maxFee: '5000' }
  expect(codeOfSigned(limited, authorize(limited, { by: anna, approvers: [ben, carla] }))).toBe('ok')
  const ofToken = { ...order, contractAddress: token, amount: '9'.repeat(60) }
  expect(codeOfSigned(ofToken, authorize(ofToken, { by: annaToo }))).toBe('ok')
})

describe('T58 an order that differs from the signed order', () => {
  test.each<[string, Partial<Ordered>]>([
    ['replay under another id', { id: 'transfer-2' }],
    ['another recipient', { toAddress: listed }],
    ['another amount', { amount: 2001n }],
    ['another network', { network: 'polygon' }],
    ['another contract', { contractAddress: token }],
    ['another sender', { fromAddress: listed }],
    ['another path', { derivationPath: 'm/44/60/0/0/1' }],
    ['another coin type', { coinType: 61 }],
    ['a fee level that nobody signed', { feeLevel: 'high' }],
    ['a fee limit that nobody signed', { maxFee: 1n }],
  ])('is refused: %s', (_what, ordered) => {
    expect(codeOf({ ordered })).toBe('ORDER_DIFFERS')
  })

  test.each<[string, Partial<Order>]>([
    ['transfer', { transferId: 'transfer-2' }],
    ['vault', { vaultId: 'vault-2' }],
    ['recipient', { toAddress: listed }],
    ['amount', { amount: '1' }],
    ['fee limit', { maxFee: '1' }],
    ['expiry', { expiresAt: '2027-01-31T09:30:00.000Z' }],
    ['version of the rules', { rulesVersion: 4 }],
    ['token', { tokenId: 'token-2' }],
  ])('is refused when votes for another %s are put under it', (_what, changes) => {
    const other = authorize({ ...order, ...changes }, { by: anna, approvers: [ben, carla] })
    expect(codeOf({ authorization: { ...other, order } })).toBe('ORDER_DIFFERS')
  })

  test('is refused when it is for another vault, or when a vote is not about a transfer', () => {
    const foreign = { ...order, vaultId: 'vault-2' }
    expect(codeOfSigned(foreign, authorize(foreign, { by: anna, approvers: [ben, carla] }))).toBe('ORDER_DIFFERS')
    const forRules = signVote(carla, { subject: 'approval_request', hash: hashOf(order), decision: 'approve' })
    expect(codeOf({ authorization: withVotes([initiation(), approval(ben), forRules]) })).toBe('ORDER_DIFFERS')
  })
})

describe('T58 votes that do not count', () => {
  const officerOnly = [initiation(), approval(ben), approval(dora)]
  const large = { ...order, amount: '6000' }
  test.each<[string, Authorization['votes'], string]>([
    ['one vote too few', [initiation(), approval(ben)], 'VOTES_MISSING'],
    ['of somebody who is not in the group', officerOnly, 'VOTES_MISSING'],
    ['the same vote twice', [initiation(), approval(ben), approval(ben)], 'VOTES_MISSING'],
    ['of the initiator', [initiation(), approval(ben), approval(anna)], 'VOTES_MISSING'],
    ['of the initiator, with another key', [initiation(), approval(ben), approval(annaToo)], 'VOTES_MISSING'],
    [
      'a rejection',
      [initiation(), approval(ben), signVote(carla, { hash: hashOf(order), decision: 'reject' })],
      'VOTES_MISSING',
    ],
    [
      'of somebody who also rejected',
      [initiation(), approval(ben), approval(carla), signVote(carla, { hash: hashOf(order), decision: 'reject' })],
      'VOTES_MISSING',
    ],
    ['an initiation in place of an approval', [initiation(), approval(ben), initiation(carla)], 'VOTES_MISSING'],
    ['none of the initiator', [approval(ben), approval(carla)], 'NOT_INITIATED'],
    [
      'an approval of the initiator in place of the order',
      [approval(anna), approval(ben), approval(carla)],
      'NOT_INITIATED',
    ],
    ['initiated by somebody else', [initiation(ben), approval(ben), approval(carla)], 'NOT_INITIATED'],
    ['none at all', [], 'NOT_INITIATED'],
  ])('do not permit the order: %s', (_what, votes, code) => {
    expect(codeOf({ authorization: withVotes(votes) })).toBe(code)
  })

  test('two keys of one person are one vote', () => {
    const byBen = { ...order, initiatorId: 'ben' }
    expect(codeOfSigned(byBen, authorize(byBen, { by: ben, approvers: [anna, annaToo] }))).toBe('VOTES_MISSING')
    expect(codeOfSigned(byBen, authorize(byBen, { by: ben, approvers: [anna, annaToo, carla] }))).toBe('ok')
  })

  test('an order of a person who may not order is refused, whatever was approved', () => {
    const byCarla = { ...order, initiatorId: 'carla' }
    expect(codeOfSigned(byCarla, authorize(byCarla, { by: carla, approvers: [anna, ben] }))).toBe('NOT_INITIATED')
  })

  test('each floor that the order exceeds needs votes of its group, and a listed recipient needs fewer votes', () => {
    expect(codeOfSigned(large, authorize(large, { by: anna, approvers: [ben, carla] }))).toBe('VOTES_MISSING')
    expect(codeOfSigned(large, authorize(large, { by: anna, approvers: [ben, carla, dora] }))).toBe('ok')
    const known = { ...large, toAddress: listed }
    expect(codeOfSigned(known, authorize(known, { by: anna, approvers: [ben, carla] }))).toBe('ok')
    const elsewhere = { ...authority, addresses: [{ network: 'polygon', address: listed }] }
    const asElsewhere = authorize(known, { by: anna, approvers: [ben, carla], under: elsewhere })
    expect(codeOfSigned(known, asElsewhere, { authority: elsewhere })).toBe('VOTES_MISSING')
    const atTheFloor = { ...order, amount: '1000', toAddress: listed }
    expect(codeOfSigned(atTheFloor, authorize(atTheFloor, { by: anna }))).toBe('ok')
    const above = { ...atTheFloor, amount: '1001' }
    expect(codeOfSigned(above, authorize(above, { by: anna, approvers: [ben] }))).toBe('VOTES_MISSING')
    const toUnlisted = { ...order, amount: '1', toAddress: unlisted }
    expect(codeOfSigned(toUnlisted, authorize(toUnlisted, { by: anna }))).toBe('VOTES_MISSING')
  })
})

describe('T58 signatures', () => {
  const stranger = passkey('ben', 'a key that nobody registered')
  test.each<[string, Assertion]>([
    ['another type', { type: 'webauthn.create' }],
    ['another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['another origin', { origin: 'https://vault.example.org.evil.test' }],
    ['another RP ID', { rpId: 'example.org' }],
    ['nobody present', { flags: 0x04 }],
    ['nobody verified', { flags: 0x01 }],
  ])('an assertion with %s does not count', (_what, assertion) => {
    const authorization = withVotes([initiation(), approval(ben, assertion), approval(carla)])
    expect(codeOf({ authorization })).toBe('SIGNATURE_INVALID')
  })

  test('an assertion for another page of the key counts, and more flags do no harm', () => {
    const votes = [initiation(), approval(ben, { origin: 'https://sign.example.org', flags: 0x1d }), approval(carla)]
    expect(codeOf({ authorization: withVotes(votes) })).toBe('ok')
  })

  test.each<[string, (vote: Authorization['votes'][number]) => object, string]>([
    ['of another person’s key', () => ({ keyId: dora.entry.id }), 'KEY_UNKNOWN'],
    ['of a key that is not there', () => ({ keyId: stranger.entry.id }), 'KEY_UNKNOWN'],
    [
      'of an unknown key under the id of a known key',
      () => ({ signature: approval(stranger).signature }),
      'SIGNATURE_INVALID',
    ],
    ['copied from another vote', () => ({ signature: approval(dora).signature }), 'SIGNATURE_INVALID'],
    ['with padding', (vote) => ({ signature: `${vote.signature}=` }), 'AUTHORIZATION_MALFORMED'],
    ['that is not DER', () => ({ signature: 'AAAA' }), 'SIGNATURE_INVALID'],
    ['without authenticator data', () => ({ authenticatorData: undefined }), 'SIGNATURE_INVALID'],
    ['without client data', () => ({ clientDataJSON: undefined }), 'SIGNATURE_INVALID'],
    [
      'with cut authenticator data',
      (vote) => ({ authenticatorData: vote.authenticatorData!.slice(0, 40) }),
      'SIGNATURE_INVALID',
    ],
    ['with client data that is not JSON', () => ({ clientDataJSON: 'AAAA' }), 'SIGNATURE_INVALID'],
    [
      'with another spelling of the same bytes',
      (vote) => ({ authenticatorData: respelt(vote.authenticatorData!) }),
      'SIGNATURE_INVALID',
    ],
  ])('a vote %s does not count', (_what, change, code) => {
    const vote = approval(ben)
    const votes = JSON.parse(JSON.stringify([initiation(), { ...vote, ...change(vote) }, approval(carla)]))
    expect(codeOf({ authorization: withVotes(votes) })).toBe(code)
  })

  test('a changed bit of a signature, of authenticator data or of client data makes the vote invalid', () => {
    for (const field of ['signature', 'authenticatorData', 'clientDataJSON'] as const) {
      const vote = approval(ben)
      const bytes = Buffer.from(vote[field]!, 'base64url')
      bytes[bytes.length - 1]! ^= 1
      const votes = [initiation(), { ...vote, [field]: bytes.toString('base64url') }, approval(carla)]
      expect(codeOf({ authorization: withVotes(votes) })).toBe('SIGNATURE_INVALID')
    }
  })

  test('the vote of one person under the name of another does not count', () => {
    const vote = approval(ben)
    const renamed = { ...vote, vote: { ...vote.vote, person: 'carla' } }
    expect(codeOf({ authorization: withVotes([initiation(), vote, renamed]) })).toBe('KEY_UNKNOWN')
    const rekeyed = { ...renamed, keyId: carla.entry.id }
    expect(codeOf({ authorization: withVotes([initiation(), vote, rekeyed]) })).toBe('SIGNATURE_INVALID')
  })

  test('an approval that was made of a rejection does not count', () => {
    const vote = signVote(carla, { hash: hashOf(order), decision: 'reject' })
    const turned = { ...vote, vote: { ...vote.vote, decision: 'approve' as const } }
    expect(codeOf({ authorization: withVotes([initiation(), approval(ben), turned]) })).toBe('SIGNATURE_INVALID')
  })

  test('a service signs the vote itself, and nothing that looks like a passkey', () => {
    const byService = { ...order, amount: '10', toAddress: listed, initiatorId: 'payroll' }
    const right = authorize(byService, { by: payroll })
    const padded = { ...right.votes[0]!, clientDataJSON: 'e30' }
    expect(codeOfSigned(byService, { ...right, votes: [padded] })).toBe('SIGNATURE_INVALID')
    // The passkey's key would sign an assertion; what it signs without one does not count.
    const bare = { ...serviceKey('anna', 'anna 2'), entry: { ...annaToo.entry, kind: 'service' as const } }
    const vote = signVote(bare as typeof anna, { hash: hashOf(order), decision: 'initiate' })
    expect(codeOf({ authorization: withVotes([vote, approval(ben), approval(carla)]) })).toBe('SIGNATURE_INVALID')
  })
})

describe('T58 the authority', () => {
  const v2 = { ...authority, version: 2, previous: hashOf(authority) }
  test('in force refuses votes that were collected for another version', () => {
    expect(codeOf({ authority: v2 })).toBe('AUTHORITY_VERSION_DIFFERS')
    expect(codeOf({ authorization: { ...valid(), authorityVersion: 2 } })).toBe('AUTHORITY_VERSION_DIFFERS')
  })

  test('in force refuses the vote of a key that was removed', () => {
    const keys = authority.keys.filter(({ id }) => id !== carla.entry.id)
    const under = { ...v2, keys }
    const authorization = authorize(order, { by: anna, approvers: [ben, carla], under })
    expect(codeOf({ authority: under, authorization })).toBe('KEY_UNKNOWN')
  })

  test('in force refuses votes of people who were shown no authority, or another authority, such as with other decimals', () => {
    const rules = authority.rules.map((rule) => ({ ...rule, decimals: 6 }))
    for (const shown of [hashOf({ ...authority, rules }), null]) {
      const misled = signVote(ben, { hash: hashOf(order), decision: 'approve', authority: shown })
      const votes = [initiation(), misled, approval(carla)]
      expect(codeOf({ authorization: withVotes(votes) })).toBe('AUTHORITY_VERSION_DIFFERS')
    }
  })

  test('in force refuses a token that no rule names, and the coin of another network', () => {
    const other = { ...order, contractAddress: listed }
    expect(codeOfSigned(other, authorize(other, { by: anna, approvers: [ben, carla] }))).toBe('TOKEN_NOT_PERMITTED')
    const elsewhere = { ...order, network: 'polygon' }
    expect(codeOfSigned(elsewhere, authorize(elsewhere, { by: anna, approvers: [ben] }))).toBe('TOKEN_NOT_PERMITTED')
  })

  test('in force refuses an expired order, and an amount above the limit of a day', () => {
    expect(codeOf({ now: new Date('2026-01-31T09:30:00.000Z') })).toBe('ok')
    expect(codeOf({ now: new Date('2026-01-31T09:30:00.001Z') })).toBe('ORDER_EXPIRED')
    expect(codeOf({ lastDay: 8000n })).toBe('ok')
    expect(codeOf({ lastDay: 8001n })).toBe('PER_DAY_EXCEEDED')
  })

  test('in force refuses an order that ends more than 30 days after its initiator signed it, and votes of the future', () => {
    const ending = (expiresAt: string, signedAt: string) => {
      const signed = { ...order, expiresAt }
      return codeOfSigned(signed, authorize(signed, { by: anna, approvers: [ben, carla], signedAt }))
    }
    expect(ending('2026-02-28T09:00:00.000Z', '2026-01-29T09:00:00.000Z')).toBe('ok')
    expect(ending('2026-02-28T09:00:00.001Z', '2026-01-29T09:00:00.000Z')).toBe('EXPIRES_TOO_LATE')
    expect(ending('9999-12-31T23:59:59.999Z', '2026-01-31T09:00:00.000Z')).toBe('EXPIRES_TOO_LATE')
    expect(ending('2026-02-28T09:00:00.000Z', '2026-01-31T09:05:00.000Z')).toBe('ok')
    expect(ending('2026-02-28T09:00:00.000Z', '2026-01-31T09:05:00.001Z')).toBe('SIGNED_IN_FUTURE')
    // A person who signs twice gains nothing by the later vote.
    const long = { ...order, expiresAt: '2026-02-28T09:00:00.001Z' }
    const right = authorize(long, { by: anna, approvers: [ben, carla], signedAt: '2026-01-31T08:00:00.000Z' })
    const about = { hash: hashOf(long), signedAt: '2026-01-29T09:00:00.000Z' }
    const early = signVote(annaToo, { ...about, decision: 'initiate' })
    expect(codeOfSigned(long, { ...right, votes: [...right.votes, early] })).toBe('EXPIRES_TOO_LATE')
  })
})

describe('T58 unreadable documents', () => {
  const good = JSON.parse(JSON.stringify(valid()))
  test.each<[string, unknown]>([
    ['a text', 'yes'],
    ['a list', [good]],
    ['nothing in it', {}],
    ['no votes', { ...good, votes: undefined }],
    ['another field', { ...good, extra: 1 }],
    ['an order with another field', { ...good, order: { ...good.order, note: 'x' } }],
    ['an order without expiry', { ...good, order: { ...good.order, expiresAt: undefined } }],
    ['an expiry that is not a time', { ...good, order: { ...good.order, expiresAt: '2026-02-31T09:30:00.000Z' } }],
    ['an amount that is a number', { ...good, order: { ...good.order, amount: 2000 } }],
    ['an amount with a leading zero', { ...good, order: { ...good.order, amount: '02000' } }],
    ['a fraction', { ...good, order: { ...good.order, rulesVersion: 1.5 } }],
    ['a version that is a text', { ...good, authorityVersion: '1' }],
    [
      'a vote of another format',
      { ...good, votes: [{ ...good.votes[0], vote: { ...good.votes[0].vote, format: 'x' } }] },
    ],
    [
      'a vote of format 1',
      { ...good, votes: [{ ...good.votes[0], vote: { ...good.votes[0].vote, format: 'strongroom-vote-1' } }] },
    ],
    [
      'a vote without its time',
      { ...good, votes: [{ ...good.votes[0], vote: { ...good.votes[0].vote, signedAt: undefined } }] },
    ],
    [
      'a vote at no time',
      { ...good, votes: [{ ...good.votes[0], vote: { ...good.votes[0].vote, signedAt: '2026-02-30T09:00:00.000Z' } }] },
    ],
    ['a vote with another field', { ...good, votes: [{ ...good.votes[0], extra: 1 }] }],
    [
      'a decision that does not exist',
      { ...good, votes: [{ ...good.votes[0], vote: { ...good.votes[0].vote, decision: 'yes' } }] },
    ],
    ['more votes than anybody asks for', { ...good, votes: Array(51).fill(good.votes[0]) }],
  ])('are refused as malformed: %s', (_what, authorization) => {
    expect(codeOf({ authorization })).toBe('AUTHORIZATION_MALFORMED')
  })

  test('differ from an absent authorization, which has a code of its own', () => {
    const situation = { ordered: orderedOf(order), authority, orderedLastDay: 0n, now }
    expect(refusalOfOrder({ ...situation, authorization: undefined })?.code).toBe('AUTHORIZATION_MISSING')
    expect(refusalOfOrder({ ...situation, authorization: null })?.code).toBe('AUTHORIZATION_MISSING')
  })
})

describe('T59 the next version', () => {
  const codeOfNext = (changes: Partial<Authority>, by: (typeof anna)[]) => {
    const next = follow(authority, changes, by)
    return refusalOfNext(authority, next.authority, next.votes, now)?.code ?? 'ok'
  }

  test('is signed by a quorum of the version before', () => {
    expect(codeOfNext({}, [dora, emil])).toBe('ok')
    expect(codeOfNext({}, [dora])).toBe('VOTES_MISSING')
    expect(codeOfNext({}, [anna, annaToo])).toBe('VOTES_MISSING')
    expect(codeOfNext({}, [dora, ben])).toBe('VOTES_MISSING')
  })

  test('has the next number and names the hash of the version before', () => {
    expect(codeOfNext({ version: 1, previous: null }, [dora, emil])).toBe('AUTHORITY_VERSION_DIFFERS')
    expect(codeOfNext({ version: 3 }, [dora, emil])).toBe('AUTHORITY_VERSION_DIFFERS')
    expect(codeOfNext({ previous: 'a'.repeat(64) }, [dora, emil])).toBe('AUTHORITY_VERSION_DIFFERS')
    expect(codeOfNext({ vaultId: 'vault-2' }, [dora, emil])).toBe('ORDER_DIFFERS')
  })

  test('votes for another version, by keys that only the new one has, or on a transfer do not count', () => {
    const next = follow(authority, {}, [dora, emil])
    const widened = { ...next.authority, change: { group: 'officers', votes: 1 } }
    expect(refusalOfNext(authority, widened, next.votes, now)?.code).toBe('ORDER_DIFFERS')
    const frida = passkey('frida', 'frida')
    const keys = [...authority.keys, frida.entry]
    const groups = authority.groups.map((group) => ({ ...group, persons: [...group.persons, 'frida'] }))
    expect(codeOfNext({ keys, groups }, [dora, frida])).toBe('KEY_UNKNOWN')
    const votes = [dora, emil].map((key) => signVote(key, { hash: hashOf(next.authority), decision: 'approve' }))
    expect(refusalOfNext(authority, next.authority, votes, now)?.code).toBe('ORDER_DIFFERS')
    const rejected = signVote(emil, { subject: 'authority', hash: hashOf(next.authority), decision: 'reject' })
    expect(refusalOfNext(authority, next.authority, [next.votes[0], rejected], now)?.code).toBe('VOTES_MISSING')
    expect(refusalOfNext(authority, next.authority, 'none', now)?.code).toBe('AUTHORIZATION_MALFORMED')
  })
})

describe('an authority that cannot be right', () => {
  const key = authority.keys[0]!
  const rule = authority.rules[0]!
  test.each<[string, Partial<Authority> | object, RegExp]>([
    ['another field', { extra: 1 }, /authority/],
    [
      'one key under two names',
      { keys: [...authority.keys, { ...key, id: 'again', person: 'frida' }] },
      /keys has an entry twice/,
    ],
    ['two keys with one id', { keys: [...authority.keys, { ...dora.entry, id: key.id }] }, /keys has an entry twice/],
    ['a key that is not valid', { keys: [{ ...key, publicKey: 'A'.repeat(122) }] }, /neither of P-256 nor of Ed25519/],
    ['a point that is not on the curve', { keys: [{ ...key, publicKey: offCurve(key.publicKey) }] }, /neither/],
    ['a service with a P-256 key', { keys: [{ ...payroll.entry, publicKey: key.publicKey }] }, /must be of Ed25519/],
    ['a group twice', { groups: [...authority.groups, authority.groups[0]!] }, /groups has an entry twice/],
    ['a person twice in a group', { groups: [{ id: 'officers', persons: ['anna', 'anna'] }] }, /twice/],
    ['a group that is not there', { change: { group: 'nobody', votes: 1 } }, /does not exist/],
    ['more votes than voters', { change: { group: 'officers', votes: 4 } }, /3 persons have a key/],
    [
      'votes of persons without keys',
      { keys: authority.keys.filter(({ person }) => person !== 'dora'), change: { group: 'officers', votes: 3 } },
      /2 persons/,
    ],
    ['initiators that are not there', { rules: [{ ...rule, initiators: 'nobody' }] }, /does not exist/],
    ['two rules for one token', { rules: [rule, rule] }, /rules has an entry twice/],
    ['an address twice', { addresses: [...authority.addresses, ...authority.addresses] }, /twice/],
    [
      'an address with a wrong checksum',
      { addresses: [{ network: 'ethereum', address: listed.toLowerCase() }] },
      /EIP-55/,
    ],
    ['no vote asked for', { change: { group: 'officers', votes: 0 } }, /authority/],
    ['version 1 with a version before', { previous: 'a'.repeat(64) }, /previous/],
    ['a text that is half a character', { keys: [{ ...key, name: '\ud800' }] }, /surrogate|authority/],
  ])('is refused: %s', (_what, changes, message) => {
    expect(() => parseAuthority({ ...authority, ...changes })).toThrow(message)
  })

  test('is refused when it does not fit into a request', () => {
    const keys = Array.from({ length: 200 }, (_, index) => ({ ...key, id: `${index}-${'x'.repeat(400)}` }))
    const addresses = Array.from({ length: 1_000 }, (_, index) => ({
      network: 'ethereum',
      address: `0x${index.toString().padStart(40, '0')}`,
    }))
    expect(() => parseAuthority({ ...authority, keys, addresses })).toThrow(/98304 bytes/)
  })
})

test('the canonical form sorts names, keeps characters and admits nothing that has two spellings', () => {
  expect(canonicalForm({ b: [1, null, 'ä€😀\u2028'], a: { d: '\n"\\\u0001', c: true } })).toBe(
    '{"a":{"c":true,"d":"\\n\\"\\\\\\u0001"},"b":[1,null,"ä€😀\u2028"]}',
  )
  expect(hashOf({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
  for (const value of [1.5, -1, -0, 2 ** 53, Number.NaN, undefined, '\ud800', { ä: 1 }, { '': 1 }]) {
    expect(() => canonicalForm({ value })).toThrow()
  }
  expect(toFingerprint('0123456789ab')).toBe('0123 4567 89ab')
})

/** Base64 ignores the last bits of some texts: the same bytes, another text. */
function respelt(text: string): string {
  const bytes = Buffer.from(text, 'base64url')
  const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (const character of last) {
    const other = text.slice(0, -1) + character
    if (other !== text && Buffer.from(other, 'base64url').equals(bytes)) return other
  }
  throw new Error('this text has one spelling only')
}

function offCurve(publicKey: string): string {
  const bytes = Buffer.from(publicKey, 'base64url')
  bytes[bytes.length - 1]! ^= 1
  return bytes.toString('base64url')
}
