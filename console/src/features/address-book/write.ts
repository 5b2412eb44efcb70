import type { ApprovalRequest, Outcome } from '@strongroom/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { queryClient } from '../../lib/query-client.ts'
import { announce } from '../../ui/toast.tsx'

/**
 * Changes the address book. The change is made at once, or waits for votes: then `waiting` is the approval request.
 * @param done the message when the change is made at once
 */
export function useBookChange<Given, Value>(
  code: string,
  change: (variables: Given, options: { idempotencyKey: string }) => Promise<Outcome<Value, ApprovalRequest>>,
  { done, after, onError }: { done: string; after?: (value: Value) => void; onError?: (error: unknown) => void },
) {
  const [key, setKey] = useState(newIdempotencyKey)
  const mutation = useMutation({
    mutationFn: (variables: Given) => change(variables, { idempotencyKey: key }),
    onSuccess: ({ value, pendingApproval }) => {
      setKey(newIdempotencyKey())
      forgetBook(code)
      if (pendingApproval !== null) return
      announce(done)
      after?.(value as Value)
    },
    onError: (error) => {
      setKey(newIdempotencyKey())
      onError?.(error)
    },
  })
  return { ...mutation, waiting: mutation.data?.pendingApproval ?? null }
}

export function forgetBook(code: string): void {
  for (const noun of ['counterparties', 'counterparty-groups', 'recipient-search', 'recipient-check']) {
    void queryClient.invalidateQueries({ queryKey: [noun, code] })
  }
}
