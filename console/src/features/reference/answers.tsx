import { t } from '../../lib/language.ts'
import { Whole } from './shapes.tsx'
import type { Component, Operation, Reason } from './types.ts'
import { Words } from './words.tsx'

/** The answers of a successful request. */
export function Answers({
  operation,
  components,
}: {
  operation: Operation
  components: Readonly<Record<string, Component>>
}) {
  return operation.answers.map(({ status, about, media = [], shape }) => (
    <section key={status} className="mb-8">
      <h2 className="border-b border-line pb-2">
        {t('Answer {status}', { status })}
        {media.some((type) => type !== 'application/json') && (
          <span className="code ml-3 font-normal text-quiet [overflow-wrap:anywhere]">{media.join(', ')}</span>
        )}
      </h2>
      {shape === undefined ? (
        <p lang="en" className="py-3">
          <Words text={about} />
        </p>
      ) : (
        <Whole shape={shape.about === undefined ? { ...shape, about } : shape} components={components} />
      )}
    </section>
  ))
}

/** The reasons of refusals: first those particular to this operation, then those common to nearly all operations. */
export function Refusals({ operation, reasons }: { operation: Operation; reasons: readonly Reason[] }) {
  const named = new Set(operation.refusals.flatMap((refusal) => refusal.reasons))
  const possible = reasons.filter(({ name }) => named.has(name))
  const special = possible.filter(({ common }) => common !== true)
  const common = possible.filter((reason) => reason.common === true)
  return (
    <section className="mb-8">
      <h2 className="border-b border-line pb-2">{t('Refusals')}</h2>
      <ReasonList reasons={special} />
      {common.length > 0 && (
        <details className="mt-2">
          <summary className="min-h-11 cursor-pointer py-2 text-accent md:min-h-9">
            {t('{count} more that nearly every operation has', { count: common.length })}
          </summary>
          <ReasonList reasons={common} />
        </details>
      )}
    </section>
  )
}

/** Reasons, each with its meaning and the remedy. */
export function ReasonList({ reasons }: { reasons: readonly Reason[] }) {
  return (
    <dl className="divide-y divide-line">
      {reasons.map(({ name, status, meaning, remedy }) => (
        <div key={name} className="py-3 sm:grid sm:grid-cols-[15rem_minmax(0,1fr)] sm:gap-4">
          <dt className="[overflow-wrap:anywhere]">
            <span className="figures mr-2 text-quiet">{status}</span>
            <code className="code font-semibold">{name}</code>
          </dt>
          <dd lang="en">
            <Words text={meaning} />
            <span className="block text-quiet">
              <Words text={remedy} />
            </span>
          </dd>
        </div>
      ))}
    </dl>
  )
}
