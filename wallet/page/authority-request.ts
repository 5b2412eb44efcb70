import { hashOf } from '../../sdk/src/signing/signing.ts'
import type { AskedAuthority } from './asked.ts'
import { askAuthority, type FullAuthority, type InForce } from './authority.ts'
import { differenceOf } from './difference.ts'
import { element, fact, grouped, paragraph, warning } from './elements.ts'
import type { Request } from './request.ts'

/** The next authority of a vault, or the end of one that waits. */
export async function authorityRequest({ next, decision, authority: hash }: AskedAuthority): Promise<Request> {
  const said = await askAuthority(next.vaultId, hash, next)
  const isEnd = decision === 'reject'
  const [title, action] = isEnd
    ? ['Cancel the next authority', 'Sign the cancellation']
    : ['Change who may sign and pay', 'Sign the next authority']
  const about = { title, action, subject: 'authority', document: next, unlisted: [] as Request['unlisted'] } as const
  if ('fault' in said) return { ...about, parts: [], obstacle: said.fault }
  const document = next as unknown as FullAuthority
  const fingerprint = await hashOf(document)
  return {
    ...about,
    parts: [factsOf(document, said), await sentencesOf(document, said)],
    obstacle: obstacleOf(document, said, isEnd ? fingerprint : null),
  }
}

function factsOf({ version, vaultId }: FullAuthority, { document, pending }: InForce): HTMLElement {
  const { delayHours = 24 } = document
  const wait =
    delayHours === 0 ? 'at once: the version in force has no delay' : `${delayHours} hours after it was signed`
  return element(
    'dl',
    {},
    ...fact('Vault', vaultId),
    ...fact('Version', `${version}, after ${document.version} that is in force`, 'large'),
    ...fact('Comes into force', wait),
    ...(pending === null
      ? []
      : [...fact('Waits already', grouped(pending.hash)), element('dd', {}, `in force on ${pending.inForceAt}`)]),
  )
}

async function sentencesOf(next: FullAuthority, { document }: InForce): Promise<HTMLElement> {
  const sentences = await differenceOf(document, next)
  const items = sentences.map((textContent) => element('li', { textContent }))
  const head = element('h2', { textContent: 'What changes' })
  const body = items.length === 0 ? paragraph('Nothing but its number.') : element('ul', {}, ...items)
  const danger =
    next.trustsServicePage === true
      ? [
          warning(
            'It trusts the pages of the service: whoever takes the service over shows what they like to who signs.',
          ),
        ]
      : []
  return element('section', {}, head, body, ...danger)
}

/** `end` is the hash of what would be ended. */
function obstacleOf(next: FullAuthority, { document, authority, pending }: InForce, end: string | null): string | null {
  if (next.version !== document.version + 1 || next.previous !== authority.hash)
    return 'It does not follow the version in force.'
  return end === null || pending?.hash === end ? null : 'It does not wait: there is nothing to cancel.'
}
