import type { Deps } from '../deps.ts'
import { stopBackoff } from '../lib/limits.ts'
import { WalletServiceError } from '../modules/registry/wallet-service/call.ts'
import { claimStop, type DueStop, endStop, readStop, retryStop } from '../modules/rules/signatures/stops.ts'
import { walletOfVault } from '../modules/vaults/wallets/wallet-settings.ts'
import { type Claims, runClaims } from './run-claims.ts'

const stops: Claims<DueStop> = {
  name: 'stop',
  claim: ({ db, clock }) => claimStop(db, clock()),
  run: sendStop,
  retry: ({ db }, stop, at) => retryStop(db, stop, at),
  backoff: stopBackoff,
}

/**
 * Sends signed vetoes and cancellations to wallet services, which then ignore earlier votes on the orders.
 * @returns true if all due stops are sent
 */
export function tellStops(deps: Deps, signal?: AbortSignal): Promise<boolean> {
  return runClaims(deps, stops, signal)
}

async function sendStop(deps: Deps, stop: DueStop): Promise<void> {
  const { db, log } = deps
  const wallet = await walletOfVault(deps, stop.vaultId)
  try {
    await wallet.stopOrders([await readStop(db, stop)])
  } catch (error) {
    if (!(error instanceof WalletServiceError) || !isFinal(error)) throw error
    log.warn({ err: error, ...stop }, 'the wallet service takes no such stop')
  }
  await endStop(db, stop)
}

/**
 * Returns true if another attempt is useless: the authority does not know the key, there is no authority, or the wallet service
 * does not have the operation.
 */
const isFinal = ({ kind, status }: WalletServiceError): boolean =>
  kind === 'refused' || status === 404 || status === 405 || status === 501
