import type { TransferOrder, TransferPreview } from '@strongroom/sdk'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Ban, CircleCheck, Clock } from 'lucide-react'
import type { ReactNode } from 'react'
import { faultsOf } from '../../lib/forms.ts'
import { said, t } from '../../lib/language.ts'
import { spendsOutputs, useNetwork } from '../../lib/networks.ts'
import { nameOf } from '../../lib/session.ts'
import { Amount, Usd } from '../../ui/amount.tsx'
import { Badge } from '../../ui/badge.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Facts } from '../../ui/page.tsx'
import { previewQuery } from './queries.ts'
import { comparisonsOf } from './refusal.ts'

type Props = {
  code: string
  /** The order since the form last rested; null while something is missing. */
  order: TransferOrder | null
  /** True if the form has changed since. */
  isStale: boolean
  symbol: string
  network: string | undefined
}

/** The outcome of the order before it is placed. */
export function PreviewPanel({ code, order, isStale, symbol, network }: Props) {
  const returnsRest = spendsOutputs(useNetwork(network))
  const preview = useQuery(previewQuery(code, order))
  return (
    <section
      aria-label={t('What would happen')}
      aria-live="polite"
      aria-busy={isStale || preview.isFetching}
      className="rounded-lg border border-line bg-paper p-4 xl:sticky xl:top-6"
    >
      <h2 className="mb-3">{t('What would happen')}</h2>
      {order === null || isStale ? (
        <p className="text-quiet">
          {isStale
            ? t('Checking the policies …')
            : t('Enter sender, recipient and amount to see what the policies decide.')}
        </p>
      ) : (
        <PreviewState query={preview}>
          {preview.data && <Preview preview={preview.data} symbol={symbol} returnsRest={returnsRest} />}
        </PreviewState>
      )}
    </section>
  )
}

/** Shows the service's messages about fields, which also stand at the fields. */
function PreviewState({ query, children }: { query: UseQueryResult<TransferPreview>; children: ReactNode }) {
  const faults = faultsOf(query.error)
  if (faults.length === 0) return <DetailState query={query}>{children}</DetailState>
  return (
    <ul className="grid gap-2 text-bad">
      {faults.map(({ field, message }) => (
        <li key={field}>{fieldWords()[field] === undefined ? message : `${fieldWords()[field]}: ${message}`}</li>
      ))}
    </ul>
  )
}

const fieldWords = (): Record<string, string> => ({ toAddress: t('Recipient'), amount: t('Amount') })

function Preview({ preview, symbol, returnsRest }: { preview: TransferPreview; symbol: string; returnsRest: boolean }) {
  const { fee, maxFee, remaining, usdValue, isFirstPayment, problems, availableDecimal } = preview
  return (
    <>
      <Verdict preview={preview} />
      {problems.length > 0 && (
        <ul className="mb-3 grid gap-2">
          {problems.map(({ code, message, blocks }) => (
            <li key={code} className="grid gap-1">
              <span>
                <Badge tone={blocks ? 'bad' : 'warn'}>{blocks ? t('Would be refused') : t('Could fail')}</Badge>
              </span>
              {said(message, code)}
            </li>
          ))}
        </ul>
      )}
      <Facts
        facts={[
          [t('Value'), usdValue === null ? null : <Usd key="usd" value={usdValue} />],
          [
            t('Fee, estimated'),
            fee === null ? t('not known right now') : <Amount key="fee" decimal={fee.amountDecimal} unit={fee.asset} />,
          ],
          [
            t('Fee at most'),
            maxFee === null ? null : <Amount key="limit" decimal={maxFee.amountDecimal} unit={maxFee.asset} />,
          ],
          [t('Available'), <Amount key="now" decimal={availableDecimal} unit={symbol} />],
          [
            t('Remains'),
            remaining.token && (
              <Amount key="rest" decimal={remaining.token.amountDecimal} unit={remaining.token.asset} />
            ),
          ],
          [t('Rest of the spent coins'), returnsRest ? t('comes back to the sender') : null],
          [
            t('Remains for gas'),
            remaining.nativeCoin && remaining.nativeCoin.asset !== remaining.token?.asset && (
              <Amount key="gas" decimal={remaining.nativeCoin.amountDecimal} unit={remaining.nativeCoin.asset} />
            ),
          ],
          [
            t('Recipient'),
            isFirstPayment ? (
              <Badge key="first" tone="warn">
                {t('First payment')}
              </Badge>
            ) : (
              t('paid before')
            ),
          ],
        ]}
      />
    </>
  )
}

