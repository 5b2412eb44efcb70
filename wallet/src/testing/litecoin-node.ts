import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  descriptorOf,
  type LitecoinNode as LocalNode,
  litecoinProgram,
  startLitecoinNode as startLocalNode,
} from '../chains/bitcoin/litecoin-node.ts'

export { litecoinProgram }

export type LitecoinNode = LocalNode & {
  /** Mines one block with exactly these transactions, in this order. */
  mineOnly(script: Uint8Array, transactions: string[]): Promise<string>
}

/** Starts a node on a chain that is new, with the rules of the network. */
export async function startLitecoinNode(rules: 'bitcoin' | 'litecoin'): Promise<LitecoinNode> {
  const directory = await mkdtemp(join(tmpdir(), 'litecoin-node-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    const password = randomBytes(16).toString('hex')
    const node = startLocalNode({ directory, rules, port: await freePort(), password })
    const stop = () => node.stop().finally(remove)
    await node.ready().catch(async (error: unknown) => {
      await stop()
      throw error
    })
    return {
      ...node,
      stop,
      async mineOnly(script, transactions) {
        const { hash } = (await node.rpc.call('generateblock', [descriptorOf(script), transactions])) as {
          hash: string
        }
        return hash
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}
