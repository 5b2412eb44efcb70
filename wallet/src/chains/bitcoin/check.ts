import { createHash, createPublicKey, ECDH, verify } from 'node:crypto'
import { RawOldTx, RawTx } from '@scure/btc-signer/script.js'
import { addressOfScript, dustOf, readAddress } from './addresses.ts'
import type { UtxoParameters } from './parameters.ts'
import type { Coin } from './sizes.ts'

/** The effect that signed bytes must have. `payment` is null if all must return to the sender. */
export type Ordered = {
  fromAddress: string
  payment: { toAddress: string; amount: bigint } | null
  /** The outputs of the sender that the transaction must spend: all of them, and the first as its first input. */
  coins: Coin[]
  maxFee: bigint | null
  /** Units for 1,000 virtual bytes. */
  feeRateMax: bigint
}

/** The effect of signed bytes. */
export type Effect = {
  txHash: string
  toAddress: string | null
  amount: bigint
  /** Position of the output that pays; null if all returns to the sender. */
  index: number | null
  change: bigint
  fee: bigint
  size: number
}

/**
 * Reads signed bytes and says what they move, or how they differ from the order. This is written apart from the building, so
 * that the same mistake would have to be made twice: it decodes the bytes and verifies each signature with the amounts of the
 * outputs that are spent.
 */
export function checkTransaction(
  raw: string,
  ordered: Ordered,
  parameters: UtxoParameters,
): Effect | { fault: string } {
  const decoded = decode(raw)
  if (decoded === null) return { fault: 'the bytes are not a transaction' }
  const sender = readAddress(ordered.fromAddress, parameters)
  if (sender === null) return { fault: 'the sender is not an address of the network' }
  const fault = faultOfInputs(decoded, ordered, sender.script)
  if (fault !== null) return { fault }
  const outputs = readOutputs(decoded, ordered, parameters)
  if ('fault' in outputs) return outputs
  const spent = ordered.coins.reduce((sum, { amount }) => sum + amount, 0n)
  const fee = spent - outputs.amount - outputs.change
  const size = sizeOf(decoded)
  if (fee < 0n) return { fault: 'it pays more than it spends' }
  if (ordered.maxFee !== null && fee > ordered.maxFee) return { fault: `its fee of ${fee} is above maxFee` }
  // A change below dust may come on top of the rate.
  const feeMax = (ordered.feeRateMax * BigInt(size)) / 1_000n + dustOf(sender.script, parameters)
  if (fee > feeMax) return { fault: `its fee of ${fee} is above feeRateMax` }
  return { txHash: hashOf(decoded), ...outputs, fee, size }
}

type Decoded = ReturnType<typeof RawTx.decode>

function decode(raw: string): Decoded | null {
  if (!/^(?:[0-9a-f]{2})+$/.test(raw)) return null
  try {
    const bytes = Buffer.from(raw, 'hex')
    const decoded = RawTx.decode(bytes)
    // Another encoding of the same transaction would have another hash.
    return Buffer.from(RawTx.encode(decoded)).equals(bytes) ? decoded : null
  } catch {
    return null
  }
}

function faultOfInputs(decoded: Decoded, { coins }: Ordered, script: Uint8Array): string | null {
  const { inputs, witnesses = [], version, lockTime } = decoded
  if (version !== 2 || lockTime !== 0) return 'it cannot be mined at once'
  if (coins.length === 0 || inputs.length !== coins.length) return 'it spends another number of outputs'
  // Only a script of this form is signed with the digest of version 0 over a public key.
  if (script.length !== 22 || script[0] !== 0 || script[1] !== 20) return 'the sender is not a P2WPKH address'
  const wanted = new Map(coins.map((coin) => [`${coin.txHash}:${coin.index}`, coin]))
  if (wanted.size !== coins.length) return 'the order has an output twice'
  for (const [at, input] of inputs.entries()) {
    const name = `${Buffer.from(input.txid).toString('hex')}:${input.index}`
    const coin = wanted.get(name)
    if (coin === undefined) return `it spends ${name}, which is not in the order`
    if (at === 0 && coin !== coins[0]) return 'its first input is not the anchor'
    wanted.delete(name)
    if (input.finalScriptSig.length !== 0) return 'an input has a script of its own'
    if (!isSigned(decoded, at, coin.amount, script, witnesses[at] ?? []))
      return `input ${at} is not signed by the sender`
  }
  return null
}

