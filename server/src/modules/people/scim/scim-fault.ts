import { AppError } from '../../../lib/errors.ts'

type BadType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'mutability' | 'noTarget'

/** Returns a 400 with a `scimType` of RFC 7644 (table 9). */
export const scimFault = (type: BadType, detail: string): AppError =>
  new AppError('validation_failed', detail, { code: type })

/** Returns a 409 for a name that another person or group of the directory has. */
export const notUnique = (detail: string): AppError => new AppError('already_exists', detail, { code: 'uniqueness' })

/** Returns a 412 for a request whose If-Match does not name the present version. */
export const notPresentVersion = (): AppError =>
  new AppError('version_changed', 'If-Match names another version than the present one')
