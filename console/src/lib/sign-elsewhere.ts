import { bytesOf, type SignedVote, type Signer, toBase64url, type Vote } from '@strongroom/sdk/signing'
import { t } from './language.ts'

/**
 * Signs on the page of the wallet service, which shows the document once more: the order, or the part of a payout in
 * `shown`.
 */
export const signerElsewhere = (page: string, person: string, shown: object): Signer => ({
  person,
  sign: (vote, document) => signElsewhere(page, vote.subject === 'transfer' ? { order: document } : shown, vote),
})

/**
 * Opens the page of the wallet service in a separate window, which shows the document and signs it. Only an answer of
 * that window and origin counts. The caller compares the answer with the vote that it requested.
 * @throws an error with a message for people if the browser opens no window, or the person closes it
 */
async function signElsewhere(page: string, shown: object, { decision, person, authority }: Vote): Promise<SignedVote> {
  const fragment = await fragmentOf(bytesOf({ ...shown, decision, person, authority }))
  // Each request opens a new window, because the page shows only one document per window.
  const opened = window.open(`${page}/sign#${fragment}`, '_blank', 'popup,width=720,height=900')
  if (opened === null) throw new Error(t('Let this page open windows, and try again.'))
  return new Promise((resolve, reject) => {
    let closedFor = 0
    const timer = setInterval(() => {
      // A message that the page sent before the window closed may still be on its way.
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

/** Browsers limit the length of a URL, and a payout may have a thousand rows. */
const plainMax = 8_192

async function fragmentOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.length <= plainMax) return toBase64url(bytes)
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return `z.${toBase64url(await new Response(packed).arrayBuffer())}`
}
