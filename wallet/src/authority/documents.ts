import Type, { type Static } from 'typebox'
import { networkNameLengthMax, pathIndexMax, pathLengthMax, tokenDecimalsMax, transferIdLengthMax } from '../limits.ts'

/** The documents that people sign (docs/signed-orders.md). One schema reads, types and publishes each. */

const strict = { additionalProperties: false }

const Id = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,128}$',
  description: 'Id of the service.',
  examples: ['cmf0000000000000000000001'],
})
const KeyId = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,1400}$',
  description: 'Credential id of a passkey, or the name of a service’s key.',
  examples: ['dGhlIGZpcnN0IGtleQ'],
})
const Network = Type.String({
  pattern: `^[a-z0-9][a-z0-9-]{0,${networkNameLengthMax - 1}}$`,
  description: 'Slug of the network.',
  examples: ['ethereum'],
})
const Address = Type.String({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'Address in EIP-55 form.',
  examples: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
})
const ContractAddress = Type.Union([Address, Type.Null()], {
  description: 'Contract of the token, or null for the coin of the network.',
})
const Amount = Type.String({
  pattern: '^(0|[1-9][0-9]{0,77})$',
  description: 'Amount in the smallest unit, as digits.',
  examples: ['1500000'],
})
const PositiveAmount = Type.String({ ...Amount, pattern: '^[1-9][0-9]{0,77}$' })
const Hash = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of the canonical form of a document.',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
})
const Time = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$' })
const RulesVersion = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Base64url = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,4096}$',
  description: 'Base64url without padding.',
  examples: ['MCowBQYDK2VwAyEA'],
})

export const Order = Type.Object(
  {
    transferId: Type.String({ pattern: `^[A-Za-z0-9._:-]{1,${transferIdLengthMax}}$` }),
    vaultId: Id,
    initiatorId: Id,
    fromAddressId: Id,
    fromAddress: Address,
    network: Network,
    coinType: Type.Integer({ minimum: 0, maximum: pathIndexMax }),
    derivationPath: Type.String({ pattern: '^m(/[0-9]+)+$', maxLength: pathLengthMax }),
    toAddress: Address,
    tokenId: Id,
    contractAddress: ContractAddress,
    amount: PositiveAmount,
    feeLevel: Type.Optional(Type.Union([Type.Literal('low'), Type.Literal('medium'), Type.Literal('high')])),
    maxFee: Type.Optional(PositiveAmount),
    rulesVersion: RulesVersion,
    expiresAt: Time,
  },
  strict,
)
export type Order = Static<typeof Order>

const signature = {
  keyId: KeyId,
  signature: Base64url,
  authenticatorData: Type.Optional(Base64url),
  clientDataJSON: Type.Optional(Base64url),
}

export const SignedVote = Type.Object(
  {
    vote: Type.Object(
      {
        format: Type.Literal('strongroom-vote-2'),
        subject: Type.Union([
          Type.Literal('transfer'),
          Type.Literal('payout'),
          Type.Literal('approval_request'),
          Type.Literal('authority'),
        ]),
        hash: Hash,
        decision: Type.Union([
          Type.Literal('initiate'),
          Type.Literal('approve'),
          Type.Literal('reject'),
          Type.Literal('cancel'),
        ]),
        person: Id,
        authority: Type.Union([Hash, Type.Null()], {
          description:
            'Hash of the authority in force, whose symbols and decimals the signer was shown, or null when there was none.',
        }),
        signedAt: Time,
      },
      strict,
    ),
    ...signature,
  },
  strict,
)
export type SignedVote = Static<typeof SignedVote>
type Vote = SignedVote['vote']

/** A vote as it was signed before format 2: it counts in the past of an authority only. */
const SignedVote1 = Type.Object(
  {
    vote: Type.Object(
      {
        format: Type.Literal('strongroom-vote-1'),
        subject: Type.Literal('authority'),
        hash: Hash,
        decision: Type.Union([Type.Literal('initiate'), Type.Literal('approve'), Type.Literal('reject')]),
        person: Id,
      },
      strict,
    ),
    ...signature,
  },
  strict,
)
type SignedVote1 = Static<typeof SignedVote1>
export type AnySignedVote = SignedVote | SignedVote1
export type Decision = Vote['decision']
export type Subject = Vote['subject']

/** A limit above the votes of any rule. It bounds the computation for a request. */
const votesMax = 50
export const SignedVotes = Type.Array(SignedVote, { maxItems: votesMax })
export const SignedVotes1 = Type.Array(SignedVote1, { maxItems: votesMax })

/** The highest number of rows of a payout, and of levels of the tree over that many rows. */
const rowsMax = 1_000
const levelsMax = 10

/** Orders that are signed together: the sum of each token, and the root of the tree over the orders. */
export const Payout = Type.Object(
  {
    format: Type.Literal('strongroom-payout-1'),
    payoutId: Id,
    vaultId: Id,
    initiatorId: Id,
    rulesVersion: RulesVersion,
    expiresAt: Time,
    sums: Type.Array(
      Type.Object(
        {
          network: Network,
          contractAddress: ContractAddress,
          amount: PositiveAmount,
          rowsCount: Type.Integer({ minimum: 1, maximum: rowsMax }),
          root: Hash,
        },
        strict,
      ),
      { minItems: 1, maxItems: 50 },
    ),
  },
  strict,
)
export type Payout = Static<typeof Payout>

