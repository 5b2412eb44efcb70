import * as oidc from 'openid-client'
import type { Deps } from '../../../deps.ts'
import { providerClockSeconds, providerMetadataMinutes, providerReloadSeconds } from '../../../lib/limits.ts'
import { sha256 } from '../../../lib/secrets.ts'
import { openClientSecret } from './client-secret.ts'
import { createKeySet, type KeySet, signatureAlgorithms } from './key-set.ts'
import { providerFetch } from './provider-calls.ts'
import { ProviderError } from './provider-error.ts'
import type { ProviderRow } from './queries.ts'

/** This service as a client of a provider, with the metadata and keys of the provider. */
type RelyingParty = { client: oidc.Configuration; keys: KeySet }

type Known = { settings: string; readAt: number; hasFailed: boolean; party: Promise<RelyingParty> }
const known = new Map<string, Known>()

/**
 * Returns the client of a provider. The metadata of the provider are read again after ten minutes, after a failure, and when its
 * settings changed. A failure is remembered for five seconds, so that visitors cannot make this service call the provider more often.
 * @throws ProviderError when the provider does not answer or its answer is not valid
 */
export async function relyingPartyOf(
  deps: Pick<Deps, 'config' | 'clock' | 'sealer'>,
  provider: ProviderRow,
): Promise<RelyingParty> {
  const settings = settingsFor(provider)
  const now = deps.clock().getTime()
  const found = known.get(provider.id)
  if (found !== undefined && found.settings === settings) {
    const lastsSeconds = found.hasFailed ? providerReloadSeconds : providerMetadataMinutes * 60
    if (now - found.readAt < lastsSeconds * 1000) return found.party
  }
  const read: Known = { settings, readAt: now, hasFailed: false, party: discover(deps, provider) }
  known.set(provider.id, read)
  return read.party.catch((error: unknown) => {
    read.hasFailed = true
    // The pause begins now, because the read may have taken longer than the pause.
    read.readAt = deps.clock().getTime()
    throw error
  })
}

/** Reads the metadata and keys of a provider now. If that fails, the earlier metadata and keys stay. @throws ProviderError */
export async function readAnew(deps: Pick<Deps, 'config' | 'clock' | 'sealer'>, provider: ProviderRow): Promise<void> {
  const readAt = deps.clock().getTime()
  const party = await discover(deps, provider)
  await party.keys.load()
  known.set(provider.id, { settings: settingsFor(provider), readAt, hasFailed: false, party: Promise.resolve(party) })
}

/** Makes the next sign-in read the metadata of a provider again, unless they were read just now. */
export function forgetRelyingParty({ clock }: Pick<Deps, 'clock'>, providerId: string): void {
  const found = known.get(providerId)
  if (found !== undefined && clock().getTime() - found.readAt >= providerReloadSeconds * 1000) known.delete(providerId)
}

const settingsFor = ({ issuer, client_id: clientId, client_secret: secret }: ProviderRow): string =>
  sha256(JSON.stringify([issuer, clientId, secret?.toString('base64') ?? null])).toString('base64url')

async function discover(deps: Pick<Deps, 'config' | 'clock' | 'sealer'>, provider: ProviderRow): Promise<RelyingParty> {
  const issuer = new URL(provider.issuer)
  const fetch = providerFetch(deps.config)
  const isPlain = issuer.protocol === 'http:'
  const secret = openClientSecret(deps.sealer, provider)
  const found = await oidc
    .discovery(issuer, provider.client_id, undefined, oidc.None(), {
      [oidc.customFetch]: fetch,
      execute: isPlain ? [oidc.allowInsecureRequests] : [],
    })
    .catch((error: unknown) => {
      throw ProviderError.of(error)
    })
  const server = found.serverMetadata()
  // The library compares the issuer too; this comparison does not depend on its switches.
  if (server.issuer !== provider.issuer) throw new ProviderError('discovery_issuer')
  assertEndpoints(server, isPlain)
  // The list of algorithms in the metadata may be ten minutes old and lack a new algorithm. The list of this service is used instead.
  const { supportsPKCE: _, ...metadata } = server
  const client = new oidc.Configuration(
    { ...metadata, id_token_signing_alg_values_supported: [...signatureAlgorithms] },
    provider.client_id,
    { [oidc.clockTolerance]: providerClockSeconds },
    clientAuthOf(server, secret),
  )
  client[oidc.customFetch] = fetch
  if (isPlain) oidc.allowInsecureRequests(client)
  return { client, keys: createKeySet({ url: server.jwks_uri!, fetch, clock: deps.clock }) }
}

/** Refuses metadata of an HTTPS provider that name an endpoint without encryption. @throws ProviderError */
function assertEndpoints(server: oidc.ServerMetadata, isPlain: boolean): void {
  for (const url of [server.authorization_endpoint, server.token_endpoint, server.jwks_uri]) {
    if (typeof url !== 'string' || !URL.canParse(url)) throw new ProviderError('discovery_endpoints')
    const { protocol } = new URL(url)
    if (protocol !== 'https:' && !(isPlain && protocol === 'http:')) throw new ProviderError('discovery_endpoints')
  }
}

function clientAuthOf(server: oidc.ServerMetadata, secret: string | null): oidc.ClientAuth {
  if (secret === null) return oidc.None()
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return methods.includes('client_secret_basic') ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret)
}