/** The verdict: sent at once, waiting for approvers, or refused by a policy. */
function Verdict({ preview: { decision, trace } }: { preview: TransferPreview }) {
  if (decision.effect === 'allow') {
    return (
      <p className="mb-3 flex items-center gap-2 font-semibold text-good">
        <CircleCheck size={18} aria-hidden /> {t('Goes out at once')}
      </p>
    )
  }
  if (decision.effect === 'approval') {
    return (
      <div className="mb-3">
        <p className="mb-1 flex items-center gap-2 font-semibold text-accent">
          <Clock size={18} aria-hidden /> {t('Waits for votes')}
        </p>
        <ul className="grid gap-2">
          {decision.requirements.map((requirement) => (
            <li key={requirement.policyId}>
              {waitsFor(requirement)}
              <span className="block text-[0.8125rem] text-quiet">
                {t('by the policy')} <span className="code">{requirement.policyCode}</span>
              </span>
            </li>
          ))}
        </ul>
      </div>
    )
  }
  const blocking = trace.filter(({ policyId }) => policyId === decision.decisionPolicy?.id)
  return (
    <div className="mb-3">
      <p className="mb-1 flex items-center gap-2 font-semibold text-bad">
        <Ban size={18} aria-hidden />
        {decision.effect === 'block' ? t('Refused by a policy') : t('Refused: no policy permits it')}
      </p>
      {decision.blockReason !== null && <p className="mb-2">{decision.blockReason}</p>}
      {decision.decisionPolicy !== null && <p className="mb-2 font-medium">{decision.decisionPolicy.name}</p>}
      {(decision.effect === 'block' ? blocking : trace).map((policy) => (
        <Comparisons key={policy.policyId} policy={policy} />
      ))}
    </div>
  )
}

type Requirement = TransferPreview['decision']['requirements'][number]
const namesMax = 5

/** Returns a text such as "Waits for 2 of Board: Anna, Ben, and 3 others". */
function waitsFor({ threshold, bypassed, approvers, approversCount }: Requirement): string {
  if (bypassed) return t('No vote is needed, because you administer the vault.')
  if (approversCount === 0) return t('Waits for {threshold}, but nobody may vote.', { threshold })
  const names = approvers.slice(0, namesMax).map(nameOf).join(', ')
  const others = approversCount - Math.min(namesMax, approvers.length)
  return others > 0
    ? t('Waits for {threshold} of {names} and {others, plural, one {# other} other {# others}}', {
        threshold,
        names,
        others,
      })
    : t('Waits for {threshold} of {names}', { threshold, names })
}

/** The comparisons of a policy: rule, expected and observed value. */
function Comparisons({ policy }: { policy: TransferPreview['trace'][number] }) {
  const comparisons = comparisonsOf(policy)
  if (comparisons.length === 0) return null
  return (
    <div className="mb-2 rounded-md border border-line p-2">
      <p className="code mb-1 text-quiet">{policy.policyCode}</p>
      {comparisons.map(({ what, expected, observed }, index) => (
        <p key={index} className="mb-1 [overflow-wrap:anywhere]">
          <span className="font-medium">{what}</span>
          <span className="block text-[0.8125rem]">
            {t('The policy says {expected}; here it is {observed}.', { expected, observed })}
          </span>
        </p>
      ))}
    </div>
  )
}
