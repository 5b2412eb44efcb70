import { readFileSync } from 'node:fs'

/** Returns the CPU time of a process so far. Linux counts in hundredths of a second. */
export function cpuSecondsOf(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) / 100
}

/** Returns the resident memory of a process in MB of 2^20 bytes: now (VmRSS), or at the highest (VmHWM). */
export function megabytesOf(pid: number, name: 'VmHWM' | 'VmRSS'): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line![1]) / 1_024
}
