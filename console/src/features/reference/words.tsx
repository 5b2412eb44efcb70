import type { Verb } from './types.ts'

/** A text of the document. Text in backticks is code. The document is English in every language of the console. */
export function Words({ text }: { text: string }) {
  return text.split(/`([^`]+)`/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <code key={index} className="code rounded-sm bg-line/40 px-1 [overflow-wrap:anywhere]">
        {part}
      </code>
    ),
  )
}

const looks: Record<Verb, string> = {
  GET: 'text-accent',
  POST: 'text-good',
  PUT: 'text-warn',
  PATCH: 'text-warn',
  DELETE: 'text-bad',
}

export function VerbMark({ verb, wide = false }: { verb: Verb; wide?: boolean }) {
  return <span className={`code shrink-0 font-semibold ${looks[verb]} ${wide ? 'w-14 text-xs' : ''}`}>{verb}</span>
}

/** A path in which the names of parameters stand out. It may break after a slash. */
export function Path({ path }: { path: string }) {
  return (
    <span className="code [overflow-wrap:anywhere]">
      {path.split(/(\{\w+\})/).map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          <span key={index} className="text-accent">
            {part}
          </span>
        ),
      )}
    </span>
  )
}
