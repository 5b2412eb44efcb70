import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { t } from '../lib/language.ts'

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <button
      type="button"
      aria-label={copied ? t('Copied') : label}
      className="grid size-8 place-items-center self-center text-quiet hover:text-accent"
      onClick={async () => {
        await navigator.clipboard.writeText(text)
        setCopied(true)
        setTimeout(() => setCopied(false), 2_000)
      }}
    >
      {copied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />}
    </button>
  )
}
