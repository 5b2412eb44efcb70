import type { PayoutPreview } from '@strongroom/sdk'
import type { PayoutDescription } from '@strongroom/sdk/signing'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { csvOf, type Mapping } from '../../lib/csv-columns.ts'
import { faultsOf, isOutcomeUnknown } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { useMappedFile } from '../../lib/mapped-file.ts'
import { addressKey } from '../../lib/recipient.ts'
import { useRecipientCheck } from '../../lib/recipient-check.ts'
import { saveBlob } from '../../lib/save-file.ts'
import { Address } from '../../ui/address.tsx'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { FileDrop } from '../../ui/file-drop.tsx'
import { MapColumns } from '../../ui/map-columns.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { SignedSums } from '../../ui/signed-order.tsx'
import { ConfirmOrder, Decision, SignedPayout, usePayoutOrder } from './order-payout.tsx'
import { PayoutGrid } from './payout-grid.tsx'
import {
  type DraftRow,
  inFile,
  isPayable,
  type Judged,
  judgePayout,
  orderOf,
  type PayerChoice,
  type PayerSum,
  type PayoutField,
  payerOf,
  payoutColumns,
  requiredFields,
  type Source,
  sumsOf,
  type Verdict,
  withDecimalPoint,
} from './payout-rows.ts'
import { payersQuery } from './queries.ts'

const rowsMax = 1_000
const fields = Object.keys(payoutColumns) as PayoutField[]

/** Reads a list of payments, shows the problem of each, lets the policies decide on the whole, and orders the payout. */
export function PayoutPage({ code }: { code: string }) {
  const sources = useQuery(payersQuery(code)).data ?? []
  const [choice, choose] = useState<PayerChoice>({ sourceId: '', tokenId: '' })
  const [rows, setRows] = useState<DraftRow[] | null>(null)
  const mapped = useMappedFile<PayoutField>({
    ...{ key: 'payouts', aliases: payoutColumns, required: requiredFields, rowsMax },
    onRows(read, mapping) {
      // Nobody pays by default: a payer is chosen here, or named by each row of the file.
      choose({ sourceId: mapping.payer === null ? '' : inFile, tokenId: mapping.token === null ? '' : inFile })
      setRows(draftsOf(read))
    },
  })
  const { file, fault, read, forget } = mapped
  if (file === null) return <Start fault={fault} read={read} />
  if (rows === null) return <MapColumns mapped={mapped} words={wordsOf()} required={requiredFields} />
  const toColumns = () => setRows(null)
  const another = () => {
    forget()
    setRows(null)
  }
  return (
    <>
      <WhoPays sources={sources} mapping={file.mapping} choice={choice} choose={choose} />
      {isChosen(choice, sources) ? (
        <Review
          key={`${choice.sourceId} ${choice.tokenId}`}
          {...{ code, sources, choice, rows, setRows, another, toColumns }}
        />
      ) : (
        <p role="status">{t('The file was read. Choose who pays, and in which token.')}</p>
      )}
    </>
  )
}

const isChosen = ({ sourceId, tokenId }: PayerChoice, sources: readonly Source[]) =>
  tokenId !== '' && (sourceId === inFile || sources.some(({ id }) => id === sourceId))

const wordsOf = (): Record<PayoutField, string> => ({
  externalId: t('Reference'),
  toAddress: t('Address of the recipient'),
  amount: t('Amount'),
  paymentPurpose: t('Purpose'),
  note: t('Note'),
  payer: t('Who pays'),
  token: t('Token'),
})

function draftsOf(rows: Record<PayoutField, string>[]): DraftRow[] {
  const amounts = withDecimalPoint(rows.map(({ amount }) => amount))
  return rows.map((row, index) => ({ ...row, amount: amounts[index]!, number: index + 2, refusal: null }))
}

function Start({ fault, read }: { fault: string | null; read: (file: File) => void }) {
  const template = () => {
    const example = ['salary-2026-01-17', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '1.5', 'Salary January', '']
    saveBlob(new Blob([csvOf([fields.slice(0, example.length), example])], { type: 'text/csv' }), 'payout.csv')
  }
  return (
    <Card>
      <FileDrop label={t('A CSV file with payments')} accept=".csv,text/csv" onFile={read} />
      {fault !== null && (
        <p role="alert" className="mb-3 text-bad">
          {fault}
        </p>
      )}
      <p className="mb-3 text-quiet">
        {t(
          'Every payment has a reference that you choose. A vault takes each reference only once, so that the same file never pays twice. Amounts have a point or a comma before the decimals, the same in the whole file.',
        )}
      </p>
      <Button onClick={template}>{t('Download a template')}</Button>
    </Card>
  )
}

