import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, optional, RawAmount, Timestamp } from '../../../http/schema.ts'
import { canonicalJson } from '../../../lib/canonical-json.ts'
import { feeLevels } from '../../../lib/fee-levels.ts'
import { sha256 } from '../../../lib/secrets.ts'

const Text = (example: string) => Type.String({ examples: [example] })

export const TransferPayload = Closed(
  {
    transferId: described(Id, 'Identifier of the transfer.'),
    vaultId: Id,
    initiatorId: Id,
    fromAddressId: described(Id, 'Identifier of the address of the vault that pays.'),
    fromAddress: Text('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    network: Text('ethereum'),
    coinType: Type.Integer({ minimum: 0, examples: [60], description: 'SLIP-44 coin type of the network.' }),
    derivationPath: Text('m/44/60/1/0'),
    toAddress: Text('0x70997970C51812dc3A010C7d01b50e0d17dc79C8'),
    tokenId: Id,
    contractAddress: Nullable(Text('0x5FbDB2315678afecb367f032d93F642f64180aa3')),
    amount: RawAmount,
    feeLevel: optional(Enum(feeLevels), 'Urgency of the transaction; absent if the order has none.'),
    maxFee: optional(
      RawAmount,
      'The most that may be paid in fees, in the smallest unit of the coin; absent: no limit.',
    ),
    rulesVersion: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Number of the version of the rules; in a protected vault.',
        examples: [7],
      }),
    ),
    expiresAt: optional(Timestamp, 'Instant after which nothing is signed, in UTC; in a protected vault.'),
  },
  {
    $id: 'TransferPayload',
    description: 'The order as it is voted on and handed over. The SHA-256 of its canonical JSON is `payloadHash`.',
  },
)

/**
 * The order as it is stored, voted on and handed over. `amount` is in the smallest unit. An optional field is present only if the order
 * has it, so that an order without it keeps its hash.
 */
export type Payload = Static<typeof TransferPayload>

/** The fields of an order that have columns. A field that the order leaves out is null. */
export type StoredPayload = Required<Omit<Payload, 'feeLevel' | 'maxFee' | 'rulesVersion' | 'expiresAt'>> &
  Record<'feeLevel' | 'maxFee', string | null>

/** Returns true if the initiator signed the order, so that votes on it are signed too (docs/signed-orders.md). */
export const isSignedOrder = ({ expiresAt }: Payload): boolean => expiresAt !== undefined

/** Returns the SHA-256 that binds votes and hand-over to the order (threat T27). */
export function hashPayload(payload: Payload): Buffer {
  return sha256(canonicalJson(payload))
}
