import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { megabytesOf } from './lib/processes.ts'
import { runOnStack } from './lib/run-bench.ts'

/**
 * Measures the cost of 400 clients that begin a request and never finish it: the growth of the node's memory, and the
 * time until the last client is disconnected. There are four kinds of client: no bytes at all, half a head, and a small
 * or large body that stops before its end.
 */
const senders = 400
const waitSecondsMax = 120

const head = (bytes: number) =>
  `POST /webhooks/wallet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`
const kinds: Record<string, string> = {
  'nothing at all': '',
  'half a head': 'POST /webhooks/wallet HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
  'a body of 60,000 bytes but one': head(60_000) + 'x'.repeat(59_999),
  'a body of 1,000,000 bytes but one': head(1_000_000) + 'x'.repeat(999_999),
}

await runOnStack(async ({ record, stack }) => {
  // The first requests load code, which must not count as a cost of the clients.
  for (let i = 0; i < 200; i += 1) await (await fetch(`http://127.0.0.1:${stack.port}/readyz`)).text()
  for (const [kind, text] of Object.entries(kinds)) {
    const before = megabytesOf(stack.nodePid, 'VmRSS')
    const startedAt = performance.now()
    const sockets = await Promise.all(Array.from({ length: senders }, () => open(stack.port, text)))
    const ends = Promise.all(sockets.map(({ closed }) => closed))
    let most = 0
    let isOver = false
    void ends.then(() => {
      isOver = true
    })
    while (!isOver && performance.now() - startedAt < waitSecondsMax * 1_000) {
      most = Math.max(most, megabytesOf(stack.nodePid, 'VmRSS'))
      await sleep(100)
    }
    const seconds = (performance.now() - startedAt) / 1_000
    const statuses = new Set(sockets.map(({ status }) => status()))
    if (!isOver) throw new Error(`Senders of ${kind} were not disconnected within ${waitSecondsMax} s`)
    record.add(`${senders} senders of ${kind}: resident memory`, 'MB', most - before)
    record.add(`  the last is gone, answers: ${[...statuses].join(', ')}`, 's', seconds)
    for (const { socket } of sockets) socket.destroy()
  }
})

async function open(port: number, text: string) {
  const socket: Socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1')
  })
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  socket.write(text)
  return { socket, closed, status: () => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none' }
}
