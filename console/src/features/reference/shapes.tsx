import { useState } from 'react'
import { t } from '../../lib/language.ts'
import type { Component, Shape } from './types.ts'
import { Words } from './words.tsx'

type Components = Readonly<Record<string, Component>>

/** The members of an object, each with its type, limits, values and example. Required members are marked. */
export function Members({ shapes, components }: { shapes: readonly Shape[]; components: Components }) {
  return (
    <ul className="divide-y divide-line">
      {shapes.map((shape, index) => (
        <Member key={shape.name ?? index} shape={shape} components={components} />
      ))}
    </ul>
  )
}

function Member({ shape, components }: { shape: Shape; components: Components }) {
  const { name, type, required, about, limits = [], values, example } = shape
  return (
    <li className="py-3">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="code font-semibold [overflow-wrap:anywhere]" lang="en">
          {name}
        </span>
        <span className="text-[0.8125rem] text-quiet" lang="en">
          {type}
        </span>
        {required === true && (
          <span className="text-[0.75rem] font-medium tracking-wide text-warn uppercase">{t('required')}</span>
        )}
      </p>
      {about !== undefined && (
        <p lang="en" className="mt-1">
          <Words text={about} />
        </p>
      )}
      {(limits.length > 0 || values !== undefined) && <Limits limits={limits} values={values ?? []} />}
      {isShort(example) && (
        <p className="mt-1 text-[0.8125rem] text-quiet">
          {t('Example')} <code className="code [overflow-wrap:anywhere]">{String(example)}</code>
        </p>
      )}
      <Nested shape={shape} components={components} />
    </li>
  )
}

function Limits({ limits, values }: { limits: readonly string[]; values: readonly unknown[] }) {
  return (
    <p lang="en" className="mt-1 flex flex-wrap gap-x-3 gap-y-1 text-[0.8125rem] text-quiet [overflow-wrap:anywhere]">
      {limits.map((limit) => (
        <span key={limit} className={limit.includes('matches ') ? 'code' : ''}>
          {limit}
        </span>
      ))}
      {values.map((value) => (
        <code key={String(value)} className="code rounded-sm bg-line/40 px-1">
          {String(value)}
        </code>
      ))}
    </p>
  )
}

const isShort = (example: unknown) => ['string', 'number', 'boolean'].includes(typeof example) && example !== ''

/** Nested members open one level at a time, because a component may contain itself. */
function Nested({ shape: { name, ref, fields, choices }, components }: { shape: Shape; components: Components }) {
  const [open, setOpen] = useState(false)
  const inside = choices ?? fields ?? (ref === undefined ? [] : (components[ref]?.fields ?? []))
  if (inside.length === 0) return null
  const count = inside.length
  return (
    <details className="mt-2 rounded-md border border-line" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="min-h-11 cursor-pointer px-3 py-2 text-[0.8125rem] font-medium text-accent md:min-h-9">
        {choices === undefined
          ? t('{count, plural, one {# field} other {# fields}} of {name}', { count, name: name ?? ref ?? '' })
          : t('{count, plural, one {# form} other {# forms}} of {name}', { count, name: name ?? '' })}
      </summary>
      {open && (
        <div className="border-t border-line px-3">
          <Members shapes={inside} components={components} />
        </div>
      )}
    </details>
  )
}

/** A request or an answer, with its members if it has any. */
export function Whole({ shape, components }: { shape: Shape; components: Components }) {
  const { type, about, ref = '', choices, fields } = shape
  const component = components[ref]
  const text = about ?? component?.about
  const inside = choices ?? fields ?? component?.fields ?? []
  return (
    <>
      <p lang="en" className="pt-3 text-quiet">
        {text !== undefined && <Words text={text} />} <code className="code">{type}</code>
      </p>
      <Members shapes={inside} components={components} />
    </>
  )
}
