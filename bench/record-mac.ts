import { canonicalJson } from '../server/src/lib/canonical-json.ts'
import { createRecordKey } from '../server/src/lib/record-key.ts'
import { sha256 } from '../server/src/lib/secrets.ts'
import { faultOfMac, macOf } from '../server/src/modules/record/audit/record.ts'
import { toSeries } from './lib/rounds.ts'
import { runBench } from './lib/run-bench.ts'

/**
 * Measures the CPU time of the MAC of audit records: an order and its hand-over are computed with and without it, in
 * turns (A B B A) in one process. `npm run bench:record-mac`.
 */
const turns = 40
const ordersPerTurn = 500
/**
 * An order that is allowed at once writes one record. An order with two votes writes four records, and reads them at
 * each vote and at the hand-over.
 */
const orders = [
  { name: 'an order that is allowed at once', written: 1, read: 1 },
  { name: 'an order with two votes', written: 4, read: 9 },
]

const key = createRecordKey('a secret key of thirty-two characters')
const content = { details: 'x'.repeat(3_000), actorId: 'someone', action: 'transfer.requested', targetId: 'transfer' }

/** A wrong MAC takes as long to check as a right MAC. */
const anyMac = Buffer.alloc(40)

function order({ written, read }: { written: number; read: number }, hasMac: boolean): void {
  for (let i = 0; i < written + read; i += 1) {
    // A reader hashes the content again, as the writer does.
    const hash = sha256(canonicalJson({ ...content, id: String(i) }))
    const record = { chain: 'vault', id: String(i), hash }
    if (!hasMac) continue
    if (i < written) macOf(key, record)
    else faultOfMac(key, { ...record, mac: anyMac })
  }
}

function microsecondsOf(kind: (typeof orders)[number], hasMac: boolean): number {
  const before = process.cpuUsage()
  for (let i = 0; i < ordersPerTurn; i += 1) order(kind, hasMac)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / ordersPerTurn
}

await runBench(async (record) => {
  for (const kind of orders) {
    const measured = { with: [] as number[], without: [] as number[] }
    for (let turn = 0; turn < turns; turn += 1) {
      const isFirst = turn % 2 === 0
      for (const hasMac of [isFirst, !isFirst]) measured[hasMac ? 'with' : 'without'].push(microsecondsOf(kind, hasMac))
    }
    const [withMac, without] = [toSeries(measured.with), toSeries(measured.without)]
    record.add(`${kind.name}: CPU for its records with MACs`, 'µs', withMac)
    record.add('  without', 'µs', without)
    record.add('  difference', 'µs', withMac.median - without.median)
  }
})
