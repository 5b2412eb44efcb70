import { createHash, createPublicKey, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { campaignOf } from '../../../server/src/testing/campaign.ts'
import {
  authorityDocument,
  authorityOf,
  expectedFor,
  inDays,
  mutated,
  orderWith,
  randomOf,
  supplier,
  tusd,
  unknownToken,
} from '../testing/signed-orders.ts'
import {
  type Authority,
  canonicalJson,
  describeOrder,
  describePayout,
  hashOf,
  type Order,
  orderOf,
  payoutOf,
  readAuthority,
  type ServiceSigningKey,
  type SignedVote,
  type Signer,
  SigningError,
  signApproval,
  signAuthority,
  signOrder,
  signPayout,
  termsOf,
  textOf,
} from './signing.ts'

/** Answers of the service that are altered, one value at a time. */
const { runs, seed } = campaignOf('SIGNING', { runs: 300, seed: 0 })

/** Returns a signer that signs everything and keeps the requests. */
function signerOf(person: string) {
  const requests: { vote: SignedVote['vote']; subject: object }[] = []
  const signer: Signer = {
    person,
    sign: async (vote, subject) => {
      requests.push({ vote, subject })
      return { vote, keyId: 'key', signature: 'signature' }
    },
  }
  return { signer, requests }
}

const fieldOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(SigningError)
  return (error as SigningError).field
}