type WhoPaysProps = {
  sources: readonly Source[]
  mapping: Mapping<PayoutField>
  choice: PayerChoice
  choose: (choice: PayerChoice) => void
}

function WhoPays({ sources, mapping, choice, choose }: WhoPaysProps) {
  const source = sources.find(({ id }) => id === choice.sourceId)
  const offered = choice.sourceId === inFile ? sources : source === undefined ? [] : [source]
  const tokens = new Map(
    offered.flatMap(({ network, balances }) =>
      balances.map(
        ({ tokenId, symbol }) => [tokenId, source === undefined ? `${symbol} · ${network}` : symbol] as const,
      ),
    ),
  )
  const balance = source?.balances.find((entry) => entry.tokenId === choice.tokenId)
  const setSource = (sourceId: string) => {
    const balances = sources.find(({ id }) => id === sourceId)?.balances ?? []
    const kept = choice.tokenId === inFile || balances.some(({ tokenId }) => tokenId === choice.tokenId)
    const only = balances.length === 1 ? balances[0]!.tokenId : ''
    choose({ sourceId, tokenId: kept ? choice.tokenId : only })
  }
  return (
    <Card title={t('Who pays')}>
      <div className="grid gap-x-4 sm:grid-cols-2">
        <SelectField label={t('From')} value={choice.sourceId} onChange={({ target }) => setSource(target.value)}>
          <option value="">{t('Choose who pays')}</option>
          {mapping.payer !== null && <option value={inFile}>{t('as each row of the file says')}</option>}
          {sources.map(({ id, label, address }) => (
            <option key={id} value={id}>
              {label ?? address}
            </option>
          ))}
        </SelectField>
        <SelectField
          label={t('Token')}
          value={choice.tokenId}
          onChange={({ target }) => choose({ ...choice, tokenId: target.value })}
        >
          <option value="">{t('Choose the token')}</option>
          {mapping.token !== null && <option value={inFile}>{t('as each row of the file says')}</option>}
          {[...tokens].map(([tokenId, word]) => (
            <option key={tokenId} value={tokenId}>
              {word}
            </option>
          ))}
        </SelectField>
      </div>
      {balance !== undefined && (
        <p>
          {t('Available')}: <Amount decimal={balance.availableDecimal} unit={balance.symbol} />
        </p>
      )}
    </Card>
  )
}

type ReviewProps = {
  code: string
  sources: readonly Source[]
  choice: PayerChoice
  rows: DraftRow[]
  setRows: (rows: DraftRow[]) => void
  another: () => void
  toColumns: () => void
}

function Review({ code, sources, choice, rows, setRows, another, toColumns }: ReviewProps) {
  const findPayer = (row: DraftRow) => payerOf(row, choice, sources)
  const { find, error: unchecked } = useRecipientCheck(
    code,
    rows.flatMap((row) => {
      const payer = findPayer(row)
      return typeof payer === 'string' ? [] : [{ network: payer.source.network, address: row.toAddress }]
    }),
  )
  const [name, setName] = useState('')
  const [withLookAlikes, setWith] = useState(false)
  const [isConfirming, confirm] = useState(false)
  const judged = judgePayout(rows, find, findPayer)
  const sums = sumsOf(judged)
  const bad = judged.filter((entry) => !isPayable(entry, withLookAlikes)).length
  const ordering = usePayoutOrder(code, {
    ...orderOf(judged, name),
    onRefused(error) {
      if (!isOutcomeUnknown(error)) confirm(false)
      setRows(refused(rows, error))
    },
  })
  const { preview, create, shown, fault, notYet } = ordering
  const change = (next: DraftRow[]) => {
    ordering.reset()
    setRows(next)
  }
  const notNow =
    bad > 0
      ? t('{count, plural, one {# row must be corrected first} other {# rows must be corrected first}}', { count: bad })
      : null
  return (
    <>
      <PayoutGrid
        judged={judged}
        choice={choice}
        setRow={(row) => change(rows.map((other) => (other.number === row.number ? row : other)))}
      />
      <Card>
        <TextField label={t('Name of the payout')} value={name} onChange={({ target }) => setName(target.value)} />
        <p className="text-lg font-semibold">{t('Sum')}</p>
        <SumsOfPayers sums={sums} />
        {judged.some(({ verdict }) => verdict === 'look-alike') && (
          <label className="mb-3 flex items-center gap-2">
            <input type="checkbox" checked={withLookAlikes} onChange={({ target }) => setWith(target.checked)} />
            {t('also the look-alikes: I have compared them')}
          </label>
        )}
        <Problem error={preview.error ?? create.error ?? unchecked} />
        {preview.data !== undefined && <Decision preview={preview.data} />}
        {shown !== null && <SignedPayout shown={shown} />}
        {fault !== null && <p className="mb-3 text-bad">{fault}</p>}
        <div className="flex flex-wrap gap-2">
          <Button busy={preview.isPending} disabledBecause={notNow} onClick={() => preview.mutate()}>
            {t('Check the policies')}
          </Button>
          <Button look="primary" disabledBecause={notNow ?? notYet} onClick={() => confirm(true)}>
            {t('{count, plural, one {Order # payment} other {Order # payments}}', { count: rows.length })}
          </Button>
          <Button look="quiet" onClick={toColumns}>
            {t('Columns of the file …')}
          </Button>
          <Button look="quiet" onClick={another}>
            {t('Another file')}
          </Button>
        </div>
        {notNow !== null && <p className="mt-2 text-quiet">{notNow}</p>}
      </Card>
      {preview.data !== undefined && (
        <Sheet title={t('Order this payout?')} open={isConfirming} onClose={() => confirm(false)}>
          {isConfirming && (
            <>
              <Whole {...{ sums, judged, name, preview: preview.data }} signed={shown} />
              <ConfirmOrder ordering={ordering} back={() => confirm(false)} />
            </>
          )}
        </Sheet>
      )}
    </>
  )
}