/** The place of an order in a payout, and the hashes that lead from there to the root. */
const Placed = Type.Object(
  {
    payout: Payout,
    position: Type.Integer({ minimum: 0, maximum: rowsMax - 1 }),
    path: Type.Array(Type.Object({ hash: Hash, amount: PositiveAmount }, strict), { maxItems: levelsMax }),
  },
  strict,
)
export type Placed = Static<typeof Placed>

export const Authorization = Type.Object(
  {
    order: Order,
    authorityVersion: Type.Integer({ minimum: 1 }),
    votes: SignedVotes,
    batch: Type.Optional(Placed),
  },
  strict,
)
export type Authorization = Static<typeof Authorization>

const VoteCount = Type.Integer({ minimum: 1, maximum: 50, description: 'Signed votes of different persons.' })
const keyParts = {
  id: KeyId,
  person: Id,
  name: Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f]{1,100}$', description: 'Name of the key.' }),
  publicKey: Type.String({
    pattern: '^[A-Za-z0-9_-]{59,122}$',
    description: 'SPKI in DER of a P-256 or Ed25519 key, in base64url.',
  }),
}

const keys = Type.Array(
  Type.Union([
    Type.Object(
      {
        ...keyParts,
        kind: Type.Literal('passkey'),
        rpId: Type.String({ pattern: '^[a-z0-9.-]{1,253}$', description: 'RP ID that the passkey was made for.' }),
        origins: Type.Array(Type.String({ pattern: '^[a-z][a-z0-9+.-]*:[!-~]{1,500}$' }), {
          minItems: 1,
          maxItems: 10,
          description: 'Origins of the pages that may ask for a signature.',
        }),
      },
      strict,
    ),
    Type.Object({ ...keyParts, kind: Type.Literal('service') }, strict),
  ]),
  { minItems: 1, maxItems: 200 },
)

const ruleParts = {
  network: Network,
  contractAddress: ContractAddress,
  initiators: Id,
  perDay: Type.Union([Amount, Type.Null()], { description: 'Maximum amount within 24 hours, or null for no limit.' }),
  floors: Type.Array(
    Type.Object(
      {
        above: Amount,
        to: Type.Union([Type.Literal('any'), Type.Literal('unlisted')]),
        group: Id,
        votes: VoteCount,
      },
      strict,
    ),
    { maxItems: 20 },
  ),
}
const rulesOptions = { maxItems: 200, description: 'One rule for each token that may leave the vault.' }

const authorityParts = {
  vaultId: Id,
  version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  previous: Type.Union([Hash, Type.Null()], { description: 'Hash of the version before; null for version 1.' }),
  keys,
  groups: Type.Array(Type.Object({ id: Id, persons: Type.Array(Id, { maxItems: 200 }) }, strict), {
    minItems: 1,
    maxItems: 50,
  }),
  addresses: Type.Array(Type.Object({ network: Network, address: Address }, strict), {
    maxItems: 1_000,
    description: 'The signed address book.',
  }),
  change: Type.Object({ group: Id, votes: VoteCount }, { ...strict, description: 'Signers of the next version.' }),
}

const Email = Type.String({
  pattern: "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\\.[A-Za-z0-9-]{1,63}){0,9}$",
  maxLength: 254,
  examples: ['anna@example.org'],
})
/** 30 days. */
const delayHoursMax = 720

export const Authority = Type.Object(
  {
    format: Type.Literal('strongroom-authority-2'),
    ...authorityParts,
    trustsServicePage: Type.Boolean({
      description: 'Permits passkeys of pages other than the page of the wallet service.',
    }),
    delayHours: Type.Integer({
      minimum: 0,
      maximum: delayHoursMax,
      description: 'Hours between the signing of the next version and its coming into force.',
    }),
    contacts: Type.Array(Type.Object({ person: Id, email: Email }, strict), {
      maxItems: 200,
      description: 'People whom the wallet service notifies of a next version.',
    }),
    rules: Type.Array(
      Type.Object(
        {
          ...ruleParts,
          symbol: Type.String({ pattern: '^[!-~]{1,20}$', description: 'Name of the token.' }),
          decimals: Type.Integer({ minimum: 0, maximum: tokenDecimalsMax }),
        },
        strict,
      ),
      rulesOptions,
    ),
  },
  { ...strict, title: 'Authority' },
)
export type Authority = Static<typeof Authority>
export type AuthorityKey = Authority['keys'][number]

/** An authority as it was written before format 2. If it is in force, it stays in force; only an authority of format 2 may follow it. */
export const Authority1 = Type.Object(
  {
    format: Type.Literal('strongroom-authority-1'),
    ...authorityParts,
    rules: Type.Array(Type.Object(ruleParts, strict), rulesOptions),
  },
  { ...strict, title: 'Authority of format 1' },
)
export type Authority1 = Static<typeof Authority1>
export type AnyAuthority = Authority | Authority1
