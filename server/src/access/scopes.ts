import { forbidden } from '../lib/errors.ts'

/**
 * The scopes of service tokens (contract 2.10). Each endpoint that a service can call needs exactly one. People have none: a session
 * may do all that its user may.
 */
export const scopes = ['read', 'operate', 'vote', 'write', 'report', 'rules'] as const
export type Scope = (typeof scopes)[number]

/** @throws 403 for a service token without the scope */
export function assertScope({ scopes }: { scopes: readonly Scope[] | null }, needed: Scope): void {
  if (scopes !== null && !scopes.includes(needed))
    throw forbidden('token_scope_missing', `The service token lacks the scope "${needed}", which this request needs`)
}
