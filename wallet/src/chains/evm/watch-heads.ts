import type { Logger } from 'pino'
import type { Heads } from '../chain.ts'
import { describeNodeError } from '../node-error.ts'
import { isSocket, type Node } from './node.ts'

/** `onHead` is a hint: a block without a notice is found when the height is read. */
export function watchHeads(chain: Node, log: Logger, onHead: () => void): Heads {
  if (!isSocket(chain.rpcUrl)) return { follow: () => undefined, drop: async () => undefined }
  let unwatch: (() => void) | null = null
  const end = () => {
    unwatch?.()
    unwatch = null
  }
  return {
    follow() {
      // A client with a WebSocket subscribes. A client without one would poll the height.
      unwatch ??= chain.client.watchBlockNumber({
        onBlockNumber: onHead,
        onError(error) {
          if (unwatch === null) return
          log.warn({ network: chain.network, error: describeNodeError(error) }, 'the node stopped reporting new blocks')
          end()
          // A lost connection reports one error. `onHead` reads the height over a new connection, which subscribes again.
          void chain.close().then(onHead)
        },
      })
    },
    async drop() {
      end()
      await chain.close()
    },
  }
}
