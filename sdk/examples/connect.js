import { createStrongroom } from '@strongroom/sdk'

export const strongroom = createStrongroom({
  baseUrl: process.env.STRONGROOM_URL ?? 'http://localhost:8420',
  token: process.env.STRONGROOM_TOKEN ?? '',
})
export const vault = strongroom.vault(process.env.VAULT ?? 'treasury')

/** Returns the argument of the command line at this position. */
export function argument(/** @type {number} */ position, /** @type {string} */ name) {
  const value = process.argv[1 + position]
  if (value === undefined) throw new Error(`The argument ${name} is missing`)
  return value
}
