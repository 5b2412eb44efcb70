import { OutScript, Transaction } from '@scure/btc-signer'
import { readAddress, scriptOf } from './addresses.ts'
import type { UtxoParameters } from './parameters.ts'
import type { Coin } from './sizes.ts'

/** A transaction to sign. `payment` is null if all returns to the sender: a cancellation, or a child that pays for its parent. */
export type Plan = {
  /** The compressed public key of the sender. */
  publicKey: Uint8Array
  /** Outputs of the sender. The first is the anchor. */
  coins: Coin[]
  payment: { toAddress: string; amount: bigint } | null
  /** Amount that returns to the sender; 0 without change. */
  change: bigint
}

/** `digests`: the hashes that the key of the sender signs, one for each input. */
export type Unsigned = { transaction: Transaction; digests: Uint8Array[]; publicKey: Uint8Array }

export type Signed = { raw: string; txHash: string; size: number }

/** Builds the transaction of a plan: the payment is the first output, the change the last. Pure. */
export function buildTransaction({ publicKey, coins, payment, change }: Plan, parameters: UtxoParameters): Unsigned {
  const script = scriptOf(publicKey)
  const transaction = new Transaction({ version: 2, lockTime: 0 })
  for (const { txHash, index, amount } of coins) {
    transaction.addInput({ txid: txHash, index, sequence: sequenceOf(parameters), witnessUtxo: { script, amount } })
  }
  if (payment !== null) {
    const recipient = readAddress(payment.toAddress, parameters)
    if (recipient === null) throw new Error('the recipient is not an address of the network')
    transaction.addOutput({ script: recipient.script, amount: payment.amount })
  }
  if (change > 0n) transaction.addOutput({ script, amount: change })
  const decoded = OutScript.decode(script)
  if (decoded.type !== 'wpkh') throw new Error('the sender has another script')
  const scriptCode = OutScript.encode({ type: 'pkh', hash: decoded.hash })
  const digests = coins.map(({ amount }, at) => transaction.preimageWitnessV0(at, scriptCode, signsAll, amount))
  return { transaction, digests, publicKey }
}

/** Joins the signatures, each of 64 bytes (r and s), to the transaction. Pure. */
export function assembleTransaction({ transaction, publicKey }: Unsigned, signatures: Uint8Array[]): Signed {
  if (signatures.length !== transaction.inputsLength) throw new Error('an input has no signature')
  signatures.forEach((signature, at) => {
    const witness = [Buffer.concat([derOf(signature), Buffer.from([signsAll])]), publicKey]
    transaction.updateInput(at, { finalScriptWitness: witness })
  })
  return { raw: transaction.hex, txHash: transaction.id, size: transaction.vsize }
}

/** The signature covers all inputs and all outputs. */
const signsAll = 0x01

/** A sequence below the last two permits a replacement (BIP-125). */
const sequenceOf = ({ replacement }: UtxoParameters) => (replacement === 'fee' ? 0xfffffffd : 0xfffffffe)

/** Returns the DER form of a signature, with the lower of the two values of s: nodes relay no other. */
function derOf(signature: Uint8Array): Buffer {
  if (signature.length !== 64) throw new Error('a signature has 64 bytes')
  const hex = Buffer.from(signature).toString('hex')
  const s = BigInt(`0x${hex.slice(64)}`)
  const lowS = s > groupOrder / 2n ? groupOrder - s : s
  const body = Buffer.concat([integerOf(BigInt(`0x${hex.slice(0, 64)}`)), integerOf(lowS)])
  return Buffer.concat([Buffer.from([0x30, body.length]), body])
}

function integerOf(value: bigint): Buffer {
  const digits = value.toString(16)
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
  const positive = bytes[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
  return Buffer.concat([Buffer.from([0x02, positive.length]), positive])
}

/** The order of secp256k1. */
const groupOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
