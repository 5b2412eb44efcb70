import { FileUp } from 'lucide-react'
import { useId, useState } from 'react'
import { t } from '../lib/language.ts'

type Props = { label: string; accept: string; onFile: (file: File) => void }

/** Takes a file that is dropped here or chosen. */
export function FileDrop({ label, accept, onFile }: Props) {
  const id = useId()
  const [isOver, setOver] = useState(false)
  return (
    <label
      htmlFor={id}
      className={
        'mb-4 grid cursor-pointer justify-items-center gap-2 rounded-lg border-2 border-dashed p-8 text-center ' +
        `focus-within:outline-2 focus-within:outline-accent ${isOver ? 'border-accent bg-accent-soft' : 'border-line'}`
      }
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const file = event.dataTransfer.files[0]
        if (file !== undefined) onFile(file)
      }}
    >
      <FileUp size={28} aria-hidden className="text-quiet" />
      <span className="font-medium">{label}</span>
      <span className="text-quiet">{t('Drop it here, or choose it.')}</span>
      <input
        id={id}
        type="file"
        accept={accept}
        className="sr-only"
        onChange={({ target }) => {
          const file = target.files?.[0]
          if (file !== undefined) onFile(file)
          target.value = ''
        }}
      />
    </label>
  )
}
