import type { CallOptions, ClientOptions } from './calls.ts'
import type { InstallationResources, Transfer, VaultResources, VaultTransfersResource } from './generated/api.ts'
import { ofInstallation, ofVault } from './generated/operations.ts'
import { createCall, createResources } from './resources.ts'
import { type WaitOptions, waitForTransfer } from './wait.ts'

export type { CallOptions, ClientOptions, Outcome } from './calls.ts'
export { ConnectionError, StrongroomError, TimeoutError } from './errors.ts'
export type { FileAnswer } from './files.ts'
export type * from './generated/api.ts'
export type { Page, Pages } from './pages.ts'
export type { AnyOf, Comparison, SelectorType, TimeWindow, VelocityLimit } from './selectors.ts'
export { compare, fromRaw, toRaw } from './signing/amounts.ts'
export type { TransferStatus, WaitOptions } from './wait.ts'
export { signWebhook, verifyWebhook, WebhookError, type WebhookHeaders } from './webhooks.ts'

/** The service, as the owner of the token sees it. */
export interface Strongroom extends InstallationResources {
  /** Returns the vault of this code. Nothing is requested: the first call fails if the vault does not exist. */
  vault(code: string): VaultClient
}

export interface VaultClient extends Omit<VaultResources, 'transfers'> {
  readonly code: string
  readonly transfers: VaultTransfersResource & {
    /** Waits until a transfer has a status of `until`, or a final status. Check the status of the result. */
    wait(id: string, options?: WaitOptions): Promise<Transfer>
  }
}

/**
 * Creates a client of the API.
 *
 * const strongroom = createStrongroom({ baseUrl: 'https://vault.example.org', token })
 * const transfer = await strongroom.vault('treasury').transfers.create({ fromAddressId, toAddress, amount: '1.5' })
 */
export function createStrongroom(options: ClientOptions): Strongroom {
  const call = createCall(options)
  const installation = createResources(ofInstallation, call, {}) as InstallationResources
  const vault = (code: string): VaultClient => {
    const resources = createResources(ofVault, call, { code }) as VaultResources
    const wait = (id: string, options?: WaitOptions) => {
      const get = (signal: AbortSignal | undefined) =>
        resources.transfers.get(id, (signal === undefined ? {} : { signal }) satisfies CallOptions)
      return waitForTransfer(get, options)
    }
    return { ...resources, code, transfers: { ...resources.transfers, wait } }
  }
  return { ...installation, vault }
}
