import type { AddressBalance, PayoutOrder, PayoutPreview, Address as VaultAddress } from '@strongroom/sdk'
import { describePayout, type OrderDescription, type PayoutDescription } from '@strongroom/sdk/signing'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { readCsv } from '../../lib/csv.ts'
import { columnsOf, csvOf } from '../../lib/csv-columns.ts'
import { faultsOf, isOutcomeUnknown } from '../../lib/forms.ts'
import { said, t } from '../../lib/language.ts'
import { queryClient } from '../../lib/query-client.ts'
import { saveBlob } from '../../lib/save-file.ts'
import { nameOf } from '../../lib/session.ts'
import type { Entered, Shown } from '../../lib/sign-votes.ts'
import { signingAuthorityQuery } from '../../lib/signing-authority.ts'
import { Address } from '../../ui/address.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { FileDrop } from '../../ui/file-drop.tsx'
import { Card } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SignedHead, SignedQuantity, SignedRow, SignedSums } from '../../ui/signed-order.tsx'
import { knownAddressesQuery } from '../address-book/queries.ts'
import { addressSearchQuery } from '../addresses/queries.ts'
import { PayoutGrid } from './payout-grid.tsx'
import {
  type DraftRow,
  enteredOf,
  isPayable,
  judgePayout,
  keyOf,
  orderOf,
  type PayoutField,
  payoutColumns,
  sumOf,
} from './payout-rows.ts'

const rowsMax = 1_000
const fields = Object.keys(payoutColumns) as PayoutField[]

