/** Nothing was signed, because what would be signed is not what was expected. */
export class SigningError extends Error {
  override readonly name = 'SigningError'
  /** The field that differs, or that is missing or stray. */
  readonly field: string

  constructor(field: string, problem: string) {
    super(`${field} ${problem}`)
    this.field = field
  }
}
