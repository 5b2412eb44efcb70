import { formatDay } from './time.ts'

/** The words of the service without what only a program reads: instants become days, and ids go. */
export function readable(description: string): string {
  return description
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (instant) => formatDay(instant))
    .replace(/ ?\bc[a-z0-9]{23,31}\b/g, '')
}
