import { STATUS_CODES } from 'node:http'

export type FieldFault = { field: string; message: string }

/** The one error that carries an HTTP answer. `details` is a list of fields on 400 and a sentence on 409 and 410. */
export class WalletError extends Error {
  readonly code: number
  readonly details: FieldFault[] | string | undefined

  constructor(code: number, message: string, details?: FieldFault[] | string) {
    super(message)
    this.name = 'WalletError'
    this.code = code
    this.details = details
  }
}

export const badField = (field: string, message: string) =>
  new WalletError(400, `${field} ${message}`, [{ field, message }])

export const notFound = (what: string) => new WalletError(404, `${what} not found`)

export const cursorLost = () =>
  new WalletError(
    410,
    'The cursor is of changes that this service no longer has',
    'CURSOR_LOST: begin again without a cursor, and ask for every open transfer by its id',
  )

export const acceptedLost = () =>
  new WalletError(
    410,
    'The cursor is of orders, addresses or events that this service no longer has',
    'CURSOR_LOST: the database of this service was restored',
  )

export const unauthorized = () => new WalletError(401, 'A valid bearer token is required')

/** Presents an error as the protocol's body. */
export function toErrorBody(error: WalletError, requestId?: string) {
  return {
    error: STATUS_CODES[error.code] ?? 'Error',
    message: error.message,
    code: error.code,
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(requestId === undefined ? {} : { requestId }),
  }
}
