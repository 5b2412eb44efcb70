import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { fieldErrors } from '../lib/forms.ts'
import { Failed } from './list-states.tsx'
import { announce } from './toast.tsx'

type WriteOptions<Input, Answer> = {
  write: (input: Input) => Promise<Answer>
  /** The queries that show what was written. */
  renews: QueryKey
  /** What is said when it is done. */
  said: string
  onDone?: (answer: Answer, input: Input) => void
}

export type Write<Input, Answer> = UseMutationResult<Answer, unknown, Input> & {
  /** What the service says about the fields. */
  fields: Map<string, string>
}

/** A change: afterwards what it changed is loaded anew, and it is said that it is done. */
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
  /** The fields beside which their faults are shown already. */
  shown?: readonly string[]
}

/** What the service refused and no field shows. */
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
