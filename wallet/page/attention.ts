/** Time in which a person can see that the page has changed under their hand. */
const neededMilliseconds = 2_000
const checkMilliseconds = 100
/** A page that stood still for longer was not seen meanwhile, as far as it can know. */
const gapMilliseconds = 1_000
/** Nobody reads an order in a smaller window. */
const leastPixels = 200
const changes = ['blur', 'focus', 'resize', 'pageshow', 'pagehide'] as const

export interface Attention {
  /** True when the window has been seen and in front for long enough, without a change. */
  isEnough(): boolean
  /** Begins again, because what the window shows has changed. */
  restart(): void
}

/** Watches the window, and calls `onChange` when the attention becomes enough, or is no longer. */
export function watchAttention(onChange: () => void, end: AbortSignal): Attention {
  let since: number | null = null
  let checkedAt = performance.now()
  let wasEnough = false

  const isEnough = (): boolean => {
    const now = performance.now()
    if (!isAttentive() || now - checkedAt > gapMilliseconds) since = null
    return since !== null && now - since >= neededMilliseconds
  }
  const check = (): void => {
    const isNow = isEnough()
    checkedAt = performance.now()
    if (since === null && isAttentive()) since = checkedAt
    if (isNow !== wasEnough) {
      wasEnough = isNow
      onChange()
    }
  }
  const restart = (): void => {
    since = null
    check()
  }
  for (const name of changes) addEventListener(name, restart, { signal: end })
  document.addEventListener('visibilitychange', restart, { signal: end })
  const timer = setInterval(check, checkMilliseconds)
  end.addEventListener('abort', () => clearInterval(timer))
  return { isEnough, restart }
}

const isAttentive = (): boolean =>
  document.visibilityState === 'visible' &&
  document.hasFocus() &&
  innerWidth >= leastPixels &&
  innerHeight >= leastPixels