/** Reads a list of payments, shows the problem of each, lets the policies decide on the whole, and orders the payout. */
export function PayoutPage({ code }: { code: string }) {
  const addresses = useQuery(addressSearchQuery(code, '', 100)).data ?? []
  const sources = addresses.filter(({ access, balances }) => access.canTransfer && balances.length > 0)
  const [sourceId, setSource] = useState('')
  const [tokenId, setToken] = useState('')
  const [rows, setRows] = useState<DraftRow[] | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const source = sources.find(({ id }) => id === sourceId) ?? sources[0]
  const balance = source?.balances.find((entry) => entry.tokenId === tokenId) ?? source?.balances[0]
  const read = async (file: File) => {
    const list = await rowsOf(file)
    setFault(list.fault)
    setRows(list.rows)
  }
  return (
    <>
      <Card title={t('Who pays')}>
        <div className="grid gap-x-4 sm:grid-cols-2">
          <SelectField label={t('From')} value={source?.id ?? ''} onChange={({ target }) => setSource(target.value)}>
            {sources.map(({ id, label, address }) => (
              <option key={id} value={id}>
                {label ?? address}
              </option>
            ))}
          </SelectField>
          <SelectField
            label={t('Token')}
            value={balance?.tokenId ?? ''}
            onChange={({ target }) => setToken(target.value)}
          >
            {source?.balances.map((entry) => (
              <option key={entry.tokenId} value={entry.tokenId}>
                {entry.symbol}
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
      {rows === null || source === undefined || balance === undefined ? (
        <Start fault={fault} read={read} />
      ) : (
        <Review code={code} source={source} balance={balance} rows={rows} setRows={setRows} />
      )}
    </>
  )
}

async function rowsOf(file: File): Promise<{ rows: DraftRow[] | null; fault: string | null }> {
  const lines = await readCsv(await file.text())
  if (lines === null) return { rows: null, fault: t('This is not a CSV file.') }
  const { rows, missing } = columnsOf(lines, payoutColumns)
  if (missing.includes('toAddress') || missing.includes('amount') || missing.includes('externalId')) {
    return { rows: null, fault: t('The first line must name the columns; "id", "address" and "amount" are needed.') }
  }
  if (rows.length === 0) return { rows: null, fault: t('The file has no rows.') }
  if (rows.length > rowsMax) {
    const values = { count: rows.length, max: rowsMax }
    return { rows: null, fault: t('The file has {count} rows; at most {max} are read at once.', values) }
  }
  return { rows: rows.map((row, index) => ({ ...row, number: index + 2, refusal: null })), fault: null }
}

function Start({ fault, read }: { fault: string | null; read: (file: File) => void }) {
  const template = () => {
    const example = ['salary-2026-01-17', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '1.5', 'Salary January', '']
    saveBlob(new Blob([csvOf([fields, example])], { type: 'text/csv' }), 'payout.csv')
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
          'Every payment has a reference of yours, which a vault takes only once: the same file again pays nothing twice. Amounts have a point before the decimals.',
        )}
      </p>
      <Button onClick={template}>{t('Download a template')}</Button>
    </Card>
  )
}

type ReviewProps = {
  code: string
  source: VaultAddress
  balance: AddressBalance
  rows: DraftRow[]
  setRows: (rows: DraftRow[] | null) => void
}

function Review({ code, source, balance, rows, setRows }: ReviewProps) {
  const known = useQuery(knownAddressesQuery(code)).data
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [withLookAlikes, setWith] = useState(false)
  const judged = judgePayout(rows, known ?? [], balance)
  const bad = judged.filter((entry) => !isPayable(entry, withLookAlikes)).length
  const order = orderOf(rows, { name, paymentPurpose: '', fromAddressId: source.id, tokenId: balance.tokenId })
  const signed = useRef<PayoutOrder | null>(null)
  const refuse = (error: unknown) => {
    if (!isOutcomeUnknown(error)) signed.current = null
    setRows(refused(rows, error))
  }
  const preview = useMutation({ mutationFn: () => vaultOf(code).payouts.preview(order), onError: refuse })
  const toSign = preview.data?.toSign
  const { shown, fault } = useSigned(code, toSign)
  const signing =
    toSign === undefined || shown === null ? null : { toSign, shown, entered: enteredOf(order, source, balance) }
  const unread = toSign !== undefined && shown === null ? (fault ?? t('The order is being read.')) : null
  const create = useMutation({
    mutationFn: async () => {
      // Signed only once: a repetition under the same key must send the same body.
      signed.current ??= await signedPayout(code, order, signing)
      return vaultOf(code).payouts.create(signed.current, { idempotencyKey: await keyOf(signed.current) })
    },
    onSuccess: ({ id }) => {
      for (const noun of ['payouts', 'history', 'addresses'])
        void queryClient.invalidateQueries({ queryKey: [noun, code] })
      void navigate({ to: `/v/${code}/payouts/${id}` as '/' })
    },
    onError: refuse,
  })
  const change = (next: DraftRow[] | null) => {
    preview.reset()
    signed.current = null
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
        setRow={(row) => change(rows.map((other) => (other.number === row.number ? row : other)))}
      />
      <Card>
        <TextField label={t('Name of the payout')} value={name} onChange={({ target }) => setName(target.value)} />
        <p className="mb-3 text-lg font-semibold">
          {t('Sum')}: <Amount decimal={sumOf(rows, balance)} unit={balance.symbol} />
        </p>
        {judged.some(({ verdict }) => verdict === 'look-alike') && (
          <label className="mb-3 flex items-center gap-2">
            <input type="checkbox" checked={withLookAlikes} onChange={({ target }) => setWith(target.checked)} />
            {t('also the look-alikes: I have compared them')}
          </label>
        )}
        <Problem error={preview.error ?? create.error} />
        {isOutcomeUnknown(create.error) && (
          <p className="mb-3 text-warn">{t('Ask again: the same payout is paid once, however often it is sent.')}</p>
        )}
        {preview.data !== undefined && <Decision preview={preview.data} />}
        {shown !== null && <SignedPayout shown={shown.description} />}
        {fault !== null && <p className="mb-3 text-bad">{fault}</p>}
        <div className="flex flex-wrap gap-2">
          <Button busy={preview.isPending} disabledBecause={notNow} onClick={() => preview.mutate()}>
            {t('Check the policies')}
          </Button>
          <Button
            look="primary"
            busy={create.isPending}
            disabledBecause={notNow ?? whyNot(preview.data) ?? unread}
            onClick={() => create.mutate()}
          >
            {t('{count, plural, one {Order # payment} other {Order # payments}}', { count: rows.length })}
          </Button>
          <Button look="quiet" onClick={() => change(null)}>
            {t('Another file')}
          </Button>
        </div>
        {notNow !== null && <p className="mt-2 text-quiet">{notNow}</p>}
      </Card>
    </>
  )
}

/** The document of the payout that is signed, with the rows as the person entered them. */
type ToSign = { toSign: NonNullable<PayoutPreview['toSign']>; entered: Entered[]; shown: Shown<PayoutDescription> }

/** Returns the payout with the signature of its initiator, in a vault that requires a signature. */
async function signedPayout(code: string, order: PayoutOrder, signing: ToSign | null): Promise<PayoutOrder> {
  if (signing === null) return order
  const { signEnteredRows } = await import('../../lib/sign-votes.ts')
  return signEnteredRows(code, order, signing.entered, signing.toSign, signing.shown)
}

/** Decodes the signed part of a preview with the help of the authority. */
function useSigned(code: string, toSign: PayoutPreview['toSign']) {
  const { data: authority, error } = useQuery({ ...signingAuthorityQuery(code), enabled: toSign !== undefined })
  return useMemo((): { shown: Shown<PayoutDescription> | null; fault: string | null } => {
    if (toSign === undefined || authority === undefined) return { shown: null, fault: error?.message ?? null }
    try {
      return {
        shown: { description: describePayout(toSign.payoutId, toSign.orders, authority), authority },
        fault: null,
      }
    } catch (fault) {
      return { shown: null, fault: (fault as Error).message }
    }
  }, [toSign, authority, error])
}

/** Everything that the initiator signs, decoded from the signed document. */
function SignedPayout({ shown }: { shown: PayoutDescription }) {
  const columns = useMemo(() => signedColumns(shown), [shown])
  return (
    <div className="mb-3 rounded-md border border-line p-3">
      <p className="font-medium">{t('You sign exactly this with a passkey.')}</p>
      <SignedSums shown={shown} />
      <SignedHead shown={shown} />
      <DataTable caption={t('What is signed')} columns={columns} rows={shown.rows} rowKey={keyOfSigned} />
    </div>
  )
}

const keyOfSigned = ({ terms }: OrderDescription) => terms.transferId

function signedColumns(shown: PayoutDescription): Column<OrderDescription>[] {
  return [
    { id: 'to', header: t('To'), cell: ({ recipient }) => <Address address={recipient} /> },
    {
      id: 'amount',
      header: t('Amount'),
      align: 'end',
      cell: ({ amount }) => <SignedQuantity quantity={amount} />,
    },
    { id: 'signed', header: t('Also signed'), cell: (row) => <SignedRow row={row} shown={shown} /> },
  ]
}

function whyNot(preview: PayoutPreview | undefined): string | null {
  if (preview === undefined) return t('Check the policies first.')
  const [problem] = preview.problems
  return problem === undefined ? null : said(problem.message, problem.code)
}

/** The decision of the policies about the payout. */
function Decision({ preview: { decision, problems, row } }: { preview: PayoutPreview }) {
  const waits = decision.effect === 'approval'
  const refusedText = decision.blockReason ?? t('Refused: no policy permits it')
  return (
    <div role="status" className="mb-3 rounded-md border border-line p-3">
      <p className="font-semibold">
        {decision.effect === 'allow' ? t('Goes out at once') : waits ? t('Waits for votes') : refusedText}
      </p>
      {decision.effect !== 'allow' && <p className="text-quiet">{t('Row {row} decides.', { row })}</p>}
      {waits &&
        decision.requirements.map(({ policyId, policyCode, threshold, approvers }) => (
          <p key={policyId}>
            {t('Waits for {threshold} of {names}', { threshold, names: approvers.slice(0, 5).map(nameOf).join(', ') })}{' '}
            <span className="code text-quiet">{policyCode}</span>
          </p>
        ))}
      {problems.map(({ code, row: number, message }) => (
        <p key={`${code} ${number}`} className="text-bad">
          {number === null
            ? said(message, code)
            : t('Row {row}: {message}', { row: number, message: said(message, code) })}
        </p>
      ))}
    </div>
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
