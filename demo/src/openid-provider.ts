import Provider, { type Configuration, interactionPolicy, type JWK } from 'oidc-provider'

/** The addresses of Strongroom that are registered at an identity provider. */
export type Client = { redirectUri: string; logoutUri: string }

export type Account = { email?: string | undefined; emailVerified?: boolean | undefined }

type ProviderSettings = {
  issuer: string
  clientSecret: string
  client: Client
  /** The private keys. The first one signs. */
  keys: JWK[]
  cookieKey: string
  /** Returns null for an account that may not sign in. */
  findAccount(subject: string): Account | null
}

export const clientId = 'strongroom'

/**
 * Creates an identity provider that keeps its sessions in memory, with Strongroom as its only client. The caller
 * serves the sign-in page, at `/interaction/{uid}`. The demo and the tests have this provider.
 */
export function createProvider({ issuer, findAccount, ...settings }: ProviderSettings): Provider {
  return new Provider(issuer, {
    ...registrationOf(settings),
    features,
    interactions: { policy: policyOf(findAccount), url: (_context, { uid }) => `/interaction/${uid}` },
    claims: { openid: ['sub', 'sid'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    scopes: ['openid', 'email'],
    pkce: { required: () => true },
    // The dispatcher that it would use refuses addresses of this machine.
    fetch: (input, init) => {
      const { dispatcher: _, ...options } = { dispatcher: null, ...init }
      return fetch(input, options)
    },
    findAccount: (_context, subject) => {
      const account = findAccount(subject)
      if (account === null) return undefined
      const claims = { sub: subject, email: account.email, email_verified: account.emailVerified }
      return { accountId: subject, claims: () => claims }
    },
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session!.accountId! })
      grant.addOIDCScope('openid email')
      await grant.save()
      return grant
    },
  })
}

const registrationOf = ({
  clientSecret,
  client,
  keys,
  cookieKey,
}: Omit<ProviderSettings, 'issuer' | 'findAccount'>): Configuration => ({
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [client.redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code'],
      backchannel_logout_uri: client.logoutUri,
      backchannel_logout_session_required: true,
      require_auth_time: true,
      id_token_signed_response_alg: keys[0]!.alg as 'RS256',
    },
  ],
  jwks: { keys },
  cookies: { keys: [cookieKey] },
})

const features: Configuration['features'] = {
  devInteractions: { enabled: false },
  backchannelLogout: { enabled: true },
  rpInitiatedLogout: {
    enabled: true,
    logoutSource: (context, form) => {
      const button = '<button type="submit" form="op.logoutForm" value="yes" name="logout">Sign out of all</button>'
      context.body = pageOf('Sign out', form + button)
    },
    postLogoutSuccessSource: (context) => {
      context.body = pageOf('Signed out at the provider', '')
    },
  },
}

const style = 'body { font: 1rem/1.5 system-ui; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }'

/** Asks for a sign-in also if the session is of another person than Strongroom expects, or of a person who left. */
function policyOf(findAccount: ProviderSettings['findAccount']): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base()
  const other = new interactionPolicy.Check('other_person', 'Another person is expected', ({ oidc }) => {
    const { accountId } = oidc.session!
    if (accountId === undefined || oidc.result?.login !== undefined) return interactionPolicy.Check.NO_NEED_TO_PROMPT
    const account = findAccount(accountId)
    const expected = oidc.params!.login_hint ?? account?.email
    const isExpected = account !== null && account.email === expected
    return isExpected ? interactionPolicy.Check.NO_NEED_TO_PROMPT : interactionPolicy.Check.REQUEST_PROMPT
  })
  policy.get('login')!.checks.add(other)
  return policy
}

/** Returns a page of the provider. The content is HTML. */
export const pageOf = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>${title}</title>` +
  `<link rel="icon" href="data:,"><style>${style}</style><h1>${title}</h1>${content}</html>`
