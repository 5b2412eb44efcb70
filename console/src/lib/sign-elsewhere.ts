import type { SignedVote } from '@strongroom/sdk'
import { canonicalJson, toText } from './hashes.ts'
import { t } from './language.ts'

/**
 * Has the page of the wallet service show an order and sign it, in a window of its own. What comes back counts only from that
 * window and origin, and only for the vote that was asked for.
 * @throws an error for people when the browser opens no window, or the person closes it
 */
export async function signElsewhere(page: string, order: object, vote: SignedVote['vote']): Promise<SignedVote> {
  const { decision, person } = vote
  const asked = new TextEncoder().encode(JSON.stringify({ order, decision, person }))
  // Each request has a window of its own: the page shows no second one in a window.
  const opened = window.open(`${page}/sign#${toText(asked.buffer)}`, '_blank', 'popup,width=720,height=900')
  if (opened === null) throw new Error(t('Let this page open windows, and try again.'))
  return new Promise((resolve, reject) => {
    let closedFor = 0
    const timer = setInterval(() => {
      // What it sent before it closed may still be on its way.
      if (opened.closed && ++closedFor > 1)
        end(() => reject(new Error(t('The window was closed, and nothing was signed.'))))
    }, 500)
    const take = ({ origin, source, data }: MessageEvent) => {
      if (origin !== page || source !== opened || data?.type !== 'strongroom-signed') return
      // The page has a clock of its own.
      const said = { ...data.signed?.vote, signedAt: vote.signedAt }
      if (canonicalJson(said) === canonicalJson(vote)) end(() => resolve(data.signed))
      else end(() => reject(new Error(t('What is shown is not what would be signed.'))))
    }
    const end = (settle: () => void) => {
      clearInterval(timer)
      removeEventListener('message', take)
      opened.close()
      settle()
    }
    addEventListener('message', take)
  })
}
