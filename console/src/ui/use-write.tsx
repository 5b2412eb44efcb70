import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { fieldErrors } from '../lib/forms.ts'
import { Failed } from './list-states.tsx'
import { announce } from './toast.tsx'

type WriteOptions<Input, Answer> = {
  write: (input: Input) => Promise<Answer>
  /** The queries that show the written data. */
  renews: QueryKey
  /** The message when it is done. */
  said: string
  onDone?: (answer: Answer, input: Input) => void
}

export type Write<Input, Answer> = UseMutationResult<Answer, unknown, Input> & {
  /** The service's messages about the fields. */
  fields: Map<string, string>
}

/** Makes a change. Afterwards renews the queries and announces that the change is done. */
export function useWrite<Input = void, Answer = unknown>(options: WriteOptions<Input, Answer>): Write<Input, Answer> {
  const { write, renews, said, onDone } = options
  const client = useQueryClient()
  const mutation = useMutation<Answer, unknown, Input>({
    mutationFn: write,
    onSuccess: async (answer, input) => {
      await client.invalidateQueries({ queryKey: renews })
      announce(said)
      onDone?.(answer, input)
    },
  })
  return { ...mutation, fields: fieldErrors(mutation.error) }
}

type WriteFailedProps<Input, Answer> = {
  write: Write<Input, Answer>
  /** The fields that already show their faults. */
  shown?: readonly string[]
}

/** The error of a write, unless all of it is shown at fields. */
export function WriteFailed<Input, Answer>({ write, shown = [] }: WriteFailedProps<Input, Answer>) {
  if (!write.isError) return null
  const fields = [...write.fields.keys()]
  if (fields.length > 0 && fields.every((field) => shown.includes(field))) return null
  return (
    <div className="mb-4">
      <Failed error={write.error} retry={() => write.mutate(write.variables as Input)} />
    </div>
  )
}
