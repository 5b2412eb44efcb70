import type { WalletConfig } from '../../wallet/src/config.ts'
import { startWallet } from '../../wallet/src/start-wallet.ts'

/** The reference wallet service in its own process. Its configuration comes as a message. */
process.once('message', async (config: WalletConfig) => {
  const wallet = await startWallet(config)
  process.send?.(wallet.url)
})
process.once('SIGTERM', () => process.exit(0))
process.once('disconnect', () => process.exit(0))
