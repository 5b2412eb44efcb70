import { formatter } from './formatter.ts'

/** Returns true for a day such as "2026-08-03". All days are in the reader's zone. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(new Date(`${text}T00:00`).getTime())
}

/** Returns the instant at which a day begins for the reader. */
export function startOfDay(day: string): string {
  return new Date(`${day}T00:00`).toISOString()
}

/** Returns the last instant of a day for the reader. */
export function endOfDay(day: string): string {
  return new Date(new Date(`${addDays(day, 1)}T00:00`).getTime() - 1).toISOString()
}

export function addDays(day: string, count: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1, date + count)).toISOString().slice(0, 10)
}

/** Returns the day of an instant for the reader. */
export function dayOf(at: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

export function formatLocalDay(day: string): string {
  return formatter(Intl.DateTimeFormat, { dateStyle: 'medium' }).format(new Date(`${day}T12:00`))
}
