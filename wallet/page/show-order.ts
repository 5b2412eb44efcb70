import { decimal } from './amounts.ts'
import { type Asked, type Decision, type Order, orderFields } from './asked.ts'
import { askConsent } from './consent.ts'
import { element, fact, grouped, main, paragraph, warning } from './elements.ts'
import { canonical, sha256, toHex } from './encoding.ts'
import { handBack } from './hand-back.ts'
import { windowEnd } from './one-request.ts'
import { askDescription, type Description, sentenceOf } from './said.ts'
import { signVote } from './sign-vote.ts'
import { typedEndOf } from './typed-end.ts'

const texts: Record<Decision, [title: string, action: string]> = {
  initiate: ['Order this payment', 'Sign the order'],
  approve: ['Approve this payment', 'Sign the approval'],
  reject: ['Reject this payment', 'Sign the rejection'],
}

/** Shows an order and has it signed: what is signed is computed from what is shown. */
export async function showOrder({ order, decision, person }: Asked): Promise<void> {
  const hash = toHex(await sha256(canonical(order)))
  const [title, action] = texts[decision]
  let authority: string | null = null
  const consent = askConsent(action, async () => {
    if (authority === null) return
    const about = { hash, decision, person, authority, signedAt: new Date().toISOString() }
    const signed = await signVote({ format: 'strongroom-vote-2', subject: 'transfer', ...about }, windowEnd)
    consent.close()
    handBack(signed, consent.note)
  })
  const said = element('dd', { textContent: 'The wallet service is asked which of its rules applies.' })
  const amount = element('dd', { className: 'large', textContent: order.amount })
  const fee = element('dd', { textContent: feeOf(order) })
  const facts = element(
    'dl',
    {},
    ...[element('dt', { textContent: 'Amount' }), amount],
    ...fact('Recipient', grouped(order.toAddress), 'address'),
    said,
    ...fact('Sender', grouped(order.fromAddress)),
    ...fact('Token', tokenOf(order)),
    ...[element('dt', { textContent: 'Fee limit' }), fee],
    ...fact('Expires', `${new Date(order.expiresAt).toLocaleString()} (${order.expiresAt})`),
    ...fact('Fingerprint of the order', grouped(hash)),
  )
  if (windowEnd.aborted) return
  main.replaceChildren(
    element('h1', { textContent: title }),
    paragraph('Read it here, and compare it with what you mean to pay. Only this is signed.'),
    facts,
    everything(order, { decision, person }),
    ...consent.parts,
  )
  if (Date.parse(order.expiresAt) <= Date.now()) consent.forbid('It has expired: the wallet service signs it no more.')
  const description = await askDescription(order)
  if (windowEnd.aborted) return
  showRules(order, description, { said, amount, fee })
  authority = description?.authority ?? null
  if (authority === null) consent.forbid('Nothing can be signed until the wallet service has said it.')
  const isKnown = decision === 'reject' || description?.isListed === true
  consent.demand((onInput) => (isKnown ? [] : [typedEndOf(order.toAddress, onInput)]))
}

function tokenOf({ contractAddress, network }: Order): Node | string {
  if (contractAddress === null) return `the coin of ${network}`
  return element('span', {}, `on ${network}, contract `, grouped(contractAddress))
}

function feeOf({ maxFee, network }: Order, decimals?: number): string {
  if (maxFee === undefined) return 'none was set: it may be raised to five times what is usual'
  const exact = `${maxFee} in the smallest unit of the coin of ${network}`
  return decimals === undefined ? exact : `${decimal(maxFee, decimals)} of the coin of ${network} (${exact})`
}

/** Every field that is signed, as it is signed. */
function everything(order: Order, { decision, person }: Pick<Asked, 'decision' | 'person'>): HTMLElement {
  const rows = Object.entries(order).flatMap(([name, value]) =>
    fact(orderFields[name as keyof Order][0], String(value)),
  )
  const more = [...fact('Decision', decision), ...fact('You sign as', person)]
  const summary = element('summary', { textContent: 'Everything that is signed' })
  return element('details', {}, summary, element('dl', {}, ...rows, ...more))
}

type Places = Record<'said' | 'amount' | 'fee', HTMLElement>

/** What the authority of this wallet service says about it. What it cannot say is said. */
function showRules(order: Order, description: Description | null, { said, amount, fee }: Places): void {
  if (description === null) {
    said.replaceChildren(warning('The wallet service did not say which of its rules applies to this order.'))
    return
  }
  const { isListed, rule, token, coinDecimals, version } = description
  fee.textContent = feeOf(order, coinDecimals)
  if (token !== null) {
    const unit = token.symbol ?? (order.contractAddress === null ? `of the coin of ${order.network}` : 'of the token')
    amount.textContent = `${decimal(order.amount, token.decimals)} ${unit}`
    amount.after(element('dd', { textContent: `exactly ${order.amount} in the smallest unit` }))
  }
  const listed = isListed
    ? paragraph('The recipient is on the signed address list.')
    : warning('The recipient is NOT on the signed address list: compare every character.')
  const rules =
    rule === null
      ? warning('No rule permits this token: the wallet service will refuse it.')
      : paragraph(sentenceOf(rule))
  said.replaceChildren(listed, rules, paragraph(`By version ${version} of the authority.`))
}
