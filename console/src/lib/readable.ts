import { formatDay } from './time.ts'

/** Turns a text of the service into one for people: instants become days, and ids are removed. */
export function readable(description: string): string {
  return description
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (instant) => formatDay(instant))
    .replace(/ ?\bc[a-z0-9]{23,31}\b/g, '')
}
