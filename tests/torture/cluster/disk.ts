import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from '../../../server/src/embedded-postgres/account.ts'

const megabytes = 512
const pieceBytes = 1_048_576

/** A small file system of its own, in memory. */
export type Disk = {
  /** Takes all of its room, until the function that it returns is called. */
  fill(): () => void
  remove(): void
}

/** Returns null where this process may not make file systems. */
export function makeDisk(folder: string, { uid, gid }: Pick<Account, 'uid' | 'gid'>): Disk | null {
  const options = `size=${megabytes}m,mode=0700,uid=${uid},gid=${gid}`
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'strongroom-cluster', folder]).status !== 0) return null
  return {
    fill() {
      const file = join(folder, 'filler')
      const descriptor = openSync(file, 'w')
      try {
        const piece = Buffer.alloc(pieceBytes)
        for (;;) if (writeSync(descriptor, piece) < pieceBytes) break
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(descriptor)
      }
      return () => rmSync(file)
    },
    remove() {
      spawnSync('umount', ['--lazy', folder])
    },
  }
}
