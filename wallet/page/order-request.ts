import { type Decision, describeOrder } from '../../sdk/src/signing/signing.ts'
import type { AskedOrder } from './asked.ts'
import { askAuthority } from './authority.ts'
import { element, fact, grouped, paragraph, warning } from './elements.ts'
import { obstacleOf } from './obstacle.ts'
import { amountOf, feeOf, tokenOf } from './quantity.ts'
import type { Request } from './request.ts'
import { sentenceOf } from './rule-sentence.ts'

const texts: Record<Decision, [title: string, action: string]> = {
  initiate: ['Order this payment', 'Sign the order'],
  approve: ['Approve this payment', 'Sign the approval'],
  reject: ['Reject this payment', 'Sign the rejection'],
  cancel: ['Cancel this payment', 'Sign the cancellation'],
}

/** A single payment. */
export async function orderRequest({ order, decision, authority: hash }: AskedOrder): Promise<Request> {
  const said = await askAuthority(order.vaultId, hash)
  const authority = 'fault' in said ? null : said.authority
  const { amount, recipient, isListed, sender, initiator, feeLimit, feeLevel } = describeOrder(order, authority)
  const rules =
    'fault' in said ? [] : rulesOf(sentenceOf(said.document, { ...amount, isListed }), isListed, said.document.version)
  const [title, action] = texts[decision]
  const facts = element(
    'dl',
    {},
    ...fact('Amount', amountOf(amount), 'large'),
    ...(amount.named === null ? [] : [element('dd', { textContent: `exactly ${amount.raw} in the smallest unit` })]),
    ...fact('Recipient', grouped(recipient), 'address'),
    ...(rules.length === 0 ? [] : [element('dd', {}, ...rules)]),
    ...fact('Sender', grouped(sender)),
    ...fact('Token', tokenOf(amount)),
    ...fact('Fee limit', feeOf(feeLimit)),
    ...(feeLevel === null ? [] : fact('Speed', feeLevel ?? '')),
    ...fact('Ordered by', initiator.email === null ? initiator.id : `${initiator.email} (${initiator.id})`),
    ...fact('Expires', `${new Date(order.expiresAt).toLocaleString()} (${order.expiresAt})`),
  )
  const unlisted = isListed ? [] : [{ recipient, which: 'The recipient is' }]
  const obstacle = 'fault' in said ? said.fault : obstacleOf(order.expiresAt, decision)
  return { title, action, subject: 'transfer', document: order, parts: [facts], unlisted, obstacle }
}

function rulesOf(sentence: string | null, isListed: boolean, version: number): Node[] {
  return [
    isListed
      ? paragraph('The recipient is on the signed address list.')
      : warning('The recipient is NOT on the signed address list: compare every character.'),
    sentence === null ? warning('No rule permits this token: the wallet service will refuse it.') : paragraph(sentence),
    paragraph(`By version ${version} of the authority.`),
  ]
}
