// Measures the time of the compiler for a program of 60 lines that uses the SDK: `npm run measure:types -w sdk`, after
// a build. Fails above two seconds on the clock, so it needs a quiet machine. The seconds of the processor are for
// comparison.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const secondsMax = 2
const runs = 5

const body = `
export async function pay(fromAddressId: string, toAddress: string, amount: string): Promise<string> {
  const transfer = await vault.transfers.create({ fromAddressId, toAddress, token: 'USDT', amount })
  const { status } = await vault.transfers.wait(transfer.id)
  return status
}
export async function approveAll(limit: bigint): Promise<string[]> {
  const approved: string[] = []
  for await (const { id, amount } of vault.transfers.list({ status: 'awaiting_approval' })) {
    if (BigInt(amount) <= limit) approved.push((await vault.transfers.approve(id)).id)
  }
  return approved
}
export async function addSupplier(name: string): Promise<string | null> {
  const { value, pendingApproval } = await vault.counterparties.create({ name, kind: 'company' })
  return pendingApproval === null ? value.id : null
}
export async function deposits(): Promise<Map<string, bigint>> {
  const sums = new Map<string, bigint>()
  for await (const item of vault.history.list({ direction: 'in' })) {
    sums.set(item.asset, (sums.get(item.asset) ?? 0n) + BigInt(item.amount))
  }
  return sums
}
export async function statement(addressId: string, tokenId: string): Promise<Blob> {
  const file = await vault.reports.accountStatement({ addressId, tokenId, format: 'pdf' })
  return await file.blob()
}
export async function limitDay(groupId: string): Promise<void> {
  await vault.policies.create(groupId, {
    code: 'day',
    name: 'Limit of a day',
    actionType: 'transfer',
    effect: 'block',
    rules: [
      {
        conditionType: 'require',
        selectors: [
          { selectorType: 'token', value: 'USDT' },
          { selectorType: 'velocityAmount', value: { op: 'gt', value: '50000', windowSeconds: 86400, per: 'vault' } },
        ],
      },
    ],
  })
}
export function isRefusal(error: unknown): boolean {
  return error instanceof StrongroomError && error.status === 409
}
export async function findByPurpose(paymentPurpose: string): Promise<HistoryItem[]> {
  const found: HistoryItem[] = []
  for await (const item of vault.history.list({ paymentPurpose, limit: 100 })) found.push(item)
  return found
}
export const total = async (): Promise<string[]> =>
  (await vault.balances.get({ summary: true })).totals.map(({ available, token }) => fromRaw(available, token))
`
const head = `import { createStrongroom, fromRaw, type HistoryItem, StrongroomError } from '@strongroom/sdk'

const strongroom = createStrongroom({ baseUrl: 'https://vault.example.org', token: 'srk_…' })
const vault = strongroom.vault('treasury')
`

// The program lies below the package, so that the compiler finds the package and the types of Node.js as in a project
// that has installed them.
const parent = fileURLToPath(new URL('../dist/', import.meta.url))
const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc6', import.meta.url))
mkdirSync(parent, { recursive: true })
const folder = mkdtempSync(join(parent, 'measured-'))
try {
  const small = await measure('the SDK', head + body)
  const none = await measure('nothing, for comparison', 'export const one = 1\n')
  console.log(`the SDK costs ${(small - none).toFixed(2)} s`)
  if (small > secondsMax) {
    console.error(`${small.toFixed(2)} s are more than ${secondsMax} s`)
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}

/** @returns {Promise<number>} the median of the seconds on the clock */
async function measure(name, text) {
  writeFileSync(join(folder, 'program.ts'), text)
  const options = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      skipLibCheck: true,
    },
    files: ['program.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
  const taken = []
  for (let run = 0; run < runs; run += 1) taken.push(await compile())
  const [wall, processor] = ['wall', 'processor'].map((key) => medianOf(taken.map((run) => run[key])))
  console.log(
    `${name}: ${text.split('\n').length - 1} lines, ${processor.toFixed(2)} s of the processor, ${wall.toFixed(2)} s on the clock`,
  )
  return wall
}

async function compile() {
  const begun = performance.now()
  // The compiler itself reports its CPU time when it exits.
  const report = "process.on('exit', () => process.send(process.cpuUsage()))"
  const child = fork(tsc, ['-p', folder], { execArgv: ['--import', `data:text/javascript,${report}`] })
  const [[{ user, system }], [code]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  if (code !== 0) throw new Error('The program does not compile')
  return { wall: (performance.now() - begun) / 1000, processor: (user + system) / 1e6 }
}

function medianOf(numbers) {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
}
