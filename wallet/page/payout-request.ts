import {
  type Decision,
  describePayout,
  type OrderDescription,
  type PayoutDescription,
  payoutOf,
} from '../../sdk/src/signing/signing.ts'
import type { AskedPayout } from './asked.ts'
import { askAuthority, type FullAuthority } from './authority.ts'
import { element, fact, grouped, paragraph, warning } from './elements.ts'
import { obstacleOf } from './obstacle.ts'
import { amountOf, tokenOf } from './quantity.ts'
import type { Request } from './request.ts'
import { sentenceOf } from './rule-sentence.ts'
import type { Unlisted } from './typed-end.ts'

const texts: Record<Decision, [title: string, action: string]> = {
  initiate: ['Order these payments', 'Sign the order'],
  approve: ['Approve these payments', 'Sign the approval'],
  reject: ['Reject these payments', 'Sign the rejection'],
  cancel: ['Cancel these payments', 'Sign the cancellation'],
}

/** A payout with all of its rows. */
export async function payoutRequest({ payoutId, orders, decision, authority: hash }: AskedPayout): Promise<Request> {
  const said = await askAuthority(orders[0].vaultId, hash)
  const shown = describePayout(payoutId, orders, 'fault' in said ? null : said.authority)
  const [title, action] = texts[decision]
  return {
    ...{ title, action, subject: 'payout', unlisted: unlistedOf(shown) },
    document: await payoutOf(payoutId, orders),
    parts: ['fault' in said ? sumsOf(shown, null) : sumsOf(shown, said.document), factsOf(shown), rowsOf(shown)],
    obstacle: 'fault' in said ? said.fault : obstacleOf(shown.expiresAt, decision),
  }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

type Sum = PayoutDescription['sums'][number]
type Row = PayoutDescription['rows'][number]

const isOf =
  ({ network, contractAddress }: Sum) =>
  ({ amount }: Row): boolean =>
    amount.network === network && amount.contractAddress === contractAddress

function sumsOf(shown: PayoutDescription, authority: FullAuthority | null): HTMLElement {
  const parts = shown.sums.flatMap((sum) => [
    ...fact('Sum', amountOf(sum), 'large'),
    element(
      'dd',
      {},
      `in ${counted(sum.rowsCount, 'row')}, `,
      tokenOf(sum),
      `; exactly ${sum.raw} in the smallest unit`,
    ),
    ...(authority === null ? [] : [element('dd', {}, ruleOf(authority, sum, shown))]),
  ])
  return element('dl', {}, ...parts)
}

function ruleOf(authority: FullAuthority, sum: Sum, { rows }: PayoutDescription): HTMLElement {
  const isListed = rows.filter(isOf(sum)).every((row) => row.isListed)
  const sentence = sentenceOf(authority, { ...sum, isListed })
  return sentence === null
    ? warning('No rule permits this token: the wallet service will refuse it.')
    : paragraph(sentence)
}

function factsOf({ initiator, expiresAt, rows, payoutId }: PayoutDescription): HTMLElement {
  const count = rows.filter(({ isListed }) => !isListed).length
  return element(
    'dl',
    {},
    ...fact('Rows', String(rows.length)),
    ...(count === 0
      ? [element('dd', {}, paragraph('All recipients are on the signed address list.'))]
      : [
          element(
            'dd',
            {},
            warning(`Not on the signed address list: ${counted(count, 'recipient')}. Compare every character.`),
          ),
        ]),
    ...fact('Fee limit', 'none is set: a fee may be raised to five times what is usual'),
    ...fact('Ordered by', initiator.email === null ? initiator.id : `${initiator.email} (${initiator.id})`),
    ...fact('Expires', `${new Date(expiresAt).toLocaleString()} (${expiresAt})`),
    ...fact('Payout', payoutId),
  )
}

const columns = ['Row', 'Amount', 'Recipient', 'Sender']

/** All rows: those that do not fit are reached by scrolling, also with the keyboard. */
function rowsOf({ rows }: PayoutDescription): HTMLElement {
  const head = element('tr', {}, ...columns.map((textContent) => element('th', { textContent, scope: 'col' })))
  const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows.map(rowOf)))
  const box = element('div', { className: 'rows', tabIndex: 0, role: 'region', ariaLabel: 'All rows' }, table)
  return box
}

function rowOf({ amount, recipient, isListed, sender, feeLevel, feeLimit }: OrderDescription, i: number): HTMLElement {
  const mark = isListed ? [] : [element('p', { className: 'warn', textContent: 'unlisted' })]
  const limit = feeLimit === null ? [] : [paragraph(`fee up to ${amountOf(feeLimit)}`)]
  const speed = feeLevel === null ? [] : [paragraph(`speed ${feeLevel}`)]
  const cells = [
    [String(i + 1)],
    [amountOf(amount), ...speed, ...limit],
    [grouped(recipient), ...mark],
    [grouped(sender)],
  ]
  return element('tr', {}, ...cells.map((content, at) => cellOf(columns[at]!, content)))
}

/** Narrow windows show the name of the column in the cell. */
function cellOf(column: string, content: (Node | string)[]): HTMLElement {
  const cell = element('td', {}, ...content)
  cell.dataset.column = column
  return cell
}

/** More would be typed without being read. */
const typedMax = 3

/** The largest unlisted row of each of the first tokens. */
function unlistedOf({ sums, rows }: PayoutDescription): Unlisted[] {
  return sums.slice(0, typedMax).flatMap((sum) => {
    const unlisted = rows.flatMap((row, i) => (isOf(sum)(row) && !row.isListed ? [{ row, place: i + 1 }] : []))
    const largest = unlisted.sort((a, b) => (BigInt(a.row.amount.raw) < BigInt(b.row.amount.raw) ? 1 : -1))[0]
    if (largest === undefined) return []
    return [{ recipient: largest.row.recipient, which: `The recipient of row ${largest.place} is` }]
  })
}
