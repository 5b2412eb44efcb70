import { closeSync, openSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Account } from './account.ts'

/** A directory in the form in which a process of another account can reach it: a path, and file descriptors to pass to `spawn`. */
export type Reach = { path: string; descriptors: number[]; close(): void }

const FIRST_EXTRA_DESCRIPTOR = 3

/**
 * Makes a directory usable for an account that may not pass through its parents, such as `nobody` below a /root that only root
 * can enter. The open directory is inherited and addressed through /proc, which checks the permissions of the directory itself
 * but not those of its parents. The data therefore stays where the operator configured it. Linux only: on other systems the
 * path is passed as it is and PostgreSQL reports what it could not open.
 */
export function reachDirectory(path: string, account: Account): Reach {
  if (process.platform !== 'linux' || canTraverse(dirname(realpathSync(path)), account)) {
    return { path, descriptors: [], close: () => {} }
  }
  const descriptor = openSync(path, 'r')
  return {
    path: `/proc/self/fd/${FIRST_EXTRA_DESCRIPTOR}`,
    descriptors: [descriptor],
    close: () => closeSync(descriptor),
  }
}

/** Returns true if the account may pass through the directory and all its parents, according to their permission bits. */
export function canTraverse(directory: string, account: Account): boolean {
  if (!account.switched) return true
  const { uid, gid, mode } = statSync(directory)
  const executeBit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
  if ((mode & executeBit) === 0) return false
  const parent = dirname(directory)
  return parent === directory || canTraverse(parent, account)
}
