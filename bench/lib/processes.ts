import { readdirSync, readFileSync } from 'node:fs'

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

/** Returns the CPU seconds of a process and of its children, including children that have ended. */
export function cpuOfTree(pid: number): number {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]!.split(' ')
      const [ofProcess, ofEnded] = [fields.slice(11, 13), fields.slice(13, 15)]
      if (Number(name) === pid) ticks += sumOf([...ofProcess, ...ofEnded])
      else if (Number(fields[1]) === pid) ticks += sumOf(ofProcess)
    } catch {
      // The process has ended meanwhile.
    }
  }
  return ticks / 100
}

function sumOf(numbers: string[]): number {
  return numbers.reduce((sum, number) => sum + Number(number), 0)
}
