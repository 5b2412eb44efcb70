import { useEffect, useState } from 'react'
import { formatAgo } from '../lib/time.ts'

/** Shows the time since a moment, and updates it every second. */
export function Ago({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const ticking = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(ticking)
  }, [])
  return formatAgo(at, now)
}