/** The payers, each with the sum that it pays of a token. */
function SumsOfPayers({ sums }: { sums: readonly PayerSum[] }) {
  return (
    <ul className="mb-3 grid gap-2">
      {sums.map(({ source, balance, amount, count }) => (
        <li key={`${source.id} ${balance.tokenId}`}>
          <Amount decimal={amount} unit={balance.symbol} />{' '}
          <span className="text-quiet">
            {t('{count, plural, one {in # payment} other {in # payments}}', { count })}
          </span>
          <Address address={source.address} name={source.label} />
        </li>
      ))}
    </ul>
  )
}

type WholeProps = {
  sums: readonly PayerSum[]
  judged: readonly Judged[]
  name: string
  preview: PayoutPreview
  signed: PayoutDescription | null
}

/** The whole payout once more, before it is ordered. The sums are those of the document, or of the service where nothing is signed. */
function Whole({ sums: ofPayers, judged, name, preview: { sums, rowsCount, decision }, signed }: WholeProps) {
  const recipients = (wanted: Verdict) =>
    new Set(judged.filter(({ verdict }) => verdict === wanted).map(({ row }) => addressKey(row.toAddress))).size
  const [unknown, paid, alike] = [recipients('new'), recipients('paid before'), recipients('look-alike')]
  return (
    <>
      {signed !== null && <SignedSums shown={signed} />}
      {(signed === null ? sums : []).map((sum) => (
        <p key={sum.tokenId} className="mb-3 text-2xl font-semibold [overflow-wrap:anywhere]">
          <Amount decimal={sum.amountDecimal} unit={sum.asset} />
          {sum.usdValue !== null && <Usd value={sum.usdValue} className="ml-3 text-base font-normal text-quiet" />}
        </p>
      ))}
      <Facts
        facts={[
          [t('Name of the payout'), name.trim() || null],
          [t('From'), <SumsOfPayers key="from" sums={ofPayers} />],
          [t('Payments'), String(rowsCount)],
          [
            t('Recipients'),
            <span key="recipients" className="flex flex-wrap gap-1">
              <Badge tone={unknown + paid + alike > 0 ? 'warn' : 'good'}>
                {t(
                  '{count, plural, =0 {all are in the address book} one {# is not in the address book} other {# are not in the address book}}',
                  { count: unknown + paid + alike },
                )}
              </Badge>
              {alike > 0 && (
                <Badge tone="bad">
                  {t('{count, plural, one {# resembles another address} other {# resemble another address}}', {
                    count: alike,
                  })}
                </Badge>
              )}
            </span>,
          ],
          [
            t('Then'),
            decision.effect === 'allow' ? t('it goes out at once and cannot be taken back') : t('it waits for votes'),
          ],
        ]}
      />
      {signed !== null && <p>{t('You sign exactly this with a passkey.')}</p>}
    </>
  )
}

/** Adds the service's messages to the rows that they name. */
function refused(rows: DraftRow[], error: unknown): DraftRow[] {
  const messages = new Map<number, string>()
  for (const { field, message } of faultsOf(error)) {
    const index = /rows\.(\d+)/.exec(field)?.[1]
    if (index !== undefined) messages.set(Number(index), message)
  }
  return rows.map((row, index) => (messages.has(index) ? { ...row, refusal: messages.get(index)! } : row))
}
