import type { Exchange } from './outcomes.ts'
import type { Report, Result } from './run-checks.ts'

const labels = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' }

/** One check as lines of text: one line, and on failure what was sent, what came back and what to do. */
export function printResult({ id, title, status, reason, rule, link, advice, exchanges = [] }: Result): string {
  const head = `${labels[status]}  ${id}  ${title}`
  if (status === 'passed') return `${head}\n`
  if (status === 'skipped') return `${head}\n      not checked: ${reason}\n`
  return [
    head,
    `      ${reason}`,
    `      Protocol: “${rule}” (${link})`,
    ...exchanges.flatMap(printExchange).map((line) => `      ${line}`),
    `      What to do: ${advice}`,
    '',
  ].join('\n')
}

export function printSummary({ passed, failed, skipped }: Report): string {
  const rest = skipped === 0 ? '' : ` Skipped checks say nothing about the wallet service; see the reasons above.`
  return `${passed} passed, ${failed} failed, ${skipped} skipped.${rest}\n`
}

function printExchange({ request, response, milliseconds }: Exchange): string[] {
  const headers = Object.entries(request.headers).map(([name, value]) => `  ${name}: ${value}`)
  const sent = [`Sent: ${request.method} ${request.path}`, ...headers]
  if (request.body !== undefined) sent.push(...indent(request.body))
  if ('fault' in response) return [...sent, `Received: nothing (${response.fault})`]
  const received = `Received: ${response.status} after ${milliseconds} ms`
  return [...sent, received, ...(response.body === '' ? [] : indent(response.body))]
}

/** Control characters of a foreign text could rewrite the terminal. */
function indent(text: string): string[] {
  return text.split('\n').map((line) => `  ${line.replace(/\p{Cc}|\p{Cf}|\p{Cs}/gu, '\uFFFD')}`)
}
