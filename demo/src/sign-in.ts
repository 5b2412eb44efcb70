import { type ClientOptions, createStrongroom, type Strongroom } from '@strongroom/sdk'

/**
 * Exchanges the token of a sign-in link for a session, as a service does. `confirm` lets a passkey sign the calls that
 * need it.
 */
export async function signIn(
  baseUrl: string,
  link: string,
  confirm?: NonNullable<ClientOptions['confirm']>,
): Promise<Strongroom> {
  const token = new URL(link).searchParams.get('token') ?? ''
  const session = await createStrongroom({ baseUrl }).auth.redeemMagicLink({ token })
  // The token is shown only once. An answer that is repeated after a lost connection lacks it.
  if (session.token === undefined) throw new Error('the session of the sign-in link got lost; request a new link')
  return createStrongroom({ baseUrl, token: session.token, ...(confirm === undefined ? {} : { confirm }) })
}
