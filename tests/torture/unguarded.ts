import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyServer, type ServerCopy } from './server-copy.ts'

/** A guard of the service in the built files, and its replacement when it is switched off. */
export type Guard = { name: string; changes: { file: string; guarded: string; unguarded: string }[] }

export const guards = {
  deduplication: {
    name: 'the key by which a deposit is credited once',
    changes: [
      {
        file: 'dist/modules/money/deposits/actions.js',
        guarded: `on conflict (vault_id, address_id, token_id, tx_hash, tx_index) \${ifKnown}`,
        unguarded: '',
      },
      {
        file: 'dist/db/migrations/0004-ledger.sql',
        guarded: 'create unique index deposits_once',
        unguarded: 'create index deposits_once',
      },
    ],
  },
  answerAfterCommit: {
    name: 'the answer to a deposit comes after its commit',
    changes: [
      {
        file: 'dist/modules/money/deposits/actions.js',
        guarded: 'inTransaction(db, (trx) => receiveWalletEvents(trx, { arrivals: batch, credit, crediting }))',
        unguarded: `new Promise((resolve, reject) => {
          inTransaction(db, async (trx) => resolve(await receiveWalletEvents(trx, { arrivals: batch, credit, crediting }))).catch(reject)
        })`,
      },
    ],
  },
  handOverById: {
    name: 'an order goes to the wallet under the id of its transfer',
    changes: [
      {
        file: 'dist/modules/money/delivery/submit.js',
        guarded: 'id: claim.id,\n            network: order.network',
        unguarded: 'id: crypto.randomUUID(),\n            network: order.network',
      },
      {
        // An id that the books do not have halts the vault before the second payment.
        file: 'dist/modules/vaults/wallets/compare-accepted.js',
        guarded: 'const answer = await listAccepted(mark, connect)',
        unguarded: 'const answer = null',
      },
    ],
  },
  standbyNotice: {
    name: 'a commit whose wait for a standby was cancelled is not acknowledged',
    changes: [
      {
        file: 'dist/db/lost-commit.js',
        guarded: 'isUnconfirmed ||= routine === waitForStandby',
        unguarded: 'void routine',
      },
    ],
  },
} satisfies Record<string, Guard>

/**
 * Returns a temporary copy of the built server with a guard switched off.
 * @throws when the guard is not found in the built files: a test that switches off nothing proves nothing
 */
export function buildWithout(guard: Guard, serverDir: string): ServerCopy {
  const { serverDir: copy, remove } = copyServer(serverDir)
  for (const { file, guarded, unguarded } of guard.changes) {
    const path = join(copy, file)
    const parts = readFileSync(path, 'utf8').split(guarded)
    if (parts.length !== 2) {
      remove()
      throw new Error(`${guard.name}: found ${parts.length - 1} times in ${file}, not once`)
    }
    writeFileSync(path, parts.join(unguarded))
  }
  return { serverDir: copy, remove }
}
