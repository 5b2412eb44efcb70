import { type Static, Type } from 'typebox'
import { Closed, Email, Enum, Id, Name, Nullable, Profile, Ref, Timestamp, VaultCode } from '../../../http/schema.ts'
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
      description: 'For an e-mail address without an account: the invitation that it follows.',
      examples: [exampleToken],
    }),
  ),
})

export const MagicLinkSent = Closed({ status: Enum(['sent']) })
export const MagicLinkQuery = Closed({ token: Token })
export const RedeemMagicLink = Closed({ token: Token })

export const SignIn = Closed(
  {
    token: Type.Optional(
      Type.String({
        description:
          'To be sent as `Authorization: Bearer`. Shown once: the answer to a repetition with the same Idempotency-Key leaves it out.',
        examples: [exampleToken],
      }),
    ),
    expiresAt: Timestamp,
    user: Ref(Profile),
  },
  { $id: 'SignIn' },
)
export type SignIn = Static<typeof SignIn>

export const CurrentSession = Closed(
  {
    user: Ref(Profile),
    isPlatformAdmin: Type.Boolean({ examples: [false] }),
    expiresAt: Nullable(Timestamp),
    vaults: Type.Array(Closed({ code: VaultCode, name: Name, isAdmin: Type.Boolean({ examples: [true] }) })),
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
            'link made by an operator. `invitation`: the sign-in that accepted one. null: not recorded.',
          examples: [signInMethods[0]],
        }),
      ),
    ),
    userAgent: Nullable(Type.String({ examples: ['Mozilla/5.0'] })),
    ip: Nullable(Type.String({ examples: ['203.0.113.7'] })),
    createdAt: Timestamp,
    lastSeenAt: Timestamp,
    expiresAt: Timestamp,
    current: Type.Boolean({ description: 'Whether it is the session of this request.', examples: [true] }),
  },
  { $id: 'Session' },
)
export type Session = Static<typeof Session>

export const authComponents = [SignIn, CurrentSession, Session]
