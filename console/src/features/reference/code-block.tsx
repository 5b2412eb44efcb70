import type { ReactNode } from 'react'
import { t } from '../../lib/language.ts'
import { CopyButton } from '../../ui/copy-button.tsx'

/** Only a text of this length or less is coloured. Colours in a longer text would make the page slow. */
const colouredMax = 20_000

/** Text for a machine, with a button that copies all of it. */
export function CodeBlock({ title, text, children }: { title: string; text: string; children?: ReactNode }) {
  return (
    <div className="mb-4 min-w-0 overflow-hidden rounded-lg border border-line bg-paper">
      <div className="flex min-h-10 items-center justify-between gap-2 border-b border-line px-3">
        <span className="min-w-0 flex-1 text-[0.8125rem] font-medium">{children ?? title}</span>
        <CopyButton text={text} label={t('Copy: {what}', { what: title })} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section aria-label={title} tabIndex={0} className="max-h-96 overflow-auto p-3">
        <pre lang="en" className="code leading-relaxed">
          {text.length > colouredMax ? text : coloured(text)}
        </pre>
      </section>
    </div>
  )
}

/**
 * Splits a text into spans with three colours: names, texts and other values. It is made for JSON, and does no harm to
 * lines of a shell or a program.
 */
function coloured(text: string): ReactNode[] {
  const token = /("(?:\\.|[^"\\])*"|'[^'\n]*')(\s*:)?|\b(?:true|false|null|\d+)\b/g
  const parts: ReactNode[] = []
  let end = 0
  for (const match of text.matchAll(token)) {
    const [matched, quoted, colon] = match
    parts.push(text.slice(end, match.index))
    const look = quoted === undefined ? 'text-accent' : colon === undefined ? 'text-good' : 'text-ink'
    parts.push(
      <span key={match.index} className={look}>
        {matched}
      </span>,
    )
    end = match.index + matched.length
  }
  return [...parts, text.slice(end)]
}