describe('T80 scale, token and end are read and signed', () => {
  it('T80 amounts are decoded with the decimals of the authority, and without it in the smallest unit', async () => {
    const authority = await authorityOf()
    const shown = (part: Partial<Order>, by: Authority | null = authority) =>
      textOf(describeOrder(orderWith(part), by).amount)
    expect(shown({ amount: '100000000000000000' })).toBe('0.1 ETH (the coin of ethereum)')
    expect(shown({ amount: '100000000000000000000' })).toBe('100 ETH (the coin of ethereum)')
    expect(shown({ amount: '1', contractAddress: tusd })).toBe(`0.000001 TUSD (${tusd} on ethereum)`)
    const raw = `1000000 smallest units of ${unknownToken} on ethereum`
    expect(shown({ amount: '1000000', contractAddress: unknownToken })).toBe(raw)
    expect(shown({ amount: '1000000', network: 'polygon' })).toBe('1000000 smallest units of the coin of polygon')
    expect(shown({ amount: '1000000' }, null)).toBe('1000000 smallest units of the coin of ethereum')
  })

  it('T80 a symbol or decimals that people cannot read are not shown', async () => {
    const [coin, token] = authorityDocument.rules
    const rules = [
      { decimals: 37 },
      { decimals: -1 },
      { decimals: '6' },
      { symbol: 'E\u200bTH' },
      { symbol: '' },
      { symbol: 7 },
    ]
    for (const part of rules) {
      const authority = await authorityOf({ rules: [{ ...coin, ...part }, token] })
      expect(describeOrder(orderWith(), authority).amount.named).toBeNull()
    }
    const twice = await authorityOf({ rules: [coin, { ...coin, decimals: 6 }] })
    expect(describeOrder(orderWith(), twice).amount.named).toBeNull()
  })

  it('T80 two orders that differ in any field are shown differently', async () => {
    const authority = await authorityOf()
    const order = orderWith()
    const random = randomOf(seed + 7)
    let shownCount = 0
    for (let i = 0; i < runs; i++) {
      const { answer, name } = mutated(order, random)
      let shown: unknown
      try {
        shown = describeOrder(answer, authority)
      } catch (error) {
        expect(error).toBeInstanceOf(SigningError)
        continue
      }
      shownCount++
      expect(shown, name).not.toEqual(describeOrder(order, authority))
    }
    expect(shownCount).toBeGreaterThan(runs / 10)
  })

  it(`T80 nothing is signed of ${runs} orders that are not the expected one`, async () => {
    const authority = await authorityOf()
    const order = orderWith()
    const { signer, requests } = signerOf('ada')
    const random = randomOf(seed + 11)
    for (let i = 0; i < runs; i++) {
      const { answer, name } = mutated(order, random)
      const work = signOrder(answer, expectedFor(order, authority), signer)
      // Letters of an address without their check sum say the same address, and are what is signed.
      if (isSpelling(answer, order)) await work
      else await expect(work, name).rejects.toThrow(SigningError)
      const vote = signApproval({ kind: 'transfer', order: answer, expected: expectedFor(order, authority) }, signer)
      if (isSpelling(answer, order)) await vote
      else await expect(vote, name).rejects.toThrow(SigningError)
    }
    for (const { subject } of requests) expect(isSpelling(subject as Order, order)).toBe(true)
  })

  it('T80 an authority that is false in any part has another hash, so that the wallet service refuses its votes', async () => {
    const { hash } = await authorityOf()
    const random = randomOf(seed + 13)
    for (let i = 0; i < runs; i++) {
      const { answer, name } = mutated(authorityDocument, random)
      const read = await readAuthority(answer).catch(() => null)
      if (read !== null) expect(read.hash, name).not.toBe(hash)
    }
  })

  it.each([
    ['amount', { amount: '100000000000000000000' }],
    ['contractAddress', { contractAddress: tusd }],
    ['expiresAt', { expiresAt: inDays(31) }],
    ['expiresAt', { expiresAt: undefined }],
    ['initiatorId', { initiatorId: 'ben' }],
    ['maxFee', { maxFee: '8000000000000000' }],
    ['maxFee', { maxFee: undefined }],
    ['feeLevel', { feeLevel: 'low' }],
    ['derivationPath', { derivationPath: 'm/44/60/2/0' }],
    ['fromAddress', { fromAddress: supplier }],
    ['toAddress', { toAddress: tusd }],
    ['network', { network: 'polygon' }],
    ['vaultId', { vaultId: 'vault-2' }],
    ['memo', { memo: 'x' }],
  ])('T80 an order with another %s is not signed', async (field, part) => {
    const authority = await authorityOf()
    const order = orderWith()
    const { signer, requests } = signerOf('ada')
    const altered = { ...order, ...part }
    expect(await fieldOf(signOrder(altered, expectedFor(order, authority), signer))).toBe(field)
    expect(requests).toEqual([])
  })

  it('T80 an expiry after more than 30 days, or in the past, is not signed even if it was shown', async () => {
    const authority = await authorityOf()
    const { signer } = signerOf('ada')
    for (const expiresAt of [inDays(31), '9999-12-31T00:00:00.000Z', inDays(-1)]) {
      const order = orderWith({ expiresAt })
      expect(await fieldOf(signOrder(order, expectedFor(order, authority), signer))).toBe('expiresAt')
    }
    const old = orderWith({ expiresAt: inDays(-1) })
    const { vote } = await signApproval(
      { kind: 'transfer', order: old, expected: expectedFor(old, authority) },
      signer,
      'reject',
    )
    expect(vote.decision).toBe('reject')
  })

  it('T80 nothing is shown by the authority of another vault', async () => {
    const other = await authorityOf({ vaultId: 'vault-2' })
    expect(() => describeOrder(orderWith(), other)).toThrow('vaultId is another vault')
  })

  it('T80 an amount is built exactly from the entered value', async () => {
    const authority = await authorityOf()
    const built = (amount: string | bigint, contractAddress: string | null) =>
      orderOf({ ...expectedFor(orderWith({ contractAddress }), null), amount, terms: termsOf(orderWith()) }, authority)
        .amount
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 1n, max: 10n ** 40n }), async (raw) => {
        const order = orderWith({ amount: String(raw), contractAddress: tusd })
        const { named } = describeOrder(order, authority).amount
        expect(built(named!.decimal, tusd)).toBe(String(raw))
        expect(built(raw, unknownToken)).toBe(String(raw))
      }),
      { numRuns: 100 },
    )
    for (const amount of ['0.0000001', '1,5', '1e3', '-1', '']) expect(() => built(amount, tusd)).toThrow(SigningError)
    expect(() => built('1', unknownToken)).toThrow('use the smallest unit')
  })
})