type Outputs = Pick<Effect, 'toAddress' | 'amount' | 'index' | 'change'>

function readOutputs(
  { outputs }: Decoded,
  { fromAddress, payment }: Ordered,
  parameters: UtxoParameters,
): Outputs | { fault: string } {
  const found = outputs.map(({ amount, script }, index) => ({
    index,
    amount,
    address: addressOfScript(script, parameters),
  }))
  const returned = found.filter(({ address }) => address === fromAddress)
  const paid = found.filter(({ address }) => address !== fromAddress)
  if (returned.length > 1) return { fault: 'it returns change in two outputs' }
  const change = returned[0]?.amount ?? 0n
  if (payment === null) {
    if (paid.length > 0) return { fault: 'it pays somebody, and all should return' }
    return { toAddress: null, amount: 0n, index: null, change }
  }
  const [output, ...others] = paid
  if (output === undefined || others.length > 0) return { fault: 'it does not pay one recipient' }
  if (output.address !== payment.toAddress) return { fault: `it pays ${output.address}, not the recipient` }
  if (output.amount !== payment.amount) return { fault: `it pays ${output.amount}, not the amount` }
  return { toAddress: output.address, amount: output.amount, index: output.index, change }
}

/** Verifies an input of P2WPKH: its public key has the hash of the script, and it signed all inputs and outputs (BIP-143). */
function isSigned(decoded: Decoded, at: number, amount: bigint, script: Uint8Array, witness: Uint8Array[]): boolean {
  const [signature, publicKey] = witness
  if (witness.length !== 2 || signature === undefined || publicKey === undefined) return false
  if (publicKey.length !== 33 || signature.at(-1) !== 0x01) return false
  const keyHash = createHash('ripemd160').update(sha256(publicKey)).digest()
  if (!keyHash.equals(script.subarray(2))) return false
  try {
    const key = createPublicKey({ key: spkiOf(publicKey), format: 'der', type: 'spki' })
    return verify('sha256', sha256(preimageOf(decoded, at, amount, keyHash)), key, signature.subarray(0, -1))
  } catch {
    return false
  }
}

/** The text that a P2WPKH input signs, before the first of its two hashes (BIP-143). */
export function preimageOf(
  { version, inputs, outputs, lockTime }: Decoded,
  at: number,
  amount: bigint,
  keyHash: Buffer,
) {
  const outpointOf = ({ txid, index }: Decoded['inputs'][number]) =>
    Buffer.concat([Buffer.from(txid).reverse(), uint32(index)])
  const input = inputs[at]!
  const scriptCode = Buffer.concat([Buffer.from('1976a914', 'hex'), keyHash, Buffer.from('88ac', 'hex')])
  const paid = outputs.map(({ amount: units, script }) =>
    Buffer.concat([uint64(units), Buffer.from([script.length]), script]),
  )
  return Buffer.concat([
    uint32(version),
    sha256(sha256(Buffer.concat(inputs.map(outpointOf)))),
    sha256(sha256(Buffer.concat(inputs.map(({ sequence }) => uint32(sequence))))),
    outpointOf(input),
    scriptCode,
    uint64(amount),
    uint32(input.sequence),
    sha256(sha256(Buffer.concat(paid))),
    uint32(lockTime),
    uint32(0x01),
  ])
}

/** The size in virtual bytes: the witness counts a quarter (BIP-141). */
function sizeOf(decoded: Decoded): number {
  return Math.ceil((withoutWitness(decoded).length * 3 + RawTx.encode(decoded).length) / 4)
}

/** The hash covers everything but the witness, and is written from its last byte to its first. */
const hashOf = (decoded: Decoded) =>
  sha256(sha256(withoutWitness(decoded)))
    .reverse()
    .toString('hex')

function withoutWitness({ version, inputs, outputs, lockTime }: Decoded): Uint8Array {
  return RawOldTx.encode({ version, inputs, outputs, lockTime })
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

/** A compressed public key of secp256k1 in SPKI. */
function spkiOf(publicKey: Uint8Array): Buffer {
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer
  return Buffer.concat([spkiHeader, point])
}

const spkiHeader = Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex')
