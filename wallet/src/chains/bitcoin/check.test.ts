import { createHash } from 'node:crypto'
import { RawTx } from '@scure/btc-signer/script.js'
import { describe, expect, it } from 'vitest'
import { rootOf } from '../../keys/keyring.ts'
import { signTransaction } from '../../testing/sign-transaction.ts'
import { addressOf } from './addresses.ts'
import { assembleTransaction, buildTransaction, type Plan } from './build.ts'
import { checkTransaction, type Ordered, preimageOf } from './check.ts'
import { bitcoin, litecoin } from './parameters.ts'
import type { Coin } from './sizes.ts'

const root = await rootOf(
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
)
const key = root.derive("m/84'/0'/0'/0/0")
const stranger = root.derive("m/84'/0'/0'/0/1")
const fromAddress = addressOf(key.publicKey!, bitcoin)
const toAddress = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'
const coins: Coin[] = [
  { txHash: '11'.repeat(32), index: 1, amount: 60_000n },
  { txHash: '22'.repeat(32), index: 0, amount: 70_000n },
]
const plan = { coins, payment: { toAddress, amount: 100_000n }, change: 29_000n }
const ordered: Ordered = { fromAddress, payment: plan.payment, coins, maxFee: 1_000n, feeRateMax: 100_000n }

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
type Transaction = ReturnType<typeof RawTx.decode>

/** Signs, and changes the bytes afterwards. */
async function tamper(change: (transaction: Transaction) => unknown): Promise<string> {
  const decoded = RawTx.decode(Buffer.from((await signTransaction(key, plan, bitcoin)).raw, 'hex'))
  change(decoded)
  return Buffer.from(RawTx.encode(decoded)).toString('hex')
}

const faultOf = (raw: string, other: Partial<Ordered> = {}, parameters = bitcoin) => {
  const result = checkTransaction(raw, { ...ordered, ...other }, parameters)
  return 'fault' in result ? result.fault : null
}

describe('the digest that an input signs', () => {
  it('is that of the vector of BIP-143 for P2WPKH', () => {
    const unsigned =
      '0100000002fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f0000000000eeffffffef51e1b804cc89d182d27965' +
      '5c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9148280b37df378db99f66f85c95a783a76' +
      'ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac11000000'
    const decoded = RawTx.decode(Buffer.from(unsigned, 'hex'))
    const keyHash = Buffer.from('1d0f172a0ecb48aee1be1f2687d2963ae33f71a1', 'hex')
    const preimage = preimageOf(decoded, 1, 600_000_000n, keyHash)
    expect(sha256(sha256(preimage)).toString('hex')).toBe(
      'c37af31116d1b27caf68aae9e3ac82f1477929014d5b917657d0eb49478cb670',
    )
  })
})

