// Measures the promises of the design on the demo of `npm start`. It measures the time until an approval can be read
// and decided on a phone, the number of requests of a page, and how a list of 100,000 rows scrolls. Prints the median
// of five; ends with 1 when a goal is missed. A busy machine spoils the times, so the load is printed beside them.
// STRONGROOM_URL and DATA_DIR name another demo.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('../..', import.meta.url))
const base = process.env.STRONGROOM_URL ?? 'http://localhost:8420'
const dataDir = process.env.DATA_DIR ?? '.strongroom'
const rounds = Number(process.env.ROUNDS ?? 5)
const rowsOfList = Number(process.env.ROWS ?? 100_000)
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }
const desktop = { viewport: { width: 1_440, height: 900 } }
const slow4G = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 }

const executablePath = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path))
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
let isMissed = false
try {
  const treasurer = await signIn('treasurer@strongroom.localhost')
  const voter = await signIn('second.treasurer@strongroom.localhost')
  const approval = `/v/treasury/approvals/transfer/${await orderTransfer(treasurer)}`
  console.log(`load ${loadavg()[0].toFixed(1)}`)
  await measureApproval(voter, approval)
  await measureDesktop(treasurer)
  await measureList(treasurer)
  console.log(`load ${loadavg()[0].toFixed(1)}`)
} finally {
  await browser.close()
}
process.exit(isMissed ? 1 : 0)

/** Signs a person in, with a link that the operator makes. */
async function signIn(email) {
  const command = fileURLToPath(new URL('../../server/bin/strongroom.js', import.meta.url))
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir }
  const link = execFileSync(process.execPath, [command, 'admin', 'link', email], { cwd: root, env, encoding: 'utf8' })
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${base}/sign-in/confirm?${/token=[\w-]+/.exec(link)[0]}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Home' }).first().waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}

