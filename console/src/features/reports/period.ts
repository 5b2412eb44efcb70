/** Periods to choose from. Days are written "2026-08-03" and belong to the zone of the report. */
export const periods = [
  'today',
  'last7',
  'last30',
  'thisMonth',
  'lastMonth',
  'thisQuarter',
  'lastQuarter',
  'thisYear',
  'lastYear',
] as const
export type Period = (typeof periods)[number]

/** The first day of an interval, and the day after its last day, as the API takes them. */
export type Interval = { from: string; to: string }

export function isPeriod(text: string): text is Period {
  return (periods as readonly string[]).includes(text)
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && addDays(text, 0) === text
}

/** Returns the present day in a zone. */
export function todayIn(zone: string, now: Date = new Date()): string {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]))
  return `${parts.year}-${parts.month}-${parts.day}`
}

export function addDays(day: string, count: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return write(new Date(Date.UTC(year, month - 1, date + count)))
}

/** @param today the present day in the zone of the report */
export function intervalOf(period: Period, today: string): Interval {
  const [year = 0, month = 1] = today.split('-').map(Number)
  const quarter = month - ((month - 1) % 3)
  const tomorrow = addDays(today, 1)
  const intervals: Record<Period, Interval> = {
    today: { from: today, to: tomorrow },
    last7: { from: addDays(today, -6), to: tomorrow },
    last30: { from: addDays(today, -29), to: tomorrow },
    thisMonth: { from: firstOf(year, month), to: tomorrow },
    lastMonth: { from: firstOf(year, month - 1), to: firstOf(year, month) },
    thisQuarter: { from: firstOf(year, quarter), to: tomorrow },
    lastQuarter: { from: firstOf(year, quarter - 3), to: firstOf(year, quarter) },
    thisYear: { from: firstOf(year, 1), to: tomorrow },
    lastYear: { from: firstOf(year - 1, 1), to: firstOf(year, 1) },
  }
  return intervals[period]
}

function firstOf(year: number, month: number): string {
  return write(new Date(Date.UTC(year, month - 1, 1)))
}

function write(date: Date): string {
  return date.toISOString().slice(0, 10)
}