describe('the check of signed bytes', () => {
  it('says recipient, amount, change and fee', async () => {
    const { raw, txHash, size } = await signTransaction(key, plan, bitcoin)
    expect(checkTransaction(raw, ordered, bitcoin)).toEqual({
      txHash,
      toAddress,
      amount: 100_000n,
      index: 0,
      change: 29_000n,
      fee: 1_000n,
      size,
    })
  })

  it('reads a transaction without change, and one that returns everything', async () => {
    const all = await signTransaction(key, { ...plan, change: 0n }, bitcoin)
    expect(checkTransaction(all.raw, { ...ordered, maxFee: null, feeRateMax: 500_000n }, bitcoin)).toMatchObject({
      change: 0n,
      fee: 30_000n,
    })
    const back = await signTransaction(key, { coins, payment: null, change: 129_500n }, bitcoin)
    expect(checkTransaction(back.raw, { ...ordered, payment: null }, bitcoin)).toMatchObject({
      toAddress: null,
      index: null,
      amount: 0n,
      change: 129_500n,
      fee: 500n,
    })
    expect(faultOf(back.raw)).toBe('it does not pay one recipient')
  })

  it('refuses what is not in the order', async () => {
    const { raw } = await signTransaction(key, plan, bitcoin)
    expect(faultOf(raw, { payment: null })).toBe('it pays somebody, and all should return')
    expect(faultOf(raw, { payment: { toAddress: '3P14159f73E4gFr7JterCCQh9QjiTjiZrG', amount: 100_000n } })).toMatch(
      'not the recipient',
    )
    expect(faultOf(raw, { payment: { toAddress, amount: 100_001n } })).toBe('it pays 100000, not the amount')
    expect(faultOf(raw, { maxFee: 999n })).toBe('its fee of 1000 is above maxFee')
    expect(faultOf(raw, { maxFee: null, feeRateMax: 1_000n })).toBe('its fee of 1000 is above feeRateMax')
    expect(faultOf(raw, { coins: [coins[1]!, coins[0]!] })).toBe('its first input is not the anchor')
    expect(faultOf(raw, { coins: [coins[0]!] })).toBe('it spends another number of outputs')
    expect(faultOf(raw, { coins: [] })).toBe('it spends another number of outputs')
    expect(faultOf(raw, { coins: [coins[0]!, coins[0]!] })).toBe('the order has an output twice')
    expect(faultOf(raw, { coins: [coins[0]!, { ...coins[1]!, index: 5 }] })).toMatch('which is not in the order')
    expect(faultOf(raw, { coins: [coins[0]!, { ...coins[1]!, amount: 70_001n }] })).toBe(
      'input 1 is not signed by the sender',
    )
    expect(faultOf(raw, { fromAddress: toAddress })).toBe('the sender is not a P2WPKH address')
    expect(faultOf(raw, { fromAddress: addressOf(stranger.publicKey!, bitcoin) })).toBe(
      'input 0 is not signed by the sender',
    )
    expect(faultOf(raw, {}, litecoin)).toBe('the sender is not an address of the network')
  })

  it('refuses bytes of another signer, and other bytes', async () => {
    const other = await signTransaction(stranger, plan, bitcoin)
    expect(faultOf(other.raw)).toBe('input 0 is not signed by the sender')
    expect(faultOf('')).toBe('the bytes are not a transaction')
    expect(faultOf('00'.repeat(60))).toBe('the bytes are not a transaction')
    const { raw } = await signTransaction(key, plan, bitcoin)
    expect(faultOf(`${raw}00`)).toBe('the bytes are not a transaction')
    expect(faultOf(raw.toUpperCase())).toBe('the bytes are not a transaction')
  })

  it('refuses a second payment, a second change and a payment that exceeds what is spent', async () => {
    const unsigned = buildTransaction({ ...plan, publicKey: key.publicKey! }, bitcoin)
    const script = unsigned.transaction.getOutput(1).script!
    const variants: [Plan['payment'], bigint, (transaction: Transaction) => void, string][] = [
      [plan.payment, 29_000n, ({ outputs }) => outputs.push({ ...outputs[0]!, amount: 1n }), 'one recipient'],
      [plan.payment, 29_000n, ({ outputs }) => outputs.push({ script, amount: 294n }), 'change in two outputs'],
      [plan.payment, 40_000n, () => undefined, 'pays more than it spends'],
    ]
    for (const [payment, change, alter, fault] of variants) {
      const signed = await signAltered({ coins, payment, change }, alter)
      expect(faultOf(signed)).toMatch(fault)
    }
  })

  it.each<[string, (transaction: Transaction) => unknown]>([
    ['another amount', ({ outputs }) => (outputs[0]!.amount += 1n)],
    ['another change', ({ outputs }) => (outputs[1]!.amount -= 1n)],
    ['no change', ({ outputs }) => outputs.pop()],
    ['another order of the outputs', ({ outputs }) => outputs.reverse()],
    ['another sequence', ({ inputs }) => (inputs[1]!.sequence = 5)],
    ['a script in an input', ({ inputs }) => (inputs[0]!.finalScriptSig = Uint8Array.from([0x51]))],
    ['another version', (transaction) => (transaction.version = 1)],
    ['a lock', (transaction) => (transaction.lockTime = 900_000)],
    ['an input twice', ({ inputs }) => (inputs[1] = inputs[0]!)],
    ['a signature of a part', ({ witnesses }) => (witnesses![0]![0]![witnesses![0]![0]!.length - 1] = 0x81)],
    ['a signature of nothing', ({ witnesses }) => (witnesses![0]![0]![witnesses![0]![0]!.length - 1] = 0x02)],
    ['no signature', ({ witnesses }) => (witnesses![1] = [])],
    ['more than a signature and a key', ({ witnesses }) => witnesses![1]!.push(Uint8Array.from([1]))],
    ['another key', ({ witnesses }) => (witnesses![1]![1] = stranger.publicKey!)],
    ['a signature that is cut', ({ witnesses }) => (witnesses![1]![0] = witnesses![1]![0]!.slice(0, 20))],
  ])('refuses bytes that were changed after signing: %s', async (_change, change) => {
    expect(faultOf(await tamper(change))).not.toBeNull()
  })
})

