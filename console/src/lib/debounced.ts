import { useEffect, useState } from 'react'

/** Returns the value as of the last time that it did not change for a moment. */
export function useDebounced<Value>(value: Value, milliseconds = 300): Value {
  const [settled, settle] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => settle(value), milliseconds)
    return () => clearTimeout(timer)
  }, [value, milliseconds])
  return settled
}
