export { bytesOf, canonicalJson, digestOf, hashOf, toBase64url } from './canonical.ts'
export { type Ceremony, challengeOf, rpIdOf } from './challenge.ts'
export { SigningError } from './signing-error.ts'
