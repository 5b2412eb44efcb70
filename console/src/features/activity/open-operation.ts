/** The operation whose details stand beside the list: "transfer-" or "deposit-", and its id. */
export type OpenOperation = `${'transfer' | 'deposit'}-${string}`

export function openOf({ open }: Record<string, unknown>): { open?: OpenOperation } {
  return typeof open === 'string' && /^(transfer|deposit)-[\w-]{1,64}$/.test(open)
    ? { open: open as OpenOperation }
    : {}
}
