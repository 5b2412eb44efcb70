import type { ReportDocument, Row } from '../documents/document.ts'
import { renderers } from '../files/formats.ts'
import { collectGarbageAbove } from '../files/garbage.ts'
import { renderTable } from '../spreadsheets/render-csv.ts'
import type { Making } from './making.ts'
import { openStatement } from './open-statement.ts'
import type { ArchivedAccount } from './queries.ts'

const folder = 'accounts'

/** Adds the statement of each account as CSV and, if there are few accounts, as PDF, and the list of the accounts. */
export async function addAccounts(making: Making): Promise<void> {
  const { order, plan, writer, onStep } = making
  const list: Row[] = []
  for (const account of plan.accounts) {
    const { addressId, tokenId } = account
    const name = `${addressId}-${tokenId}`
    const subject = { addressId, tokenId }
    await openStatement(making, 'account_statement', subject, async (document) => {
      await writer.add(`${folder}/${name}.csv`, renderers.csv(document, collectGarbageAbove))
      list.push({ statement: `${name}.csv`, ...(await toRow(account, document)) })
    })
    onStep()
    if (!plan.isPrinted) continue
    await openStatement(making, 'account_statement', subject, (document) =>
      writer.add(`${folder}/${name}.pdf`, renderers.pdf(document, collectGarbageAbove)),
    )
    onStep()
  }
  const table = { name: 'index', title: 'Accounts', columns: [...columns], rows: list }
  await writer.add(
    `${folder}/index.csv`,
    renderTable(table, order.parameters.timezone, () => {}),
  )
}

const text = (key: string) => ({ key, label: key, kind: 'text' as const })
const amount = (key: string) => ({ key, label: key, kind: 'amount' as const })
const columns = [
  ...['statement', 'address', 'label', 'network', 'asset', 'contractAddress'].map(text),
  ...['opening', 'credits', 'debits', 'fees', 'closing'].map(amount),
]

async function toRow(account: ArchivedAccount, document: ReportDocument): Promise<Row> {
  const { address, label, network, asset, contractAddress } = account
  const [opening, totals, closing] = [
    await rowOf(document, 'opening'),
    await rowOf(document, 'totals'),
    await rowOf(document, 'closing'),
  ]
  const { credits = null, debits = null, fees = null } = totals
  const [before = null, after = null] = [opening.balance, closing.balance]
  return { address, label, network, asset, contractAddress, opening: before, credits, debits, fees, closing: after }
}

/** Returns the row of a table that has one row. */
async function rowOf({ tables }: ReportDocument, name: string): Promise<Row> {
  for await (const row of tables.find((table) => table.name === name)!.rows) return row
  throw new Error(`The statement of an account has no row of ${name}`)
}
