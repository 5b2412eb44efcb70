import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as limits from '../../../lib/limits.ts'
import { createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'
import { runDueExports } from './due-exports.ts'

/** Runs every request of docs/report-exports.md in the order of the manual, and compares the answers. */
const manual = await readFile(new URL('../../../../../docs/report-exports.md', import.meta.url), 'utf8')
const blocks = [...manual.matchAll(/^```(sh|text|json answer)\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({
  kind: kind!,
  text: text!,
}))

let world: ReportWorld
const names = new Map<string, string>()
beforeAll(async () => {
  world = await createReportWorld()
  await world.add({ at: '2026-01-05T12:00:00.000Z', amount: '100' })
  names.set('$VAULT', '/api/v1/vaults/main-vault')
  names.set('$TOKEN', world.owner.token)
  names.set('$ADDRESS', world.own.id)
  names.set('$USDT', world.vault.tokens.usdt.id)
})
afterAll(() => world.close())

const filled = (text: string) =>
  text.replace(/\$[A-Z]+/g, (name) => {
    expect(names.has(name), `${name} is known by then`).toBe(true)
    return names.get(name)!
  })

/** Sends the request that curl would send. */
async function run(command: string) {
  const line = filled(command.replaceAll('\\\n', ' ').trim())
  const headers = [...line.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name, value]) => [name!, value!] as const)
  const body = /-d '([^']+)'/.exec(line)?.[1]
  const url = /"([^"]+)"$/.exec(line)![1]!
  expect(line.startsWith('curl ')).toBe(true)
  return world.test.app.inject({
    method: line.includes('-X POST') ? 'POST' : 'GET',
    url,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { payload: body }),
  })
}

describe('docs/report-exports.md', () => {
  it('shows requests that are answered as documented, one after the other', async () => {
    let last: Awaited<ReturnType<typeof run>> | undefined
    let ran = 0
    for (const { kind, text } of blocks) {
      if (kind === 'json answer') expect(last!.json(), text).toMatchObject(JSON.parse(text))
      else if (kind === 'text') {
        expect(`${last!.statusCode} ${String(last!.headers['content-type']).split(';')[0]}`).toBe(text.trim())
        if (last!.statusCode === 202) names.set('$EXPORT', last!.json().id)
      } else {
        // The file is made between the two status requests.
        if (text.includes('$EXPORT') && names.has('$ASKED'))
          await runDueExports(world.test.deps, new AbortController().signal)
        if (text.includes('$EXPORT')) names.set('$ASKED', '')
        last = await run(text)
        ran += 1
      }
    }
    expect(ran).toBe(6)
  })

  it('states the limits of the service', () => {
    expect(limits).toMatchObject({
      inlineFilesPerCallerMax: 2,
      inlineFilesMax: 4,
      inlineFileMilliseconds: 120_000,
      exportHeartbeatMilliseconds: 10_000,
      exportAttemptsMax: 3,
      exportTtlHours: 24,
      exportsKeptPerCallerMax: 20,
      exportsOpenPerCallerMax: 3,
      exportBytesMax: 2 ** 30,
      downloadsPerCallerMax: 4,
      downloadsMax: 32,
      downloadBytesPerSecondMin: 64 * 1_024,
      downloadGraceMilliseconds: 60_000,
      exportLeaseSeconds: 60,
    })
  })
})
