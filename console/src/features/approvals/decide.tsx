import type { ApprovalRequest, Payout, Transfer } from '@strongroom/sdk'
import type { Waiting } from '@strongroom/sdk/signing'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, X } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { useKeys } from '../../lib/hotkeys.ts'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CheckField, TextArea } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { StopChoice } from '../../ui/stop-choice.tsx'
import { vaultQuery } from '../vault-settings/queries.ts'
import { nextWaitingQuery, pathOf, type SubjectKind, sendVote, subjectKeys } from './queries.ts'

type Subject = {
  kind: SubjectKind
  code: string
  shown: Transfer | ApprovalRequest | Payout
  isOpen: boolean
  /** The document that the page shows and a vote signs. Null where the page shows no document; then nothing is signed. */
  toSign: Waiting | null
  /** The reason why nobody can vote on it now, if any. The page says more about it. */
  heldBecause?: string | null
  /** The reason why it can only be rejected, if any. */
  notApprovedBecause?: string | null
}

type Voter = Transfer['approvers'][number]

type DecideProps = { subject: Subject /** Repeated at the second tap. */; summary: ReactNode }

/**
 * The two taps of a vote: the decision, and its confirmation with a summary. The result that is shown is the answer of
 * the service, never a guess.
 */
export function Decide({ subject, summary }: DecideProps) {
  const { data: session } = useQuery(sessionQuery)
  const [decision, setDecision] = useState<'approve' | 'reject' | null>(null)
  const vote = subject.shown.approvers.find(({ userId }) => userId === session?.user.id)
  const isSwapped = useIsSwapped(subject.toSign)
  const off = reasonNotToVote(subject, vote) ?? (isSwapped ? swapped() : (subject.heldBecause ?? null))
  const notApproved = subject.notApprovedBecause ?? null
  useKeys('a', () => off === null && notApproved === null && setDecision('approve'), {}, [off, notApproved])
  useKeys('r', () => off === null && setDecision('reject'), {}, [off])
  if (session === undefined) return null
  if (vote === undefined || vote.decision !== null || !subject.isOpen)
    return <Outcome vote={vote} isOpen={subject.isOpen} />
  return (
    <>
      {isSwapped && (
        <p role="alert" className="mt-4 font-medium text-bad">
          {swapped()}
        </p>
      )}
      {/* Stays in sight below a long list. Otherwise the buttons would move, because rows are measured as they come
          into view. */}
      <div className="sticky bottom-16 z-30 -mx-4 mt-4 flex flex-wrap gap-3 border-t border-line bg-paper p-4 md:bottom-0 md:mx-0 md:border-0 md:bg-ground md:px-0 md:py-3">
        {subject.heldBecause && <p className="basis-full font-medium text-bad">{subject.heldBecause}</p>}
        {(
          [
            ['reject', 'danger', X, t('Reject')],
            ['approve', 'primary', Check, t('Approve')],
          ] as const
        ).map(([choice, look, Icon, word]) => (
          <Button
            key={choice}
            look={look}
            className="flex-1 md:flex-none"
            icon={<Icon size={18} aria-hidden />}
            disabledBecause={off ?? (choice === 'approve' ? notApproved : null)}
            onClick={() => setDecision(choice)}
          >
            {word}
          </Button>
        ))}
      </div>
      <Sheet
        title={decision === 'reject' ? t('Reject this?') : t('Approve this?')}
        open={decision !== null && off === null}
        onClose={() => setDecision(null)}
      >
        {decision !== null && <Confirm {...{ subject, decision, summary }} close={() => setDecision(null)} />}
      </Sheet>
    </>
  )
}

const swapped = () => t('What would be signed changed after you opened this page. Open it again, and read it anew.')

/**
 * Returns true if the document changed after the page first showed it. Then nothing is signed, because it could have
 * been swapped just before the tap.
 */
function useIsSwapped(toSign: Waiting | null): boolean {
  const [first, keep] = useState<string | null>(null)
  const [isSwapped, swap] = useState(false)
  const text = useMemo(() => (toSign === null ? null : textOf(toSign)), [toSign])
  if (first === null && text !== null) keep(text)
  if (!isSwapped && first !== null && text !== null && text !== first) swap(true)
  return isSwapped
}

const textOf = (toSign: Waiting) =>
  JSON.stringify(toSign, (_, value) => (typeof value === 'bigint' ? String(value) : value))

/** Returns why the reader cannot vote, or null. '' hides the buttons and turns off the keys, because there is no vote. */
function reasonNotToVote({ isOpen }: Subject, vote: Voter | undefined): string | null {
  if (!isOpen || vote?.decision !== null) return ''
  return vote.canVote ? null : t('You cannot vote on this, for example because you requested it.')
}