describe('what is signed', () => {
  it('is a vote that was built here, for the person who signs', async () => {
    const authority = await authorityOf()
    const order = orderWith()
    const { signer, requests } = signerOf('ada')
    await signOrder(order, expectedFor(order, authority), signer)
    const text = canonicalJson(order)
    expect(requests[0]!.vote).toEqual({
      format: 'strongroom-vote-2',
      subject: 'transfer',
      hash: createHash('sha256').update(text).digest('hex'),
      decision: 'initiate',
      person: 'ada',
      authority: authority.hash,
      signedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    expect(Math.abs(Date.parse(requests[0]!.vote.signedAt) - Date.now())).toBeLessThan(60_000)
  })

  it('is signed by the Ed25519 key of a service over its canonical form', async () => {
    const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as Record<
      'privateKey' | 'publicKey',
      ServiceSigningKey['privateKey']
    >
    const order = orderWith()
    const key = { id: 'key-1', person: 'ada', privateKey: pair.privateKey }
    const signed = await signOrder(order, expectedFor(order, null), key)
    expect(signed).toEqual({
      vote: expect.objectContaining({ authority: null }),
      keyId: 'key-1',
      signature: expect.any(String),
    })
    const spki = Buffer.from(await crypto.subtle.exportKey('spki', pair.publicKey))
    const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    const bytes = Buffer.from(canonicalJson(signed.vote))
    expect(verify(null, bytes, publicKey, Buffer.from(signed.signature, 'base64url'))).toBe(true)
  })

  it('is nothing for another person, and nothing that a page answers instead', async () => {
    const order = orderWith()
    expect(await fieldOf(signOrder(order, expectedFor(order, null), signerOf('ben').signer))).toBe('initiatorId')
    const answers: object[] = [
      { hash: 'cd'.repeat(32) },
      { decision: 'approve' },
      { more: 'x' },
      { signedAt: inDays(1) },
    ]
    for (const part of answers) {
      const sign: Signer['sign'] = async (vote) => ({ vote: { ...vote, ...part }, keyId: 'key', signature: 'x' })
      expect(await fieldOf(signOrder(order, expectedFor(order, null), { person: 'ada', sign }))).toBe('vote')
    }
  })

  it('is a payout with exactly the rows that are expected, in their order', async () => {
    const authority = await authorityOf()
    const rows = [1, 2, 3]
      .map((i) =>
        orderWith({
          transferId: `row-${i}`,
          amount: String(i * 10 ** 6),
          contractAddress: i === 2 ? null : tusd,
          maxFee: undefined,
        }),
      )
      .map(({ maxFee: _, ...row }) => row)
    const expected = { authority, rows: rows.map((row) => expectedFor(row, authority)) }
    const { signer, requests } = signerOf('ada')
    const { vote } = await signPayout({ payoutId: 'payout-1', orders: rows }, expected, signer)
    expect(vote).toMatchObject({ subject: 'payout', hash: await hashOf(await payoutOf('payout-1', rows)) })
    const { sums } = describePayout('payout-1', rows, authority)
    expect(sums.map((sum) => [textOf(sum), sum.rowsCount])).toEqual([
      [`4 TUSD (${tusd} on ethereum)`, 2],
      ['0.000000000002 ETH (the coin of ethereum)', 1],
    ])
    const random = randomOf(seed + 17)
    const before = requests.length
    for (let i = 0; i < runs; i++) {
      const { answer: orders, name } = mutated(rows, random)
      if (Array.isArray(orders) && orders.every((row, at) => isSpelling(row, rows[at]!))) continue
      const waiting = { kind: 'payout', payoutId: 'payout-1', orders, expected } as const
      await expect(signPayout(waiting, expected, signer), name).rejects.toThrow(SigningError)
      await expect(signApproval(waiting, signer), name).rejects.toThrow(SigningError)
    }
    for (const orders of [
      rows.slice(1),
      rows.slice(0, 2),
      [...rows, rows[0]],
      rows.toReversed(),
      [],
      [rows[0], rows[0], rows[2]],
    ])
      await expect(signPayout({ payoutId: 'payout-1', orders }, expected, signer)).rejects.toThrow(SigningError)
    expect(requests).toHaveLength(before)
  })

  it('is a request whose whole document was shown', async () => {
    const boundPayload = { requestId: 'r-1', vaultId: 'vault-1', action: 'x', steps: [{ amount: '1' }] }
    const { signer, requests } = signerOf('ben')
    const expected = { authority: null, document: canonicalJson(boundPayload) }
    await signApproval({ kind: 'approval_request', boundPayload, expected }, signer)
    expect(requests[0]!.vote).toMatchObject({ subject: 'approval_request', hash: await hashOf(boundPayload) })
    const random = randomOf(seed + 19)
    for (let i = 0; i < runs; i++) {
      const { answer, name } = mutated(boundPayload, random)
      const work = signApproval({ kind: 'approval_request', boundPayload: answer, expected }, signer)
      await expect(work, name).rejects.toThrow()
    }
    expect(requests).toHaveLength(1)
  })

  const rulesChange = (payload: object) => ({
    ...{ requestId: 'r-1', vaultId: 'vault-1', initiatorId: 'ada', action: 'rules_change' },
    steps: [{ step: { action: 'rules_change', targetId: 'set', payload }, targetId: 'set', facts: {} }],
  })
  it.each([
    ['no hash', {}],
    ['an empty hash', { differencesHash: '' }],
    ['null', { differencesHash: null }],
    ['a hash that is a list', { differencesHash: ['ab'.repeat(32)] }],
  ])('of changes of the rules that bind no differences (%s) is a rejection, never an approval', async (_name, part) => {
    const boundPayload = rulesChange({ title: 'Night', changes: [], direction: 'loosening', baseVersion: 1, ...part })
    const { signer, requests } = signerOf('ben')
    const waiting = {
      ...({ kind: 'approval_request', boundPayload } as const),
      expected: { authority: null, document: canonicalJson(boundPayload) },
    }
    await expect(signApproval(waiting, signer)).rejects.toThrow(/differencesHash.*can only be rejected/)
    expect(requests).toEqual([])
    const { vote } = await signApproval(waiting, signer, 'reject')
    expect(vote).toMatchObject({ decision: 'reject', hash: await hashOf(boundPayload) })
  })

  it('of changes of the rules is an approval where their differences are bound', async () => {
    const boundPayload = rulesChange({ title: 'Night', changes: [], differencesHash: 'ab'.repeat(32) })
    const { signer } = signerOf('ben')
    const expected = { authority: null, document: canonicalJson(boundPayload) }
    const { vote } = await signApproval({ kind: 'approval_request', boundPayload, expected }, signer)
    expect(vote).toMatchObject({ decision: 'approve', hash: await hashOf(boundPayload) })
  })

  it('is an authority only by the function for it, and only the one that follows', async () => {
    const authority = await authorityOf()
    const next = { ...authorityDocument, version: 4, previous: authority.hash }
    const { signer, requests } = signerOf('ada')
    await signAuthority(next, { authority, document: canonicalJson(next) }, signer)
    expect(requests[0]!.vote).toMatchObject({
      subject: 'authority',
      hash: await hashOf(next),
      authority: authority.hash,
    })
    for (const part of [{ version: 5 }, { previous: 'cd'.repeat(32) }, { vaultId: 'vault-2' }]) {
      const other = { ...next, ...part }
      await expect(signAuthority(other, { authority, document: canonicalJson(other) }, signer)).rejects.toThrow(
        SigningError,
      )
    }
    const shown = canonicalJson(next)
    await expect(
      signAuthority({ ...next, delayHours: 0 } as typeof next, { authority, document: shown }, signer),
    ).rejects.toThrow('not the document that was shown')
    expect(requests).toHaveLength(1)
  })
})

/** Returns true if an order differs only in capital letters of addresses, which the screen shows. */
function isSpelling(answer: unknown, order: Order): boolean {
  const lower = (value: unknown) => {
    const { fromAddress, toAddress, contractAddress, ...rest } = value as Order
    const addresses = [fromAddress, toAddress, contractAddress].map((address) => String(address).toLowerCase())
    return JSON.stringify([addresses, Object.entries(rest).sort()])
  }
  const isWritten = ({ fromAddress, toAddress }: Order) => [fromAddress, toAddress].every((text) => /^0x/.test(text))
  return typeof answer === 'object' && answer !== null && isWritten(answer as Order) && lower(answer) === lower(order)
}