/** Orders a transfer that waits for votes. */
async function orderTransfer(storageState) {
  const context = await browser.newContext({ storageState })
  const { request } = context
  const { items } = await (await request.get(`${base}/api/v1/vaults/treasury/addresses?search=Operations`)).json()
  const answer = await request.post(`${base}/api/v1/vaults/treasury/transfers`, {
    headers: { origin: base, 'idempotency-key': crypto.randomUUID() },
    data: { fromAddressId: items[0].id, toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', amount: '1500' },
  })
  const order = await answer.json()
  await context.close()
  if (order.status !== 'awaiting_approval')
    throw new Error(`the order does not wait for votes: ${JSON.stringify(order)}`)
  return order.id
}

async function measureApproval(storageState, path) {
  const marks = {
    readable: 'document.querySelector("main .figures") && document.querySelector("main .code")',
    decidable:
      '[...document.querySelectorAll("main button:enabled")].some((button) => /^Approve/.test(button.textContent))',
  }
  const found = { cold: [], warm: [] }
  for (let round = 0; round < rounds; round += 1) {
    const context = await browser.newContext({ ...phone, storageState })
    for (const state of ['cold', 'warm']) {
      const page = await slowPage(context, marks)
      found[state].push(await open(page, path, marks))
      await page.close()
    }
    await context.close()
  }
  report(
    'approval on a phone, readable, cold (ms)',
    2_000,
    found.cold.map((load) => load.readable),
  )
  report(
    'approval on a phone, decidable, cold (ms)',
    2_500,
    found.cold.map((load) => load.decidable),
  )
  report(
    'approval on a phone, decidable, warm (ms)',
    1_000,
    found.warm.map((load) => load.decidable),
  )
  report(
    'requests of the approval page',
    3,
    found.cold.map((load) => load.requests),
  )
}

/** Opens a page with the network and the processor of the phone that the design names. */
async function slowPage(context, marks) {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', slow4G)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await noteMarks(page, marks)
  return page
}

/** Notes when each expression is true for the first time, in milliseconds since the page was requested. */
async function noteMarks(page, marks) {
  const tests = Object.entries(marks).map(
    ([name, test]) => `if (!marks.${name} && (${test})) marks.${name} = performance.now()`,
  )
  await page.addInitScript(`{
    const marks = (globalThis.marks = {})
    const look = () => { if (document.body) { ${tests.join('; ')} } requestAnimationFrame(look) }
    look()
  }`)
}

async function open(page, path, marks) {
  await page.goto(base + path)
  const names = Object.keys(marks)
  for (let tries = 0; tries < 600; tries += 1) {
    const seen = await page.evaluate('marks')
    if (names.every((name) => seen[name] !== undefined)) {
      const callTimes = await page.evaluate(`(${callsOf})()`)
      const last = Math.max(...names.map((name) => seen[name]))
      return { ...seen, requests: callTimes.filter((at) => at <= last).length }
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${path} does not show ${names.join(' and ')}`)
}

/**
 * Runs in the page: returns when it called the service. Omits the long poll for changes, which every page has at all
 * times.
 */
function callsOf() {
  const calls = performance
    .getEntriesByType('resource')
    .filter(({ name }) => new URL(name).pathname.startsWith('/api/'))
  return calls.filter(({ name }) => !new URL(name).pathname.endsWith('/changes')).map(({ startTime }) => startTime)
}

async function measureDesktop(storageState) {
  const marks = { usable: 'document.querySelector("main table .figures")' }
  const found = []
  for (let round = 0; round < rounds; round += 1) {
    const context = await browser.newContext({ ...desktop, storageState })
    const page = await context.newPage()
    await noteMarks(page, marks)
    found.push(await open(page, '/v/treasury', marks))
    await context.close()
  }
  report(
    'home on a desktop, usable, cold (ms)',
    1_000,
    found.map((load) => load.usable),
  )
  report(
    'requests of home until then',
    5,
    found.map((load) => load.requests),
  )
}

/** Measures the list with answers that are made here, because the speed of the service is measured elsewhere. */
async function measureList(storageState) {
  const context = await browser.newContext({ ...desktop, storageState })
  const page = await context.newPage()
  const { items } = await (await context.request.get(`${base}/api/v1/vaults/treasury/history?limit=1`)).json()
  await page.route('**/api/v1/vaults/treasury/history?*', (route) => {
    const query = new URL(route.request().url()).searchParams
    const [first, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit'))]
    const next = first + limit
    const rows = Array.from({ length: limit }, (_, at) => ({ ...items[0], id: `row${first + at}` }))
    return route.fulfill({ json: { items: rows, nextCursor: next < rowsOfList ? String(next) : null } })
  })
  await page.goto(`${base}/v/treasury/activity`)
  await page.locator('tbody tr[data-index]').first().waitFor()
  const { frames, nodes, rows } = await page.evaluate(`(${scrollDown})(${rowsOfList})`)
  await page.evaluate('scrollTo(0, 0)')
  await page.locator('tbody tr[data-index="0"]').waitFor()
  const again = await page.evaluate(`(${scrollDown})(${rowsOfList})`)
  const session = await context.newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await context.close()
  console.log(`${rows} rows scrolled in ${(frames.reduce((sum, frame) => sum + frame, 0) / 1_000).toFixed(0)} s`)
  report('elements of the rows in the page', 300, [nodes])
  report('frame while the rows load and scroll, 95 of 100 (ms)', 25, [slowFrame(frames)])
  report('frame while they scroll again, 95 of 100 (ms)', 25, [slowFrame(again.frames)])
  report('heap after it (MB)', 60, [usedSize / 1e6])
}

function slowFrame(frames) {
  return frames.toSorted((a, b) => a - b)[Math.floor(frames.length * 0.95)]
}

/** Runs in the page: scrolls to the end, two screens in each frame, and notes how long each frame took. */
async function scrollDown(wanted) {
  const frames = []
  let [nodes, last, still] = [0, performance.now(), 0]
  const lastRow = () => Number([...document.querySelectorAll('tr[data-index]')].at(-1)?.dataset.index ?? 0)
  let rows = lastRow()
  while (rows < wanted - 1 && still < 1_200) {
    const before = scrollY
    scrollBy(0, 1_800)
    const now = await new Promise(requestAnimationFrame)
    frames.push(now - last)
    last = now
    still = scrollY === before ? still + 1 : 0
    // Counting all elements takes long and would distort the frame times, so it is done in every 20th frame only.
    if (frames.length % 20 !== 0 && still === 0) continue
    nodes = Math.max(nodes, document.querySelectorAll('tbody *').length)
    rows = lastRow()
  }
  return { frames: frames.slice(1), nodes, rows: rows + 1 }
}

function report(what, limit, values) {
  const sorted = values.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)]
  if (median > limit) isMissed = true
  const range = values.length === 1 ? '' : ` (${sorted[0].toFixed(0)} to ${sorted.at(-1).toFixed(0)})`
  console.log(
    `${median.toFixed(0).padStart(7)} of ${String(limit).padStart(5)}  ${what}${range}: ${median > limit ? 'MISSED' : 'met'}`,
  )
}
