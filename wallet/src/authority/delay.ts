import type { AnyAuthority } from './documents.ts'

/** The delay of an authority of format 1, which names no delay. */
const delayHoursOfFormat1 = 24
const hourMilliseconds = 3_600_000

/** Returns the time at which a version that is signed now comes into force. The delay gives people time to see and cancel it. */
export const inForceAfter = (present: AnyAuthority, now: Date): Date =>
  new Date(now.getTime() + delayHoursOf(present) * hourMilliseconds)

export const delayHoursOf = (authority: AnyAuthority): number =>
  'delayHours' in authority ? authority.delayHours : delayHoursOfFormat1

/** Returns true when passkeys of other pages than that of the wallet service count. */
export const trustsServicePage = (authority: AnyAuthority): boolean =>
  'trustsServicePage' in authority ? authority.trustsServicePage : true

export const contactsOf = (authority: AnyAuthority): { person: string; email: string }[] =>
  'contacts' in authority ? authority.contacts : []
