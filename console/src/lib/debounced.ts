import { useEffect, useState } from 'react'

/** The value as it was when it last stood still for a moment. */
export function useDebounced<Value>(value: Value, milliseconds = 300): Value {
  const [settled, settle] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => settle(value), milliseconds)
    return () => clearTimeout(timer)
  }, [value, milliseconds])
  return settled
}
