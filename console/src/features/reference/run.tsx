import { Play } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { signIn } from '../../lib/api.ts'
import { messageOf } from '../../lib/error-words.ts'
import { t } from '../../lib/language.ts'
import { type Exchange, tryRead } from '../../lib/reads.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { CodeBlock } from './code-block.tsx'
import { json, pathOf, type Values } from './snippets.ts'
import type { Operation, Parameter } from './types.ts'

type RunProps = { operation: Operation; values: Values; change: (name: string, value: string) => void }
type Result = { exchange: Exchange } | { fault: string } | null

/**
 * Runs a read operation in the name of the reader, with the entered parameters. Operations that write cannot be tried
 * here.
 */
export function Run({ operation, values, change }: RunProps) {
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<Result>(null)
  const under = useRef<AbortController>(null)
  useEffect(() => () => under.current?.abort(), [])
  const run = async () => {
    const controller = new AbortController()
    under.current = controller
    setBusy(true)
    const answer = await tryRead(pathOf(operation, values), controller.signal).then(
      (exchange) => ({ exchange }),
      (error: unknown) => ({ fault: messageOf(error) }),
    )
    if (controller.signal.aborted) return
    setResult(answer)
    setBusy(false)
  }
  const inputs = operation.parameters.filter((parameter) => parameter.in !== 'header')
  const needed = inputs.filter(({ required }) => required === true)
  const missing = needed.filter(({ name }) => (values[name] ?? '') === '')
  const names = missing.map(({ name }) => name).join(', ')
  const because = names === '' ? null : t('Fill in {names} first', { names })
  const others = inputs.filter(({ required }) => required !== true)
  const field = (parameter: Parameter) => (
    <Input key={parameter.name} {...{ parameter, change }} value={values[parameter.name] ?? ''} />
  )
  return (
    <form
      className="mb-4 rounded-lg border border-line bg-paper p-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy && because === null) void run()
      }}
    >
      <h2 className="mb-3">{t('Try it')}</h2>
      {needed.map(field)}
      {others.length > 0 && (
        <details className="mb-3">
          <summary className="min-h-11 cursor-pointer py-2 text-accent md:min-h-9">
            {t('{count, plural, one {# more parameter} other {# more parameters}}', { count: others.length })}
          </summary>
          <div className="pt-2">{others.map(field)}</div>
        </details>
      )}
      <Button look="primary" type="submit" busy={busy} icon={<Play size={15} aria-hidden />} disabledBecause={because}>
        {t('Run as me')}
      </Button>
      {because !== null && <p className="mt-2 text-[0.8125rem] text-quiet">{because}</p>}
      <div aria-live="polite">{result !== null && <Outcome result={result} />}</div>
    </form>
  )
}

function Input({
  parameter: { name, type, values = type === 'boolean' ? [true, false] : undefined, example },
  value,
  change,
}: {
  parameter: Parameter
  value: string
  change: (name: string, value: string) => void
}) {
  const set = ({ target }: { target: { value: string } }) => change(name, target.value.trim())
  if (values === undefined) {
    const hint = example === undefined ? undefined : String(example)
    return <TextField label={name} value={value} onChange={set} placeholder={hint} spellCheck={false} lang="en" />
  }
  return (
    <SelectField label={name} value={value} onChange={set} lang="en">
      <option value="">–</option>
      {values.map((option) => (
        <option key={String(option)}>{String(option)}</option>
      ))}
    </SelectField>
  )
}

function Outcome({ result }: { result: NonNullable<Result> }) {
  if ('fault' in result) return <p className="mt-3 text-bad">{result.fault}</p>
  const { status, ms, type, text } = result.exchange
  const isDone = status >= 200 && status < 300
  return (
    <div className="mt-3">
      <p className="figures mb-2 flex flex-wrap items-center gap-3">
        <Badge tone={isDone ? 'good' : 'bad'}>{String(status)}</Badge>
        <span className="text-quiet">{t('{ms} ms', { ms })}</span>
      </p>
      {status === 401 && (
        <p className="mb-2">
          <button type="button" className="text-accent underline" onClick={signIn}>
            {t('Sign in, and come back here')}
          </button>
        </p>
      )}
      {text === null ? <p className="code">{type}</p> : <CodeBlock title={t('What came back')} text={pretty(text)} />}
    </div>
  )
}

function pretty(text: string): string {
  try {
    return json(JSON.parse(text))
  } catch {
    return text
  }
}
