import type { SignedVote } from '../../sdk/src/signing/signing.ts'
import type { Asked } from './asked.ts'

/** The answer to a signature that the page brought to its own wallet service. */
export interface Brought {
  isTaken: boolean
  sentence: string
}

const waitMilliseconds = 10_000

/** A veto or cancellation stops something at the wallet service, whether or not the service that asked for it passes it on. */
export const isStop = ({ decision }: Pick<Asked, 'decision'>): boolean => decision === 'reject' || decision === 'cancel'

/** Brings a signed veto or cancellation to the wallet service of this page. */
export async function bringStop(requested: Asked, vote: SignedVote): Promise<Brought> {
  try {
    return { isTaken: true, sentence: `The wallet service has it: ${await bring(requested, vote)}.` }
  } catch (error) {
    return { isTaken: false, sentence: `The wallet service did not take it: ${(error as Error).message}.` }
  }
}

async function bring(requested: Asked, vote: SignedVote): Promise<string> {
  if (requested.kind === 'authority') {
    const { given: signatures = 0, needed = 0 } = await post('/sign/authority/cancel', requested.next.vaultId, vote)
    if (signatures >= needed) return 'the next version is cancelled'
    return `${signatures} of the ${needed} signatures that cancel the next version`
  }
  const { vaultId } = requested.kind === 'order' ? requested.order : requested.orders[0]
  await post('/sign/stop', vaultId, vote)
  return 'it signs nothing of this from now on'
}

interface Answer {
  given?: number
  needed?: number
  message?: string
  details?: unknown
}

async function post(path: string, vaultId: string, vote: SignedVote): Promise<Answer> {
  const answer = await fetch(path, {
    method: 'POST',
    body: JSON.stringify({ vaultId, vote }),
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(waitMilliseconds),
  })
  const said = (await answer.json()) as Answer
  if (!answer.ok) throw new Error(typeof said.details === 'string' ? said.details : said.message)
  return said
}
