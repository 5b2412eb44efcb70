import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import type { Component, Shape } from './types.ts'
import { Words } from './words.tsx'

type Components = Readonly<Record<string, Component>>

/** The members of an object: required ones with the word, each with its type, limits, values and example. */
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
        <code key={String(value)} className="code rounded-sm bg-ground px-1">
          {String(value)}
        </code>
      ))}
    </p>
  )
}

const isShort = (example: unknown) => ['string', 'number', 'boolean'].includes(typeof example) && example !== ''

/** Members of members open one level at a time: a component may contain itself. */
function Nested({ shape: { name, ref, fields, choices }, components }: { shape: Shape; components: Components }) {
  const [open, setOpen] = useState(false)
  const inside = choices ?? fields ?? (ref === undefined ? [] : (components[ref]?.fields ?? []))
  if (inside.length === 0) return null
  const Icon = open ? ChevronDown : ChevronRight
  const count = inside.length
  return (
    <div className="mt-2 rounded-md border border-line">
      <button
        type="button"
        aria-expanded={open}
        className="flex min-h-11 w-full items-center gap-2 px-3 text-left text-[0.8125rem] font-medium text-accent md:min-h-9"
        onClick={() => setOpen(!open)}
      >
        <Icon size={15} aria-hidden />
        {choices === undefined
          ? t('{count, plural, one {# field} other {# fields}} of {name}', { count, name: name ?? ref ?? '' })
          : t('{count, plural, one {# form} other {# forms}} of {name}', { count, name: name ?? '' })}
      </button>
      {open && (
        <div className="border-t border-line px-3">
          <Members shapes={inside} components={components} />
        </div>
      )}
    </div>
  )
}

/** The members of what is sent or answered, or its type where it has none. */
export function Whole({ shape, components }: { shape: Shape; components: Components }) {
  const component = shape.ref === undefined ? undefined : components[shape.ref]
  const about = shape.about ?? component?.about
  const members = shape.choices ?? shape.fields ?? component?.fields
  return (
    <>
      {about !== undefined && (
        <p lang="en" className="mb-1 text-quiet">
          <Words text={about} />
        </p>
      )}
      {members === undefined ? (
        <Members shapes={[shape]} components={components} />
      ) : (
        <Members shapes={members} components={components} />
      )}
    </>
  )
}
