import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContext, Page } from 'playwright-core'
import { until } from '../../../demo/src/testing/demo.ts'
import { type Answered, apiCheck, type Sent } from './api-check.ts'

/** Everything that is wrong with what a page did so far: empty, or a test fails. */
export type WatchedPage = { page: Page; faults: string[] }

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * A page whose errors, refused styles and scripts, failed requests, requests to other hosts, and calls that are not as
 * `openapi.json` has them are noted.
 */
export async function watchPage(context: BrowserContext, origin: string): Promise<WatchedPage> {
  const faults: string[] = []
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const note = (fault: string) => faults.push(`${new URL(page.url()).pathname}: ${fault}`)
  page.on('console', (message) => {
    const { url } = message.location()
    if (message.type() === 'error' && !isExpected(message.text())) note(`${message.text()} ${url}`)
  })
  page.on('pageerror', (error) => note(error.message))
  page.on('response', (response) => {
    if (response.status() >= 500) note(`${response.status()} ${response.request().method()} ${response.url()}`)
  })
  page.on('request', (request) => {
    const { protocol, origin: requestOrigin } = new URL(request.url())
    if (protocol.startsWith('http') && requestOrigin !== origin) note(`asks another host: ${request.url()}`)
  })
  await checkCalls(page, note)
  await page.addInitScript(
    'addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => ' +
      'console.error("policy: " + violatedDirective + " " + blockedURI + " " + sample))',
  )
  return { page, faults }
}

/**
 * The driver does not see the body of a request that is sent as a stream, as the SDK does. So the page reports its own calls;
 * what is noted is noted before the page has its answer, so that no flow ends without it.
 */
const reportCalls = `const send = globalThis.fetch
  const isOfApi = (url) => new URL(url, location.href).pathname.startsWith('/api/')
  globalThis.fetch = async (...asked) => {
    const request = new Request(...asked)
    if (!isOfApi(request.url)) return send(request)
    const { method, url } = request
    const text = await request.clone().text()
    await reportCall({ method, url, headers: Object.fromEntries(request.headers), body: text === '' ? null : text })
    const answer = await send(request)
    const headers = Object.fromEntries(answer.headers)
    const body = headers['content-type']?.startsWith('application/json') ? await answer.clone().text() : null
    await reportCall({ method, url }, { status: answer.status, headers, body })
    return answer
  }`

async function checkCalls(page: Page, note: (fault: string) => void): Promise<void> {
  const check = apiCheck()
  await page.exposeFunction('reportCall', (sent: Sent, answered?: Answered) => {
    const faults = answered === undefined ? check.faultsOfRequest(sent) : check.faultsOfAnswer(sent, answered)
    for (const fault of faults) note(fault)
  })
  await page.addInitScript(reportCalls)
  // Requests that no script sends, such as images and downloads.
  page.on('request', (request) => {
    const url = request.url()
    if (request.resourceType() === 'fetch' || !new URL(url).pathname.startsWith('/api/')) return
    const sent = { method: request.method(), url, headers: {}, body: null }
    for (const fault of check.faultsOfRequest(sent)) note(fault)
  })
}

/** A refused order and a page that does not exist are answers, which Chromium reports as errors all the same. */
function isExpected(text: string): boolean {
  return /^Failed to load resource: the server responded with a status of 4(00|04|09|22)/.test(text)
}

/** Waits until the page has its heading and nothing of it loads any more. */
export async function settled(page: Page): Promise<void> {
  await isSo(page, `document.querySelector('h1') !== null && document.querySelector('[aria-busy="true"]') === null`)
}

/** Waits until an expression is true. The driver's own way of it is refused by the content policy of the page. */
export async function isSo(page: Page, expression: string): Promise<void> {
  await until(async () => (await page.evaluate(expression)) === true)
}

type Violation = { id: string; impact: string; nodes: { html: string; any: { message: string }[] }[] }

/** Returns the violations that axe-core finds: the rule and the first element that violates it. */
export async function axeViolations(page: Page): Promise<string[]> {
  // The content policy of the page forbids script elements; the protocol of the browser is not bound by it.
  if ((await page.evaluate('"axe" in window')) !== true) await page.evaluate(axe)
  // No rule that runs looks at the text of style sheets, which axe-core would request again for each page.
  const options = '{ resultTypes: ["violations"], preload: false }'
  const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as {
    violations: Violation[]
  }
  return violations.map(({ id, impact, nodes }) => {
    const why = nodes[0]?.any[0]?.message ?? ''
    return `${id} (${impact}, ${nodes.length}): ${nodes[0]?.html.slice(0, 200)} ${why}`
  })
}

/** Returns the number of pixels of the page beyond the right edge of the screen. */
export async function overflowOf(page: Page): Promise<number> {
  return (await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')) as number
}
