/** Nothing was signed, because the document is not the expected one. */
export class SigningError extends Error {
  override readonly name = 'SigningError'
  /** The field that differs, is missing, or is not allowed. */
  readonly field: string

  constructor(field: string, problem: string) {
    super(`${field} ${problem}`)
    this.field = field
  }
}
