import { statSync } from 'node:fs'

/** The operating system account PostgreSQL runs as. `switched` is true when it differs from the account of this process. */
export type Account = { uid: number; gid: number; switched: boolean }

const NOBODY = 65534

/**
 * PostgreSQL refuses to run as root, so root lends it the account `nobody`, or the account that already owns the
 * cluster: a directory first used by an ordinary user keeps working when root starts the service once.
 */
export function chooseAccount(clusterDir: string): Account {
  const uid = process.getuid?.() ?? -1
  const gid = process.getgid?.() ?? -1
  if (uid !== 0) return { uid, gid, switched: false }
  const owner = statSync(clusterDir, { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, switched: true }
  return { uid: NOBODY, gid: NOBODY, switched: true }
}

/** What `spawn` needs to start a process as the account. An account that is our own is not switched to. */
export function spawnAs(account: Account): { uid?: number; gid?: number } {
  return account.switched ? { uid: account.uid, gid: account.gid } : {}
}
