import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { Answers, Refusals } from './answers.tsx'
import { Samples } from './samples.tsx'
import { Members, Whole } from './shapes.tsx'
import type { Component, Group, Operation, Parameter, Reason } from './types.ts'
import { Path, VerbMark, Words } from './words.tsx'

type OperationViewProps = {
  group: Group
  operation: Operation
  components: Readonly<Record<string, Component>>
  reasons: readonly Reason[]
  /** The first vault of the reader, for the examples. */
  vaultCode: string | null
}

/** An operation: its description at the left, calls and answers at the right. */
export function OperationView({ group, operation, components, reasons, vaultCode }: OperationViewProps) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const known = vaultCode === null ? values : { code: vaultCode, ...values }
  const { verb, path, summary, about, callers, scope, parameters, body } = operation
  return (
    <>
      <title>{`${summary} · Strongroom`}</title>
      <div className="gap-x-10 xl:grid xl:grid-cols-[minmax(0,1fr)_minmax(0,30rem)] xl:grid-rows-[auto_1fr]">
        <div className="min-w-0">
          <p className="mb-1 text-[0.8125rem] text-quiet" lang="en">
            {group.name}
          </p>
          <h1 lang="en">{summary}</h1>
          <p className="mt-2 mb-4 flex flex-wrap items-baseline gap-x-3">
            <VerbMark verb={verb} />
            <Path path={path} />
          </p>
          <p lang="en" className="mb-4 max-w-prose">
            <Words text={about} />
          </p>
          <p className="mb-6 rounded-md border border-line bg-paper px-3 py-2">
            <span className="font-medium">{t('Who may call it')}:</span> <span lang="en">{callers}</span>
            {scope !== undefined && (
              <>
                <br />
                <span className="font-medium">{t('Scope of a service token')}:</span> <code>{scope}</code>
              </>
            )}
          </p>
        </div>
        <div className="mb-4 min-w-0 xl:sticky xl:top-0 xl:row-span-2 xl:max-h-dvh xl:self-start xl:overflow-y-auto">
          <Samples
            {...{ operation, reasons }}
            values={known}
            change={(name, value) => setValues({ ...values, [name]: value })}
          />
        </div>
        <div className="min-w-0">
          <ParameterList title={t('In the path')} place="path" {...{ parameters, components }} />
          <ParameterList title={t('In the query')} place="query" {...{ parameters, components }} />
          <ParameterList title={t('Headers')} place="header" {...{ parameters, components }} />
          {body !== undefined && (
            <section className="mb-8">
              <h2 className="border-b border-line pb-2">{t('Body')}</h2>
              <Whole shape={body} components={components} />
            </section>
          )}
          <Answers operation={operation} components={components} />
          <Refusals operation={operation} reasons={reasons} />
        </div>
      </div>
    </>
  )
}

type ParameterListProps = {
  title: string
  place: Parameter['in']
  parameters: readonly Parameter[]
  components: Readonly<Record<string, Component>>
}

function ParameterList({ title, place, parameters, components }: ParameterListProps) {
  const shown = parameters.filter((parameter) => parameter.in === place)
  if (shown.length === 0) return null
  return (
    <section className="mb-8">
      <h2 className="border-b border-line pb-2">{title}</h2>
      <Members shapes={shown} components={components} />
    </section>
  )
}
