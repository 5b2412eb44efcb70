import { type RunningWallet, startWallet, type WalletConfig } from '@strongroom/wallet'
import { serve } from './serve.ts'

export type WalletStart = { type: 'start'; config: WalletConfig }

let wallet: RunningWallet | null = null

serve(
  {
    async start({ config }: WalletStart) {
      wallet = await startWallet(config)
      return { url: wallet.url }
    },
  },
  async () => {
    await wallet?.stop()
  },
)
