import type { Deps } from '../../deps.ts'
import { walletProbeMilliseconds, walletProbesAtOnce, watchedVaultsMax } from '../../lib/limits.ts'
import { dispatcherOf, isWalletReachable } from '../../modules/registry/wallet-service/client.ts'

/** Whether the wallet service of a vault answers. */
export type WalletState = { vault: string; isUp: boolean }

type Asking = Pick<Deps, 'db'> & { config: Pick<Deps['config'], 'walletAllowedHosts' | 'demo'> }

/** Asks the wallet service of each vault that is not a draft, each URL once, a few at a time. */
export async function readWallets({ db, config }: Asking): Promise<WalletState[]> {
  const vaults = await db
    .selectFrom('vaults')
    .select(['code', 'wallet_service_url as url'])
    .where('locked_at', 'is not', null)
    .orderBy('code')
    .limit(watchedVaultsMax)
    .execute()
  const dispatcher = dispatcherOf(config)
  const states = new Map<string, boolean>()
  const left = [...new Set(vaults.map(({ url }) => url))]
  const askInTurn = async () => {
    for (let url = left.shift(); url !== undefined; url = left.shift()) {
      states.set(url, await isWalletReachable(url, dispatcher, AbortSignal.timeout(walletProbeMilliseconds)))
    }
  }
  await Promise.all(Array.from({ length: walletProbesAtOnce }, askInTurn))
  return vaults.map(({ code, url }) => ({ vault: code, isUp: states.get(url)! }))
}
