import type { Hold } from '@strongroom/sdk'
import { useQueries } from '@tanstack/react-query'
import { Hand } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { PlaceHold } from './place-hold.tsx'
import { holdsOnQuery, type Subject, useMayPlace, useMayRelease } from './queries.ts'
import { ReleaseHold } from './release-hold.tsx'
import { effectOf, nameOfHeld, placerOf } from './words.ts'

type HoldBarProps = {
  code: string
  /** The subject of the page, on which a hold is placed here. */
  subject: Subject
  /** Other subjects whose holds also stop it: its address, its counterparty. */
  others?: readonly Subject[]
  name?: string | null
  /** False if a hold would have no effect, such as on a payment that has ended. */
  canBeHeld?: boolean
}

/** The bar above a page: the holds on its subject, with their reasons, and the button to place one. */
export function HoldBar({ code, subject, others = [], name = null, canBeHeld = true }: HoldBarProps) {
  const [placing, place] = useState(false)
  const mayPlace = useMayPlace(code)
  const [ofSubject, ...ofOthers] = useQueries({
    queries: [subject, ...others].map((target) => holdsOnQuery(code, target)),
  })
  const holds = [ofSubject, ...ofOthers].flatMap((query) => query?.data ?? [])
  const isFree = ofSubject?.data?.every(({ origin }) => origin === 'screening') && canBeHeld
  return (
    <>
      {holds.map((hold) => (
        <HoldBanner key={hold.id} code={code} hold={hold} />
      ))}
      {isFree && mayPlace && (
        // Floats beside the title that follows.
        <div className="float-right ms-3">
          <Button look="quiet" icon={<Hand size={16} aria-hidden />} onClick={() => place(true)}>
            {t('Place a hold')}
          </Button>
        </div>
      )}
      {placing && <PlaceHold code={code} subject={subject} name={name} close={() => place(false)} />}
    </>
  )
}

function HoldBanner({ code, hold }: { code: string; hold: Hold }) {
  const [releasing, release] = useState(false)
  const mayRelease = useMayRelease(code)
  const { createdAt, handedOverCount } = hold
  const who = placerOf(hold)
  return (
    <section aria-label={t('Hold')} className="mb-4 rounded-lg border border-bad bg-bad-soft p-3">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <p className="flex items-center gap-2 font-medium text-bad">
            <Hand size={16} aria-hidden /> {t('Held: {subject}', { subject: nameOfHeld(hold) })}
          </p>
          <p className="mt-1 [overflow-wrap:anywhere]">{hold.reason}</p>
          <p className="mt-1 text-[0.8125rem]">
            {effectOf(hold.subjectType)} {t('By {name}, {time}.', { name: who, time: formatTime(createdAt) })}
          </p>
          {handedOverCount > 0 && (
            <p className="mt-1 text-[0.8125rem]">
              {t(
                '{count, plural, one {# transfer had been handed to the wallet before and may have been sent.} other {# transfers had been handed to the wallet before and may have been sent.}}',
                { count: handedOverCount },
              )}
            </p>
          )}
        </div>
        {mayRelease && <Button onClick={() => release(true)}>{t('Release')}</Button>}
      </div>
      {releasing && <ReleaseHold code={code} hold={hold} close={() => release(false)} />}
    </section>
  )
}
