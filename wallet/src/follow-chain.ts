import type pg from 'pg'
import type { Logger } from 'pino'
import type { Chain, Heads } from './chains/chain.ts'
import { watchBlocks } from './deposits/watch-blocks.ts'
import { askAgainSecondsDefault } from './limits.ts'
import { Rotation } from './transfers/ask-for-transfers.ts'
import { followBlocks } from './transfers/follow-blocks.ts'

type Parts = { pool: pg.Pool; chain: Chain; heads: Heads; log: Logger; onEvents(): void; onBlock(): void }

/**
 * Returns the pass that follows a chain. It reads the height, and nothing else while the chain stands still. It searches a new block for
 * transfers and deposits. The pass returns true when another pass must follow at once. It calls `onBlock` when there may be something to
 * send: after a block, after an outage, and after it asked for transactions, which may be lost.
 */
export function followChain({ pool, chain, heads, log, onEvents, onBlock }: Parts): () => Promise<boolean> {
  const rotation = new Rotation(chain.askAgainSeconds ?? askAgainSecondsDefault)
  const parts = { pool, chain, log }
  let settledAt: bigint | null = null
  return async () => {
    const wasReachable = chain.reach.reachable
    const headBlock = await noteHead(chain, heads)
    heads.follow()
    if (!wasReachable) rotation.hurry()
    if (headBlock === settledAt) {
      const isAsked = rotation.isDue()
      const isMore = await rotation.turn(parts, headBlock)
      if (isAsked) onBlock()
      return isMore
    }
    settledAt = null
    // Transfers and deposits do not wait for each other: an unreadable receipt must not stop deposits.
    const [followed] = await Promise.allSettled([followBlocks(parts, headBlock)])
    const watched = await watchBlocks(parts, headBlock)
    if (watched.events > 0) onEvents()
    onBlock()
    if (followed.status === 'rejected') throw followed.reason
    const isBehind = followed.value || watched.moreBlocks
    if (!isBehind) settledAt = headBlock
    return isBehind
  }
}

async function noteHead(chain: Chain, heads: Heads): Promise<bigint> {
  try {
    const headBlock = await chain.readHeight()
    chain.reach = { reachable: true, headBlock }
    return headBlock
  } catch (error) {
    chain.reach = { ...chain.reach, reachable: false }
    await heads.drop()
    throw error
  }
}
