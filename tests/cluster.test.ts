import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { buildProject } from '../server/src/testing/build-project.ts'
import { tortureCluster } from './torture/cluster/cluster.ts'
import { faults } from './torture/cluster/faults.ts'
import { preparePrograms } from './torture/cluster/packages.ts'

/*
 * The short form of `npm run torture -- --cluster` (docs/availability.md): three cycles on Patroni, etcd and HAProxy, where Debian's
 * packages can be had.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const patch = join(root, 'tests/torture/cluster/patroni-3.0.2.patch')
const struck = ['switchover', 'commits cancelled, leader killed', 'node killed']

const missing = findMissing()
if (missing !== null) process.stdout.write(`${struck.length} cycles of the cluster are skipped: ${missing}\n`)

function findMissing(): string | null {
  try {
    preparePrograms(patch)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : `${error}`
  }
}

it.skipIf(missing !== null)(
  'T53 a failover of the database loses, doubles and halves nothing',
  async () => {
    buildProject('build:server')
    buildProject('build:wallet')
    const result = await tortureCluster({
      serverDir: join(root, 'server'),
      walletDir: join(root, 'wallet'),
      patch,
      renderScript: join(root, 'deploy/linux/cluster/render.sh'),
      seed: 7,
      // Other tests share the machine; the campaign has five seconds.
      answerMillisecondsMax: 20_000,
      faults: faults.filter(({ name }) => struck.includes(name)),
    })
    expect(result.cycles.map(({ fault }) => fault).sort()).toEqual([...struck].sort())
    for (const { transfers, votes } of result.cycles) expect(Math.min(transfers, votes)).toBeGreaterThan(5)
    expect(result.payments).toBeGreaterThan(20)
  },
  600_000,
)
