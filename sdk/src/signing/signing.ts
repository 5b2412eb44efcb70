/** The one module that shows and signs orders, payouts, requests and authorities, so that people sign what they read. */
export { compare, fromRaw, toRaw } from './amounts.ts'
export { bytesOf, canonicalJson, digestOf, hashOf, toBase64url } from './canonical.ts'
export { type ChallengeTerms, challengeOf, rpIdOf } from './challenge.ts'
export { type ClientData, readClientData } from './client-data.ts'
export {
  describeOrder,
  describePayout,
  type Initiator,
  type OrderDescription,
  type PayoutDescription,
  type Quantity,
  type Terms,
  termsOf,
  textOf,
} from './describe.ts'
export {
  type Authority,
  type AuthorityDocument,
  type Decision,
  type Order,
  readAuthority,
  readOrder,
  type SignedVote,
  type Subject,
  type Vote,
} from './documents.ts'
export { type ExpectedOrder, expectedOf, orderOf } from './expected.ts'
export { isAtPlace, type PaidOrder, type Payout, type Place, payoutOf } from './payout.ts'
export {
  type Expected,
  type ExpectedAuthority,
  type ExpectedPayout,
  type ExpectedRequest,
  signApproval,
  signAuthority,
  signOrder,
  signPayout,
  type Waiting,
} from './sign.ts'
export { type Assertion, passkeySigner, type ServiceSigningKey, type Signer, serviceSigner } from './signers.ts'
export { SigningError } from './signing-error.ts'
