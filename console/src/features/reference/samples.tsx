import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { Tabs } from '../../ui/tabs.tsx'
import { CodeBlock } from './code-block.tsx'
import { Run } from './run.tsx'
import { curlOf, json, sdkOf, type Values } from './snippets.ts'
import type { Operation, Reason } from './types.ts'

type SamplesProps = {
  operation: Operation
  reasons: readonly Reason[]
  values: Values
  change: (name: string, value: string) => void
}

/** Sample calls, a trial, and the possible answers. */
export function Samples({ operation, reasons, values, change }: SamplesProps) {
  const [tab, choose] = useState(tabNow)
  const { origin } = window.location
  const sdk = sdkOf(operation, values, origin)
  const tabs = [
    { key: 'curl', label: 'curl' },
    { key: 'sdk', label: 'SDK' },
  ]
  return (
    <>
      <h2 className="sr-only">{t('How to call it')}</h2>
      <Tabs
        label={t('How to call it')}
        tabs={sdk === null ? tabs.slice(0, 1) : tabs}
        current={sdk === null ? 'curl' : tab}
        onChoose={(key) => {
          localStorage.setItem(storageKey, key)
          choose(key)
        }}
      >
        {sdk === null || tab === 'curl' ? (
          <CodeBlock title={t('Command')} text={curlOf(operation, values, origin)} />
        ) : (
          <CodeBlock title={t('Program')} text={sdk} />
        )}
      </Tabs>
      {operation.run && <Run key={operation.id} {...{ operation, values, change }} />}
      <ExampleAnswers key={`${operation.id} answers`} {...{ operation, reasons }} />
    </>
  )
}

/** This browser remembers which of the two samples its reader uses. */
const storageKey = 'strongroom.reference'
const tabNow = () => (localStorage.getItem(storageKey) === 'sdk' ? 'sdk' : 'curl')

/** An example for each outcome. */
function ExampleAnswers({ operation, reasons }: { operation: Operation; reasons: readonly Reason[] }) {
  const outcomes = outcomesOf(operation, reasons)
  const [chosen, choose] = useState(outcomes[0]!.key)
  const { text } = outcomes.find(({ key }) => key === chosen)!
  return (
    <>
      <h2 className="sr-only">{t('Examples of answers')}</h2>
      <CodeBlock title={t('Answer')} text={text}>
        <select
          aria-label={t('Outcome')}
          className="code max-w-full rounded-sm border border-line bg-paper px-1 py-0.5"
          value={chosen}
          onChange={({ target }) => choose(target.value)}
        >
          {outcomes.map(({ key }) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
      </CodeBlock>
    </>
  )
}

function outcomesOf({ answers, refusals }: Operation, reasons: readonly Reason[]): { key: string; text: string }[] {
  const done = answers.map(({ status, about, example, media = [] }) => ({
    key: String(status),
    text: example === undefined ? [about, ...media].join('\n') : json(example),
  }))
  const refused = refusals.flatMap(({ status, about, reasons: names }) => {
    if (names.length === 0) return [{ key: String(status), text: about }]
    return names.map((name) => ({
      key: `${status} ${name}`,
      text: json(reasons.find((reason) => reason.name === name)?.body),
    }))
  })
  return [...done, ...refused]
}
