import { bytesOf, type SignedVote, type Signer, toBase64url, type Vote } from '@strongroom/sdk/signing'
import { t } from './language.ts'

/** Signs on the page of the wallet service, which shows the order once more. */
export const signerElsewhere = (page: string, person: string): Signer => ({
  person,
  sign: (vote, order) => signElsewhere(page, order, vote),
})

/**
 * Has the page of the wallet service show an order and sign it, in a window of its own. What comes back counts only from that
 * window and origin; the signer's caller compares it with the vote that it asked for.
 * @throws an error for people when the browser opens no window, or the person closes it
 */
async function signElsewhere(page: string, order: object, { decision, person }: Vote): Promise<SignedVote> {
  const asked = toBase64url(bytesOf({ order, decision, person }))
  // Each request has a window of its own: the page shows no second one in a window.
  const opened = window.open(`${page}/sign#${asked}`, '_blank', 'popup,width=720,height=900')
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
      end(() => resolve(data.signed))
    }
    const end = (settle: () => void) => {
      clearInterval(timer)
      removeEventListener('message', take)
      settle()
    }
    addEventListener('message', take)
  })
}
