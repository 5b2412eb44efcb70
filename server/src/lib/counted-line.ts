/** The lines about an event that may come thousands of times in a row. */
type CountedLine<Event> = {
  begun(event: Event): void
  /** `count` events have come in the last seconds. */
  goesOn(count: number): void
  ended(total: number): void
}

const countMilliseconds = 10_000

/**
 * Returns a function to note an event. `begun` is called at the first event, `goesOn` every ten seconds with the number of new
 * events, and `ended` after ten seconds without an event, with the number of all.
 */
export function countLines<Event>({ begun, goesOn, ended }: CountedLine<Event>): (event: Event) => void {
  let total = 0
  let lately = 0
  let timer: NodeJS.Timeout | undefined

  const count = () => {
    if (lately > 0) {
      goesOn(lately)
      lately = 0
      return
    }
    clearInterval(timer)
    ended(total)
    total = 0
  }
  return (event) => {
    total += 1
    if (total > 1) {
      lately += 1
      return
    }
    begun(event)
    timer = setInterval(count, countMilliseconds)
    timer.unref()
  }
}
