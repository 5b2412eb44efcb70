import type { Static } from 'typebox'
import type { Row } from '../documents/document.ts'
import type { TextName } from '../documents/phrases.ts'
import type { Words } from '../documents/words.ts'
import type { Lead, ReportContent } from '../requests/report-request.ts'
import type { AccountStatementReport } from './account-statement.ts'

/** Returns the account for the title block, and the way from its opening to its closing balance, for pages. */
export function leadOfStatement(report: ReportContent['report'], words: Words): Lead {
  const { account, opening, closing, totals } = report as unknown as Static<typeof AccountStatementReport>
  const { label, address, assetCode, network, contractAddress } = account
  const place = label === null ? address : `${label} (${address})`
  const token = words.text('onNetwork', { asset: assetCode, network })
  const step = (name: TextName, amount: string): Row => ({
    step: words.text(name),
    amount,
    available: null,
    reserved: null,
  })
  return {
    block: [
      {
        label: words.text('account'),
        value: contractAddress === null ? `${place} · ${token}` : `${place} · ${token} · ${contractAddress}`,
      },
    ],
    facts: [{ label: words.text('reservations'), value: words.text('reservationsLeftOut') }],
    lead: {
      name: 'movement',
      title: words.text('movement'),
      columns: [
        { key: 'step', label: '', kind: 'text' },
        { key: 'amount', label: assetCode, kind: 'amount' },
        { key: 'available', label: 'Available', kind: 'amount' },
        { key: 'reserved', label: 'Reserved', kind: 'amount' },
      ],
      rows: [
        { ...step('opening', opening.balance), available: opening.available, reserved: opening.reserved },
        step('plusIn', totals.credits),
        step('minusOut', totals.otherDebits),
        step('minusFees', totals.fees),
        { ...step('closing', closing.balance), available: closing.available, reserved: closing.reserved },
      ],
    },
  }
}