describe('building', () => {
  it('permits a replacement where nodes replace', () => {
    const sequences = [bitcoin, litecoin].map((parameters) => {
      const { transaction } = buildTransaction(
        { publicKey: key.publicKey!, coins, payment: null, change: 129_000n },
        parameters,
      )
      return transaction.getInput(0).sequence
    })
    expect(sequences).toEqual([0xfffffffd, 0xfffffffe])
  })

  it('writes the lower of the two values of s, which nodes relay', async () => {
    const unsigned = buildTransaction({ ...plan, publicKey: key.publicKey! }, bitcoin)
    const { raw } = await signTransaction(key, plan, bitcoin)
    const low = RawTx.decode(Buffer.from(raw, 'hex')).witnesses!.map(([signature]) => compactOf(signature!))
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const high = low.map((signature) => {
      const s = order - BigInt(`0x${signature.subarray(32).toString('hex')}`)
      return Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
    })
    expect(assembleTransaction(unsigned, high).raw).toBe(raw)
  })

  it('refuses a recipient of another network and a missing signature', () => {
    const payment = { toAddress: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', amount: 1_000n }
    expect(() => buildTransaction({ ...plan, payment, publicKey: key.publicKey! }, bitcoin)).toThrow('not an address')
    const unsigned = buildTransaction({ ...plan, publicKey: key.publicKey! }, bitcoin)
    expect(() => assembleTransaction(unsigned, [Buffer.alloc(64, 1)])).toThrow('no signature')
    expect(() => assembleTransaction(unsigned, [Buffer.alloc(64, 1), Buffer.alloc(63, 1)])).toThrow('64 bytes')
  })
})

/** Signs bytes that the builder would not build. */
async function signAltered(
  altered: Pick<Plan, 'coins' | 'payment' | 'change'>,
  alter: (transaction: Transaction) => void,
): Promise<string> {
  const decoded = RawTx.decode(Buffer.from((await signTransaction(key, altered, bitcoin)).raw, 'hex'))
  alter(decoded)
  const keyHash = createHash('ripemd160').update(sha256(key.publicKey!)).digest()
  decoded.witnesses = coins.map(({ amount }, at) => {
    const digest = sha256(sha256(preimageOf(decoded, at, amount, keyHash)))
    const { r, s } = derParts(Buffer.from(key.sign(digest)))
    return [Buffer.concat([derFrom(r, s), Buffer.from([1])]), key.publicKey!]
  })
  return Buffer.from(RawTx.encode(decoded)).toString('hex')
}

const derParts = (compact: Buffer) => ({ r: compact.subarray(0, 32), s: compact.subarray(32) })

function derFrom(...numbers: Buffer[]): Buffer {
  const body = Buffer.concat(
    numbers.map((number) => {
      const trimmed = number.subarray(number.findIndex((byte) => byte !== 0))
      const positive = trimmed[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed
      return Buffer.concat([Buffer.from([2, positive.length]), positive])
    }),
  )
  return Buffer.concat([Buffer.from([0x30, body.length]), body])
}

/** The r and s of a DER signature with its last byte, 32 bytes each. */
function compactOf(signature: Uint8Array): Buffer {
  const bytes = Buffer.from(signature)
  const lengthOfR = bytes[3]!
  const r = bytes.subarray(4, 4 + lengthOfR)
  const s = bytes.subarray(6 + lengthOfR, -1)
  return Buffer.concat([r, s].map((part) => Buffer.from(part.toString('hex').slice(-64).padStart(64, '0'), 'hex')))
}
