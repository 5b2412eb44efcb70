import { CircleAlert } from 'lucide-react'
import { t } from '../../lib/language.ts'
import type { Fault } from './faults.ts'
import type { Vocabulary } from './queries.ts'
import { subjectWord } from './words.ts'

/** The faults of a policy, each with advice. */
export function FaultList({ faults, vocabulary }: { faults: readonly Fault[]; vocabulary: Vocabulary }) {
  if (faults.length === 0) return null
  return (
    <ul className="grid gap-2">
      {faults.map((fault) => (
        <li key={fault.kind} className="flex gap-2 rounded-md bg-warn-soft p-3 text-warn">
          <CircleAlert size={18} aria-hidden className="mt-0.5 shrink-0" />
          <span>{faultWords(fault, vocabulary)}</span>
        </li>
      ))}
    </ul>
  )
}

export function faultWords(fault: Fault, { names }: Vocabulary): string {
  switch (fault.kind) {
    case 'too_few_approvers':
      return t(
        'Nobody can reach the threshold: {needed, plural, one {# vote is} other {# votes are}} needed and {approvers, plural, =0 {nobody} one {# person} other {# people}} may vote. Add approvers or lower the threshold.',
        { ...fault },
      )
    case 'too_few_for':
      return t(
        'Orders of {people} fail: initiators may not vote on their own orders, and too few other voters remain. Add an approver, or let initiators vote.',
        { people: fault.initiators.map((id) => names('member', id)).join(', ') },
      )
    case 'never_matches':
      return t('This policy never applies: two conditions on {subject} exclude each other.', {
        subject: subjectWord(fault.selectorType),
      })
    case 'nobody_in_group':
      return t('This policy applies to nobody: its group has no members.')
    case 'nothing_allows':
      return t(
        'No policy allows this action: every order is refused. Add a policy that allows the action or asks for votes.',
      )
  }
}
