import type { HoldOnPayment, Transfer } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { Hand } from 'lucide-react'
import type { ReactNode } from 'react'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Compared } from '../../ui/compared.tsx'
import { pathOf, placerOf, subjectWord, useMayRelease } from '../holds/queries.ts'

type Shown = Pick<Transfer, 'holds' | 'isExposed' | 'recipient' | 'toAddress'> & {
  /** The row of a payout. */
  row?: number
}

/** The facts that stop a payment or warn of its recipient. They are loaded only where there are some. */
export function RecipientAlarms({ code, payments }: { code: string; payments: readonly Shown[] }) {
  return payments.map((payment) => <OfPayment key={payment.row ?? 0} code={code} payment={payment} />)
}

function OfPayment({ code, payment }: { code: string; payment: Shown }) {
  const { holds = [], isExposed, recipient, toAddress, row } = payment
  const titled = (what: string) => (row === undefined ? what : t('Row {row}: {what}', { row, what }))
  return (
    <>
      {holds.map((hold, index) => (
        <Held key={hold.id ?? index} code={code} hold={hold} titled={titled} />
      ))}
      {isExposed === true && (
        <Alarm title={titled(t('The address that pays sends nothing now'))}>
          <p>{t('The chain took back a deposit that was already spent. An administrator must cover it first.')}</p>
        </Alarm>
      )}
      {recipient?.isLookAlike === true && (
        <Alarm title={titled(t('The recipient only looks like a known address'))}>
          <Alikes address={toAddress} known={recipient.lookAlikes} />
        </Alarm>
      )}
    </>
  )
}

function Alarm({ title, icon, children }: { title: string; icon?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} className="mb-4 rounded-lg border border-bad bg-bad-soft p-3">
      <p className="mb-1 flex items-start gap-2 font-medium text-bad [overflow-wrap:anywhere]">
        {icon} {title}
      </p>
      {children}
    </section>
  )
}

type HeldProps = { code: string; hold: HoldOnPayment; titled: (what: string) => string }

function Held({ code, hold, titled }: HeldProps) {
  const mayRelease = useMayRelease(code)
  const { subjectType, subjectName, reason, createdAt } = hold
  const subject = subjectName === null ? subjectWord(subjectType) : `${subjectWord(subjectType)} ${subjectName}`
  return (
    <Alarm
      title={titled(t('Held: {subject}', { subject }))}
      icon={<Hand size={16} aria-hidden className="mt-0.5 shrink-0" />}
    >
      {reason !== null && <p className="[overflow-wrap:anywhere]">{reason}</p>}
      {createdAt !== null && (
        <p className="mt-1 text-[0.8125rem]">
          {t('By {name}, {time}.', { name: placerOf(hold), time: formatTime(createdAt) })}
        </p>
      )}
      <p className="mt-1">{t('Nobody can vote on this payment until two people have released the hold.')}</p>
      {hold.subjectId !== null && (
        <Link to={pathOf(code, { ...hold, subjectId: hold.subjectId }) as '/'} className={`mt-2 ${buttonClass()}`}>
          {mayRelease ? t('Ask for the release') : t('See what is held')}
        </Link>
      )}
    </Alarm>
  )
}

type AlikesProps = { address: string; known: NonNullable<Transfer['recipient']>['lookAlikes'] }

function Alikes({ address, known }: AlikesProps) {
  if (known.length === 0)
    return <p>{t('You may not see the address that it looks like. Ask an administrator before you approve.')}</p>
  return (
    <>
      <p className="mb-2">{t('The characters that differ are marked. Ask who ordered it before you approve.')}</p>
      <dl className="grid gap-2">
        <Compared name={t('To be paid')} address={address} other={known[0]?.address} />
        {known.map((alike) => (
          <Compared key={alike.address} name={alike.name ?? t('Paid before')} address={alike.address} other={address} />
        ))}
      </dl>
    </>
  )
}
