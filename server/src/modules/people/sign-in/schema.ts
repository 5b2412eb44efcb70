import { type Static, Type } from 'typebox'
import {
  Closed,
  described,
  Email,
  Enum,
  Id,
  Name,
  Nullable,
  Profile,
  Ref,
  Timestamp,
  Uri,
  VaultCode,
} from '../../../http/schema.ts'
import { uriLengthMax } from '../../../lib/limits.ts'
import { signInMethods } from './sessions.ts'

const tokenLengthMax = 128
const exampleToken = 'q0Vn2mXkq1u7b9S3cT8yLw4Zr6HfJdPaE5gKoNiRtYs'
const Token = Type.String({ minLength: 1, maxLength: tokenLengthMax, examples: [exampleToken] })

export const RequestMagicLink = Closed({
  email: Email,
  redirectTo: Type.Optional(
    Type.String({
      maxLength: uriLengthMax,
      description: 'The path on this origin to which the browser is redirected after signing in.',
      examples: ['/'],
    }),
  ),
  invitationToken: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: tokenLengthMax,
      description: 'Token of the invitation, for an e-mail address without an account.',
      examples: [exampleToken],
    }),
  ),
})

export const MagicLinkSent = Closed({
  status: described(
    Enum(['sent']),
    'Always `sent`, whether or not the address has an account, so that nobody can find out which addresses have one.',
  ),
})
export const MagicLinkQuery = Closed({ token: described(Token, 'Token of the mailed link.') })
export const RedeemMagicLink = Closed({ token: described(Token, 'Token of the mailed link; it is redeemed once.') })

export const SignIn = Closed(
  {
    token: Type.Optional(
      Type.String({
        description:
          'To be sent as `Authorization: Bearer`. Shown once: the answer to a repetition with the same Idempotency-Key leaves it out.',
        examples: [exampleToken],
      }),
    ),
    expiresAt: described(Timestamp, 'Instant at which the session ends, in UTC.'),
    user: Ref(Profile),
  },
  { $id: 'SignIn' },
)
export type SignIn = Static<typeof SignIn>

export const CurrentSession = Closed(
  {
    user: Ref(Profile),
    isPlatformAdmin: described(
      Type.Boolean({ examples: [false] }),
      'True if the caller administers the platform: networks, tokens, rates and vaults.',
    ),
    expiresAt: described(
      Nullable(Timestamp),
      'Instant at which the session or the service token ends, in UTC; null if it does not.',
    ),
    vaults: described(
      Type.Array(
        Closed({
          code: VaultCode,
          name: Name,
          logoUri: Nullable(Uri),
          isAdmin: described(Type.Boolean({ examples: [true] }), 'True if the caller administers the vault.'),
        }),
      ),
      'The vaults that the caller is a member of.',
    ),
  },
  { $id: 'CurrentSession' },
)
export type CurrentSession = Static<typeof CurrentSession>

export const Session = Closed(
  {
    id: Id,
    method: Nullable(
      Type.Unsafe<(typeof signInMethods)[number]>(
        Type.String({
          enum: [...signInMethods],
          description:
            '`magic_link`: mailed link or its token. `code`: mailed link plus code on another device. `operator_link`: ' +
            'link made by an operator. `invitation`: the sign-in that accepted an invitation. `passkey`: a passkey. ' +
            '`provider`: an identity provider. `break_glass`: passkey and mailed link, where a provider is enforced. null: not recorded.',
          examples: [signInMethods[0]],
        }),
      ),
    ),
    provider: described(
      Nullable(
        Closed({
          id: Id,
          name: Name,
          authenticatedAt: described(
            Nullable(Timestamp),
            'Instant at which the person signed in at the provider, in UTC; null if the provider did not state it.',
          ),
        }),
      ),
      'Identity provider that opened the session; null for the other methods.',
    ),
    userAgent: described(
      Nullable(Type.String({ examples: ['Mozilla/5.0'] })),
      '`User-Agent` of the browser or program that signed in; null if it sent none.',
    ),
    ip: described(
      Nullable(Type.String({ examples: ['203.0.113.7'] })),
      'IP address that signed in; null if it was not recorded.',
    ),
    createdAt: Timestamp,
    lastSeenAt: described(
      Timestamp,
      'Instant of a recent request of the session, in UTC; it is not updated at every request.',
    ),
    expiresAt: described(Timestamp, 'Instant at which the session ends, in UTC.'),
    current: Type.Boolean({ description: 'True for the session of this request.', examples: [true] }),
  },
  { $id: 'Session', description: 'A sign-in of a person that is not signed out.' },
)
export type Session = Static<typeof Session>

export const SignOutEverywhere = Closed({
  keepCurrent: Type.Optional(
    Type.Boolean({ description: 'True to keep the session of this request; false by default.', examples: [true] }),
  ),
})

export const SignedOutEverywhere = Closed(
  { ended: Type.Integer({ minimum: 0, description: 'Number of sessions that ended.', examples: [3] }) },
  { $id: 'SignedOutEverywhere' },
)

export const authComponents = [SignIn, CurrentSession, Session, SignedOutEverywhere]
