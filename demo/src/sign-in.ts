import { type ClientOptions, createStrongroom, type Strongroom } from '@strongroom/sdk'

type Confirm = NonNullable<ClientOptions['confirm']>

/** Exchanges the token of a sign-in link for the token of a session, as a service does. */
export async function openSession(baseUrl: string, link: string): Promise<string> {
  const token = new URL(link).searchParams.get('token') ?? ''
  const session = await createStrongroom({ baseUrl }).auth.redeemMagicLink({ token })
  // The token is shown only once. An answer that is repeated after a lost connection lacks it.
  if (session.token === undefined) throw new Error('the session of the sign-in link got lost; request a new link')
  return session.token
}

/** Returns the client of a session. `confirm` lets a passkey sign the calls that need it. */
export const connect = (baseUrl: string, token: string, confirm?: Confirm): Strongroom =>
  createStrongroom({ baseUrl, token, ...(confirm === undefined ? {} : { confirm }) })

/** Signs in by a link. */
export const signIn = async (baseUrl: string, link: string, confirm?: Confirm): Promise<Strongroom> =>
  connect(baseUrl, await openSession(baseUrl, link), confirm)
