import { readFileSync } from 'node:fs'

/** CPU time of a process so far; Linux counts in hundredths of a second. */
export function cpuSecondsOf(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) / 100
}

/** A figure of the kernel about a process, in MB of 2^20 bytes: resident now, or at the highest. */
export function megabytesOf(pid: number, name: 'VmHWM' | 'VmRSS'): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line![1]) / 1_024
}
