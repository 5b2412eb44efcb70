import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { ImageUp, Trash2 } from 'lucide-react'
import { useId, useState } from 'react'
import { smallImageOf } from '../lib/images.ts'
import { t } from '../lib/language.ts'
import { Avatar } from './avatar.tsx'
import { Button, buttonClass } from './button.tsx'
import { Failed } from './list-states.tsx'
import { announce } from './toast.tsx'
import { WaitsForApproval } from './waits.tsx'

type Props = {
  name: string
  image: string | null
  replace: (image: Blob) => Promise<object>
  remove: () => Promise<object>
  /** The queries that show the image. */
  renews: readonly QueryKey[]
  /** The vault in which the change may need votes. */
  code?: string
}

/** An image that is changed at once, apart from the form beside it. Every image is first made small. */
export function ImageField({ name, image, replace, remove, renews, code }: Props) {
  const id = useId()
  const client = useQueryClient()
  const [fault, setFault] = useState<string | null>(null)
  const change = useMutation({
    mutationFn: (file: Blob | null) => (file === null ? remove() : replace(file)),
    onSuccess: async (answer) => {
      await Promise.all(renews.map((queryKey) => client.invalidateQueries({ queryKey })))
      if (requestOf(answer) === null) announce(t('The image is changed.'))
    },
  })
  const take = async (file: File) => {
    const small = await smallImageOf(file)
    setFault(small === null ? t('This is no image that the browser can read.') : null)
    if (small !== null) change.mutate(small)
  }
  const waiting = change.isSuccess ? requestOf(change.data) : null
  if (waiting !== null && code !== undefined) return <WaitsForApproval code={code} requestId={waiting} />
  return (
    <div className="mb-4">
      <p className="mb-1 font-medium">{t('Image')}</p>
      <div className="flex flex-wrap items-center gap-3">
        <Avatar name={name} image={image} size="large" />
        <label htmlFor={id} className={`${buttonClass()} cursor-pointer focus-within:outline-2`}>
          <ImageUp size={16} aria-hidden /> {t('Choose an image')}
          <input
            id={id}
            type="file"
            accept="image/*"
            className="sr-only"
            aria-describedby={`${id}-hint`}
            disabled={change.isPending}
            onChange={({ target }) => {
              const file = target.files?.[0]
              if (file !== undefined) void take(file)
              target.value = ''
            }}
          />
        </label>
        {image !== null && (
          <Button
            look="quiet"
            icon={<Trash2 size={16} aria-hidden />}
            busy={change.isPending}
            onClick={() => change.mutate(null)}
          >
            {t('Remove the image')}
          </Button>
        )}
      </div>
      <p id={`${id}-hint`} className="mt-1 text-[0.8125rem] text-quiet">
        {t('It is made small before it is sent, and needs no saving.')}
      </p>
      {fault !== null && (
        <p role="alert" className="mt-1 text-[0.8125rem] text-bad">
          {fault}
        </p>
      )}
      {change.isError && <Failed error={change.error} retry={() => change.mutate(change.variables)} />}
    </div>
  )
}

/** Returns the id of the approval request if the answer is one. */
function requestOf(answer: object): string | null {
  const { pendingApproval } = answer as { pendingApproval?: { id: string } | null }
  return pendingApproval?.id ?? null
}
