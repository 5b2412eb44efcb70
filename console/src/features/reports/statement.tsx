import type { AccountStatementLine, AccountStatementReport, AccountStatementTotals } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { formatUsd } from '../../lib/amounts.ts'
import { t } from '../../lib/language.ts'
import { formatTime, formatTimeInFull } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import { type Column, DataTable, type More } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/list-states.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { operationPath, useShownReport } from './drilldown-link.tsx'
import { isZero, knownUsd } from './known-usd.ts'

/** The opening balance, every posting with the balance after it, and the closing balance. */
export function Statement({ pages, more }: { pages: readonly AccountStatementReport[]; more: More }) {
  const first = pages[0]!
  const { account, opening, closing, totals } = first
  const unit = account.assetSymbol
  const columns = useColumns(unit)
  const lines = pages.flatMap((page) => page.lines)
  return (
    <>
      <Card title={`${account.label ?? t('Account')} · ${unit}`}>
        <Facts
          facts={[
            [t('Address'), <Address key="a" address={account.address} copy />],
            [t('Network'), account.network],
            [t('Opening'), <Amount key="o" decimal={opening.balance} unit={unit} />],
            [t('+ In'), <Amount key="c" decimal={totals.credits} unit={unit} />],
            [t('− Out, without network fees'), <Amount key="d" decimal={totals.otherDebits} unit={unit} />],
            [t('− Network fees'), <FeesOfAccount key="f" totals={totals} unit={unit} />],
            [
              t('Closing'),
              <strong key="z">
                <Amount decimal={closing.balance} unit={unit} />
              </strong>,
            ],
            [
              t('of it reserved'),
              isZero(closing.reserved) ? null : <Amount key="r" decimal={closing.reserved} unit={unit} />,
            ],
          ]}
        />
      </Card>
      {lines.length === 0 ? (
        <Empty>
          <p>{t('No postings in this period: the balance did not change.')}</p>
        </Empty>
      ) : (
        <Card title={t('Postings')}>
          <DataTable
            caption={t('Postings')}
            columns={columns}
            rows={lines}
            rowKey={({ id }) => id}
            more={more}
            estimate={76}
          />
        </Card>
      )}
    </>
  )
}

function FeesOfAccount({ totals: { fees, feesUsd }, unit }: { totals: AccountStatementTotals; unit: string }) {
  return (
    <>
      <Amount decimal={fees} unit={unit} />
      {!isZero(fees) && <span className="text-quiet"> ({formatUsd(knownUsd(feesUsd, [fees]))})</span>}
    </>
  )
}

function useColumns(unit: string): Column<AccountStatementLine>[] {
  const { code } = useShownReport()
  const amount = (decimal: string | null) =>
    decimal === null ? '' : <Amount decimal={decimal} unit={unit} className="md:whitespace-nowrap" />
  return [
    {
      id: 'at',
      header: t('When'),
      className: 'md:whitespace-nowrap',
      cell: ({ createdAt }) => <time title={formatTimeInFull(createdAt)}>{formatTime(createdAt)}</time>,
    },
    { id: 'what', header: t('What'), cell: (line) => <Posting code={code} line={line} /> },
    { id: 'debit', header: t('Debit'), align: 'end', cell: ({ debit }) => amount(debit) },
    { id: 'credit', header: t('Credit'), align: 'end', cell: ({ credit }) => amount(credit) },
    { id: 'balance', header: t('Balance'), align: 'end', cell: ({ balance }) => amount(balance) },
    { id: 'usd', header: t('In USD'), align: 'end', cell: ({ usdValue }) => <Usd value={usdValue} /> },
  ]
}

function Posting({ code, line }: { code: string; line: AccountStatementLine }) {
  const { operationType, operationId, counterparty, otherAddress, paymentPurpose, note } = line
  const kind = postingWord(line.kind)
  return (
    <div className="min-w-0">
      {operationType === null ? (
        kind
      ) : (
        <Link to={operationPath(code, operationType, operationId) as '/'} className="text-accent underline">
          {kind}
        </Link>
      )}
      {otherAddress !== null && (
        <div>
          <Address address={otherAddress} name={counterparty?.name} />
        </div>
      )}
      {[paymentPurpose, note].map(
        (text) =>
          text !== null && (
            <div key={text} className="text-quiet [overflow-wrap:anywhere]">
              {text}
            </div>
          ),
      )}
    </div>
  )
}

function postingWord(kind: AccountStatementLine['kind']): string {
  const words = {
    deposit: t('Received'),
    reserve: t('Reserved'),
    settle: t('Paid'),
    release: t('Released'),
    fee: t('Network fee'),
    adjust: t('Adjustment'),
    hold: t('Deposit held'),
    hold_release: t('Hold released'),
    correct: t('Deposit corrected'),
    orphan: t('Deposit lost by the chain'),
    orphan_return: t('Lost deposit came back'),
    cover: t('Exposure covered'),
  }
  return words[kind]
}
