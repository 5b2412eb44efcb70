import { ConnectionError, StrongroomError } from '@strongroom/sdk'
import { said, t } from './language.ts'

/** The names of errors that programs make for programs. */
const ofPrograms = new Set([
  'TypeError',
  'RangeError',
  'SyntaxError',
  'ReferenceError',
  'SigningError',
  'AggregateError',
])

/**
 * Returns the message about an error for people: the text of the service, which names the rule and the remedy, or words of this
 * page. Texts of browsers and programs, which name standards and fields, are never shown.
 */
export function messageOf(error: unknown): string {
  if (error instanceof StrongroomError) return said(error.message, error.reason)
  if (error instanceof ConnectionError) return t('The service could not be reached. Check your connection.')
  if (error instanceof DOMException) return wordsOfBrowser(error)
  if (!(error instanceof Error) || ofPrograms.has(error.name))
    return t('This page could not do that. Reload it, and try again.')
  return error.message
}

function wordsOfBrowser({ name }: DOMException): string {
  if (name === 'NotAllowedError')
    return t('The passkey was not used: the dialog was closed, or the time ran out. Try again.')
  if (name === 'InvalidStateError') return t('This device already has such a passkey.')
  if (name === 'SecurityError') return t('Passkeys of this service work at its own address only. Open it there.')
  return t('The browser could not do that. Try again, or use another browser.')
}
