import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { createGroupCommit } from '../../../db/group-commit.ts'
import type { Deps } from '../../../deps.ts'
import { unauthorized } from '../../../lib/errors.ts'
import { eventsPerCommitMax, eventsWaitingMax } from '../../../lib/limits.ts'
import { splitList } from '../../../lib/secrets.ts'
import { isSignedBy, readSignature, type SignedWebhook } from '../../../lib/webhook-signature.ts'
import { listSealedWebhookSecrets } from '../../vaults/structure/queries.ts'
import { openSecret } from '../../vaults/wallets/wallet-settings.ts'
import type { ArrivalAnswer } from './actions.ts'

type Decided = Exclude<ArrivalAnswer, { needsVaultSecret: unknown }>

/** Returns functions that find the secret that signed a webhook. */
export function createSigners(deps: Deps) {
  const vaultsThatSigned = createSignerSearch(deps)
  const { demo, webhookSecrets } = deps.config
  return {
    /**
     * Reads the signature of a webhook. In demo mode the signature may be absent, and an unreadable signature counts as absent
     * if the installation has no secret.
     * @throws 401
     */
    read(headers: IncomingHttpHeaders, body: Buffer): SignedWebhook | null {
      if (demo && headers['webhook-signature'] === undefined) return null
      try {
        return readSignature(headers, body, deps.clock())
      } catch (error) {
        if (demo && webhookSecrets.length === 0) return null
        throw error
      }
    },

    /**
     * Returns the vaults whose own secret signed a webhook; null when the secret of the installation signed it, and for an
     * unsigned webhook in demo mode.
     *
     * @param signed null for a webhook that is accepted without a signature
     * @throws 401
     */
    async find(signed: SignedWebhook | null): Promise<string[] | null> {
      if (signed === null || isSignedBy(signed, webhookSecrets)) return null
      const vaultIds = await vaultsThatSigned(signed)
      if (vaultIds.length > 0) return vaultIds
      if (!demo || webhookSecrets.length > 0)
        throw unauthorized('invalid_webhook_signature', 'The webhook signature is not valid')
      return null
    },

    /**
     * Submits an event as signed by `signedBy`. During a rotation from one secret to the other a webhook may carry both
     * signatures, so the event is submitted again for the vault when the secret of the installation may not credit it.
     * @throws 401
     */
    async submit(
      signed: SignedWebhook | null,
      signedBy: string[] | null,
      submit: (signedBy: string[] | null) => Promise<ArrivalAnswer>,
    ): Promise<Decided> {
      const answer = await submit(signedBy)
      if (!('needsVaultSecret' in answer)) return answer
      const vaultIds = signed === null ? [] : await vaultsThatSigned(signed)
      const again = vaultIds.length === 0 ? answer : await submit(vaultIds)
      if ('needsVaultSecret' in again)
        throw unauthorized('invalid_webhook_signature', 'The vault has a webhook secret of its own')
      return again
    },
  }
}

/**
 * Finds the vaults whose own secret signed a webhook. Webhooks that arrive together share one query for the secrets, and
 * at most one such query runs at a time, so a flood of forged webhooks adds no load on the database. Nothing is cached,
 * so a revoked secret is refused from the next request on.
 */
function createSignerSearch(deps: Deps): (signed: SignedWebhook) => Promise<string[]> {
  const readings = createGroupCommit<SignedWebhook, string[]>({
    commit: async (webhooks) => {
      const vaults = (await listSealedWebhookSecrets(deps.db)).map((vault) => ({
        id: vault.id,
        secrets: openSecrets(deps, vault),
      }))
      const found: string[][] = []
      for (const signed of webhooks) {
        found.push(vaults.filter(({ secrets }) => isSignedBy(signed, secrets)).map(({ id }) => id))
        // Each vault costs a hash of the body, so other requests are served in between.
        await setImmediate()
      }
      return found
    },
    batchMax: eventsPerCommitMax,
    inFlightMax: 1,
    waitingMax: eventsWaitingMax,
  })
  return (signed) => readings.submit(signed)
}

/** Opens the secrets of a vault. A secret that cannot be decrypted signs nothing, and does not affect other vaults. */
function openSecrets(deps: Deps, vault: { id: string; wallet_service_url: string; sealed: Buffer }): string[] {
  try {
    return splitList(openSecret(deps.sealer, vault, 'wallet_webhook_secret', vault.sealed))
  } catch (error) {
    deps.log.error({ err: error, vaultId: vault.id }, 'webhook secret cannot be opened')
    return []
  }
}
