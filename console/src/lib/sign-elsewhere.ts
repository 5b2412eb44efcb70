import { bytesOf, type SignedVote, type Signer, toBase64url, type Vote } from '@strongroom/sdk/signing'
import { t } from './language.ts'

/** Signs on the page of the wallet service, which shows it once more: the order, or what is `shown` of a payout. */
export const signerElsewhere = (page: string, person: string, shown: object): Signer => ({
  person,
  sign: (vote, document) => signElsewhere(page, vote.subject === 'transfer' ? { order: document } : shown, vote),
})

/**
 * Has the page of the wallet service show something and sign it, in a window of its own. What comes back counts only from that
 * window and origin; the signer's caller compares it with the vote that it asked for.
 * @throws an error for people when the browser opens no window, or the person closes it
 */
async function signElsewhere(page: string, shown: object, { decision, person, authority }: Vote): Promise<SignedVote> {
  const fragment = await fragmentOf(bytesOf({ ...shown, decision, person, authority }))
  // Each request has a window of its own: the page shows no second one in a window.
  const opened = window.open(`${page}/sign#${fragment}`, '_blank', 'popup,width=720,height=900')
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
      opened.close()
      settle()
    }
    addEventListener('message', take)
  })
}

/** Browsers bound the length of an address: a payout may have a thousand rows. */
const plainMax = 8_192

async function fragmentOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.length <= plainMax) return toBase64url(bytes)
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return `z.${toBase64url(await new Response(packed).arrayBuffer())}`
}
