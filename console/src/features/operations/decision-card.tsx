import type { PolicyTrace, Transfer } from '@strongroom/sdk'
import { Check, Minus } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { nameOf as nameOfPerson } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { useTraceNames } from './names.ts'
import { decisionSentence, type NameOf, policySentence, ruleSentence, selectorSentence } from './trace.ts'

/** The decision of the policies, and on demand the reason, each policy in words. */
export function DecisionCard({ code, transfer }: { code: string; transfer: Transfer }) {
  const [open, setOpen] = useState(false)
  const { decision } = transfer
  if (decision === undefined) return null
  const policy = decision.decisionPolicy?.name ?? transfer.decisionPolicyName
  return (
    <Card title={t('Decision of the policies')}>
      <p>{decisionSentence({ effect: decision.effect, policy, votes: transfer.approvalThreshold })}</p>
      {decision.trace.length > 0 && (
        <div className="mt-3">
          <Button aria-expanded={open} onClick={() => setOpen(!open)}>
            {open
              ? t('Hide the policies')
              : t('{count, plural, one {Why: # policy was looked at} other {Why: # policies were looked at}}', {
                  count: decision.trace.length,
                })}
          </Button>
          {open && <Trace code={code} transfer={transfer} trace={decision.trace} />}
        </div>
      )}
    </Card>
  )
}

function Trace({ code, transfer, trace }: { code: string; transfer: Transfer; trace: readonly PolicyTrace[] }) {
  const nameOf = useTraceNames(code, trace, peopleOf(transfer))
  // Matching policies come first, because the reader looks for them.
  const sorted = trace.toSorted((a, b) => Number(b.matched) - Number(a.matched))
  return (
    <ol className="mt-4 grid gap-4">
      {sorted.map((policy) => (
        <li key={policy.policyId} className="border-l-2 border-line pl-3">
          <p className={policy.matched ? 'font-medium' : 'text-quiet'}>
            {policySentence(policy, transfer.decisionPolicyId, nameOf)}
          </p>
          {policy.rules.map((rule, index) => (
            <Rule key={index} rule={rule} nameOf={nameOf} />
          ))}
          {policy.rules.length === 0 && <p className="text-quiet">{t('It has no conditions: it always applies.')}</p>}
        </li>
      ))}
    </ol>
  )
}

function Rule({ rule, nameOf }: { rule: PolicyTrace['rules'][number]; nameOf: NameOf }) {
  return (
    <div className="mt-1 text-[0.875rem]">
      {(rule.selectors.length > 1 || rule.conditionType === 'exclude') && (
        <p className="text-quiet">{ruleSentence(rule)}</p>
      )}
      <ul>
        {rule.selectors.map((selector, index) => (
          <li key={index} className="flex gap-2 py-0.5">
            {selector.matched ? (
              <Check size={15} aria-label={t('so')} className="mt-0.5 shrink-0 text-good" />
            ) : (
              <Minus size={15} aria-label={t('not so')} className="mt-0.5 shrink-0 text-quiet" />
            )}
            <span className="min-w-0 [overflow-wrap:anywhere]">{selectorSentence(selector, nameOf)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Returns the names that the transfer itself contains. */
function peopleOf(transfer: Transfer): Record<string, string> {
  const people = [transfer.initiator, ...transfer.approvers.map(({ user }) => user)]
  const names = Object.fromEntries(people.map((person) => [person.id, nameOfPerson(person)]))
  if (transfer.counterparty !== null) names[transfer.counterparty.id] = transfer.counterparty.name
  return names
}
