import { hashOf, type Subject } from '../../sdk/src/signing/signing.ts'
import type { Asked } from './asked.ts'
import { bringStop, isStop } from './bring.ts'
import { askConsent } from './consent.ts'
import { element, fact, grouped, main, paragraph, warning } from './elements.ts'
import { handBack } from './hand-back.ts'
import { windowEnd } from './one-request.ts'
import { signVote } from './sign-vote.ts'
import type { Unlisted } from './typed-end.ts'

/** A request as people read it. */
export interface Request {
  title: string
  action: string
  subject: Subject
  /** The document that is signed: the hash is computed from it. */
  document: object
  parts: Node[]
  unlisted: Unlisted[]
  /** The reason for which nothing can be signed, or null. */
  obstacle: string | null
}

/** Shows a request, and has exactly its document signed. */
export async function showRequest(requested: Asked, request: Request): Promise<void> {
  const { subject, document, obstacle, action } = request
  const { decision, person, authority } = requested
  const hash = await hashOf(document)
  // Nobody is paid by what is turned down, or cannot be signed.
  const paysNobody = isStop(requested) || obstacle !== null
  const consent = askConsent({
    ...{ action, obstacle },
    unlisted: paysNobody ? [] : request.unlisted,
    sign: async (note) => {
      const signed = await signVote(document, { subject, decision, person, authority })
      await handBack(signed, isStop(requested) ? await bringStop(requested, signed) : null, note)
    },
  })
  if (windowEnd.aborted) return
  main.replaceChildren(
    element('h1', { textContent: request.title }),
    paragraph('Read it here, and compare it with what you mean. Only this is signed.'),
    ...(obstacle === null ? [] : [warning(obstacle)]),
    ...request.parts,
    element(
      'dl',
      {},
      ...fact('You sign as', person),
      ...fact('Fingerprint of the document', grouped(hash)),
      ...fact('By the authority', grouped(authority)),
    ),
    everything(document),
    ...consent,
  )
}

/** Every field that is signed, as it is signed. */
function everything(document: object): HTMLElement {
  const summary = element('summary', { textContent: 'Everything that is signed' })
  return element('details', {}, summary, element('pre', { textContent: JSON.stringify(document, null, 1) }))
}
