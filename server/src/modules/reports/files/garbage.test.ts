import { getHeapStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { collectGarbageAbove } from './garbage.ts'

const megabytesInUse = () => {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return (used_heap_size + external_memory) / 1_048_576
}

const megabytes = (count: number) => Array.from({ length: count }, (_, i) => new Array(131_072).fill(i))

it('collectGarbageAbove frees memory when there is much garbage', () => {
  collectGarbageAbove()
  const before = megabytesInUse()
  expect(megabytes(100)).toHaveLength(100)
  collectGarbageAbove()
  expect(megabytesInUse() - before).toBeLessThan(30)
})
