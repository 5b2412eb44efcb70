import * as jose from 'jose'
import { providerReloadSeconds } from '../../../lib/limits.ts'
import type { ProviderFetch } from './provider-calls.ts'
import { ProviderError } from './provider-error.ts'

/** The accepted algorithms of signatures. All are asymmetric: a client secret cannot sign a token. */
export const signatureAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA']

export type KeySet = {
  /** Reads the keys now. @throws ProviderError */
  load(): Promise<void>
  /** Returns the verified content of a token. @throws ProviderError */
  verify(token: string, rules: Omit<jose.JWTVerifyOptions, 'algorithms'>): Promise<jose.JWTVerifyResult>
}

type LocalKeys = ReturnType<typeof jose.createLocalJWKSet>
type Loaded = { keys: LocalKeys; at: number }

/**
 * Creates the keys of a provider. If the key of a token is unknown or its signature is not valid, the keys are read again, at most
 * every five seconds, and the token is checked a second time. A failure to read the keys is remembered for five seconds, so that
 * tokens of strangers cannot make this service call the provider more often.
 */
export function createKeySet({ url, fetch, clock }: { url: string; fetch: ProviderFetch; clock: () => Date }): KeySet {
  let loaded: Loaded | null = null
  let loading: Promise<Loaded> | null = null
  let failed: { error: unknown; at: number } | null = null

  function load(): Promise<Loaded> {
    loading ??= read(url, fetch)
      .then((keys) => {
        loaded = { keys, at: clock().getTime() }
        failed = null
        return loaded
      })
      .catch((error: unknown) => {
        failed = { error, at: clock().getTime() }
        throw error
      })
      .finally(() => {
        loading = null
      })
    return loading
  }

  const isOver = (at: number) => clock().getTime() - at >= providerReloadSeconds * 1000

  /** Reads the keys for a token, unless a read failed within the last five seconds. */
  async function loadForToken(): Promise<Loaded> {
    if (failed !== null && loading === null && !isOver(failed.at)) throw failed.error
    return await load()
  }

  /** Returns newer keys than `used`, with which a check failed; null when `used` was read within the last five seconds. */
  async function newerThan(used: Loaded): Promise<Loaded | null> {
    if (loaded !== null && loaded !== used) return loaded
    return isOver(used.at) || loading !== null ? loadForToken() : null
  }

  return {
    async load() {
      await load().catch((error: unknown) => {
        throw ProviderError.of(error)
      })
    },
    async verify(token, rules) {
      const check = (keys: LocalKeys) => jose.jwtVerify(token, keys, { ...rules, algorithms: signatureAlgorithms })
      try {
        const used = loaded ?? (await loadForToken())
        return await check(used.keys).catch(async (error: unknown) => {
          const newer = mayHaveNewKey(error) ? await newerThan(used) : null
          if (newer === null) throw error
          return check(newer.keys)
        })
      } catch (error) {
        throw ProviderError.of(error)
      }
    },
  }
}

const mayHaveNewKey = (error: unknown): boolean =>
  error instanceof jose.errors.JWKSNoMatchingKey || error instanceof jose.errors.JWSSignatureVerificationFailed

async function read(url: string, fetch: ProviderFetch): Promise<LocalKeys> {
  const answer = await fetch(url, { headers: { accept: 'application/json' } })
  if (answer.status !== 200) throw new ProviderError('keys_unavailable')
  return jose.createLocalJWKSet((await answer.json()) as jose.JSONWebKeySet)
}