function Confirm({
  subject,
  decision,
  summary,
  close,
}: DecideProps & { decision: 'approve' | 'reject'; close: () => void }) {
  const client = useQueryClient()
  const [comment, setComment] = useState('')
  const [missing, setMissing] = useState(false)
  // A signed veto ends the votes of an order at the wallet service. A veto of an approval request ends nothing there.
  const canStop = decision === 'reject' && subject.kind !== 'request' && subject.toSign !== null
  const [isSigned, sign] = useState(true)
  const { data: vault } = useQuery(vaultQuery(subject.code))
  const mustAccept = decision === 'reject' && subject.kind !== 'request' && !canStop && vault?.protection !== 'off'
  const [accepted, accept] = useState(false)
  const queryKey = [subjectKeys[subject.kind], subject.code, subject.shown.id]
  const vote = useMutation({
    mutationFn: () => sendVote({ ...subject, decision, comment: comment.trim(), isSigned: canStop && isSigned }),
    onSuccess: async (answer) => {
      client.setQueryData(queryKey, answer)
      close()
      // The answer lacks members that only the page's own query returns.
      void client.invalidateQueries({ queryKey })
      await client.invalidateQueries({ queryKey: ['inbox'] })
    },
    // Another voter may have been faster. The page then shows the new state.
    onError: () => client.invalidateQueries({ queryKey }),
  })
  const reasons = [t('Unknown recipient'), t('Wrong amount'), t('Not expected')]
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if ((decision === 'reject' && comment.trim() === '') || (mustAccept && !accepted)) setMissing(true)
        else vote.mutate()
      }}
    >
      <div className="mb-4 rounded-md bg-ground p-3">{summary}</div>
      {decision === 'reject' && (
        <fieldset className="mb-3 flex flex-wrap gap-2">
          <legend className="mb-1 font-medium">{t('Why?')}</legend>
          {reasons.map((reason) => (
            <Button key={reason} aria-pressed={comment === reason} onClick={() => setComment(reason)}>
              {reason}
            </Button>
          ))}
        </fieldset>
      )}
      <TextArea
        label={decision === 'reject' ? t('Reason') : t('Comment (optional)')}
        value={comment}
        maxLength={500}
        error={missing && comment.trim() === '' ? t('Give a reason so that the initiator can correct it.') : null}
        onChange={({ target }) => setComment(target.value)}
      />
      {canStop && <StopChoice isSigned={isSigned} choose={sign} />}
      {mustAccept && <UnsignedVeto {...{ accepted, accept }} isMissing={missing && !accepted} />}
      {vote.isError && <Failed error={vote.error} retry={() => vote.mutate()} />}
      <div className="mt-4 flex justify-end gap-3">
        <Button onClick={close}>{t('Back')}</Button>
        <Button type="submit" look={decision === 'reject' ? 'danger' : 'primary'} busy={vote.isPending}>
          {decision === 'reject' ? t('Confirm the rejection') : t('Confirm')}
        </Button>
      </div>
    </form>
  )
}

type UnsignedVetoProps = { accepted: boolean; accept: (accepted: boolean) => void; isMissing: boolean }

/**
 * A veto is always possible. If the page cannot sign it, the voter is told what an unsigned veto does not stop, and
 * must accept that.
 */
function UnsignedVeto({ accepted, accept, isMissing }: UnsignedVetoProps) {
  return (
    <div role={isMissing ? 'alert' : undefined} className={isMissing ? 'text-bad' : undefined}>
      <CheckField
        label={t('Reject it without a signature')}
        checked={accepted}
        onChange={({ target }) => accept(target.checked)}
        hint={t(
          'This page could not load what a signature would be about, so this veto is not signed. It stops nothing at the wallet service: votes that were signed before stay valid there, and an attacker who takes over this service could use them. Load the page again to sign it.',
        )}
      />
    </div>
  )
}

/** The vote of the reader, and a link to the next item that waits. */
function Outcome({ vote, isOpen }: { vote: Voter | undefined; isOpen: boolean }) {
  return (
    <div role="status" className="mt-4 flex flex-wrap items-center gap-3">
      {vote?.decision === 'approve' && <p className="font-medium text-good">{t('You approved this.')}</p>}
      {vote?.decision === 'reject' && <p className="font-medium text-bad">{t('You rejected this.')}</p>}
      {vote === undefined && isOpen && <p className="text-quiet">{t('Your vote is not asked for here.')}</p>}
      {vote !== undefined && <NextWaiting />}
    </div>
  )
}

function NextWaiting() {
  const { data } = useQuery(nextWaitingQuery)
  if (data === undefined || data === null) return <p className="text-quiet">{t('Nothing else waits for you.')}</p>
  return (
    <Link to={pathOf(data) as '/'} className={buttonClass('plain')}>
      {t('Next: what else waits')}
    </Link>
  )
}
