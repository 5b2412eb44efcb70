import { statSync } from 'node:fs'

/** The operating system account of PostgreSQL. `switched` is true when it differs from the account of this process. */
export type Account = { uid: number; gid: number; switched: boolean }

const NOBODY = 65534

/**
 * Chooses the account of PostgreSQL, which refuses to run as root. Root uses the account `nobody`, or the account that already
 * owns the cluster: a directory of an ordinary user keeps working when root starts the service once.
 */
export function chooseAccount(clusterDir: string): Account {
  const uid = process.getuid?.() ?? -1
  const gid = process.getgid?.() ?? -1
  if (uid !== 0) return { uid, gid, switched: false }
  const owner = statSync(clusterDir, { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, switched: true }
  return { uid: NOBODY, gid: NOBODY, switched: true }
}

/** Returns the options with which `spawn` starts a process as the account; empty for the account of this process. */
export function spawnAs(account: Account): { uid?: number; gid?: number } {
  return account.switched ? { uid: account.uid, gid: account.gid } : {}
}
