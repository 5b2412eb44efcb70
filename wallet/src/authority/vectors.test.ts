import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { makeVectors, toText } from '../testing/make-vectors.ts'
import type { Vector } from '../testing/payout-vectors.ts'
import { type Ordered, refusalOfOrder } from './decide.ts'
import { refusalCodes } from './refusal.ts'

const docs = new URL('../../../docs/', import.meta.url)
const file = new URL('signed-orders.vectors.json', docs)

/** The refusals that follow from the documents of an order; a stop is not in them. */
const ofDocuments = refusalCodes.filter((code) => code !== 'STOPPED')

test('docs/signed-orders.vectors.json is current; `npm run vectors -w wallet` writes it', async () => {
  const text = toText(makeVectors())
  if (process.env.WRITE_VECTORS === 'yes') await writeFile(file, text)
  expect((await readFile(file, 'utf8')) === text).toBe(true)
})

test('T78 T58 240 orders, half of them faulty, are decided as published, and every code occurs', async () => {
  const { authorities, vectors } = JSON.parse(await readFile(file, 'utf8')) as ReturnType<typeof makeVectors>
  const decide = ({ request, authorization, authority, orderedLastDay, now }: Vector) => {
    const { amount, maxFee = null, feeLevel = null, ...same } = request as Record<string, string>
    const fees = { feeLevel, maxFee: maxFee === null ? null : BigInt(maxFee) }
    return refusalOfOrder({
      ordered: { ...(same as unknown as Ordered), ...fees, amount: BigInt(amount!) },
      authorization,
      authority: authorities[authority]!,
      orderedLastDay: BigInt(orderedLastDay),
      now: new Date(now),
    })
  }
  expect(vectors.map((vector) => [vector.name, decide(vector)?.code ?? 'ok'])).toEqual(
    vectors.map(({ name, verdict }) => [name, verdict]),
  )
  expect(vectors.length).toBe(240)
  expect(vectors.filter(({ verdict }) => verdict === 'ok').length).toBe(120)
  expect(new Set(vectors.map(({ verdict }) => verdict))).toEqual(new Set(['ok', ...ofDocuments]))
})

test('T78 T58 a verifier in another language agrees on all of them', async () => {
  const script = fileURLToPath(new URL('verify_signed_orders.py', docs))
  const { stdout } = await promisify(execFile)('python3', [script, fileURLToPath(file)]).catch((error) => error)
  expect(stdout).toBe('240 of 240 agree\n')
})
