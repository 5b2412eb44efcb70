import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expectStatus, expectThat } from '../answers.ts'
import type { Category } from '../check.ts'
import { answerMillisecondsMax } from '../limits.ts'
import type { WalletUnderTest } from '../wallet-under-test.ts'

const section = 'rules-for-every-request' as const
const undisturbed =
  'A request that is too large (413), nested too deeply, cut off or slow is refused or its connection closed'
const malformed = 'the request is malformed'

export const hostileInput: Category = {
  name: 'hostile',
  title: 'Hostile input',
  checks: [
    {
      id: 'hostile.large-body',
      title: 'A body of 5 MB is refused or its connection closed; the service still answers',
      section,
      rule: undisturbed,
      advice: 'Limit bodies to 64 KiB, and stop reading at the limit.',
      async run(wallet) {
        const raw = JSON.stringify({ ...plain(wallet), label: 'x'.repeat(5_000_000) })
        expectStatus(await wallet.call('POST', '/addresses', { raw }), [0, 400, 413], '5 MB')
        await expectAlive(wallet)
      },
    },
    {
      id: 'hostile.deep-json',
      title: 'A body nested 20,000 levels deep is refused',
      section,
      rule: undisturbed,
      advice: 'Limit the size of bodies, and validate them without recursion.',
      async run(wallet) {
        const raw = `{"network":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
        expectStatus(await wallet.call('POST', '/addresses', { raw }), [0, 400, 413])
        await expectAlive(wallet)
      },
    },
    {
      id: 'hostile.not-an-object',
      title: 'A body that is JSON but no object is a 400',
      section: 'errors',
      rule: malformed,
      advice: 'Validate that the body is an object before its fields are read.',
      async run({ call }) {
        for (const raw of ['null', '[]', '"text"', '1', 'true']) {
          expectStatus(await call('POST', '/transfers', { raw }), 400, raw)
        }
      },
    },
    {
      id: 'hostile.prototype',
      title: 'Members with names of JavaScript, such as constructor, are refused',
      section,
      rule: 'Unknown fields and parameters | 400.',
      advice: 'Refuse every unknown member, and keep networks in a map, not in an object with a prototype.',
      async run(wallet) {
        const body = JSON.stringify(plain(wallet)).slice(0, -1)
        for (const member of ['"__proto__":{"network":"x"}', '"constructor":{"prototype":{"x":1}}']) {
          expectStatus(await wallet.call('POST', '/addresses', { raw: `${body},${member}}` }), 400, member)
        }
      },
    },
    {
      id: 'hostile.text',
      title: 'Texts with control characters, quotes or half of a surrogate pair are a 400',
      section: 'errors',
      rule: malformed,
      advice: 'Match paths, ids and networks with a pattern before they reach the database.',
      async run(wallet) {
        const texts = ['\u0000', "'; drop table addresses; --", '\u202e', '🏦', '\ud800', 'x'.repeat(10_000)]
        for (const text of texts) {
          const shown = JSON.stringify(text.slice(0, 40))
          const path = { ...plain(wallet), derivationPath: `${plain(wallet).derivationPath}${text}` }
          expectStatus(await wallet.call('POST', '/addresses', { body: path }), 400, `derivationPath with ${shown}`)
          const network = { ...plain(wallet), network: `${plain(wallet).network}${text}` }
          expectStatus(await wallet.call('POST', '/addresses', { body: network }), 400, `network with ${shown}`)
        }
      },
    },
    {
      id: 'hostile.content-type',
      title: 'A body that does not say that it is JSON is refused',
      section,
      rule: 'HTTP with JSON bodies in UTF-8',
      advice: 'Accept application/json only: a web page can send other types without a preflight request.',
      async run(wallet) {
        const raw = JSON.stringify(plain(wallet))
        for (const contentType of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
          expectStatus(await wallet.call('POST', '/addresses', { raw, contentType }), [400, 415], contentType)
        }
      },
    },
    {
      id: 'hostile.methods',
      title: 'Methods that the protocol does not have are refused',
      section: 'errors',
      rule: 'the transfer was never accepted',
      advice: 'Answer 404 or 405 to every method that the protocol does not name.',
      async run({ call, order }) {
        const body = await order()
        expectStatus(await call('POST', '/transfers', { body }), 202)
        for (const method of ['DELETE', 'PUT', 'PATCH']) {
          expectStatus(await call(method, `/transfers/${body.id}`), [404, 405], method)
        }
        expectStatus(await call('GET', `/transfers/${body.id}`), 200, 'GET afterwards')
        expectStatus(await call('GET', '/addresses'), [404, 405], 'GET /addresses')
      },
    },
    {
      id: 'hostile.ids-in-paths',
      title: 'Encoded slashes, dots and zero bytes in an id are refused',
      section: 'errors',
      rule: 'the transfer was never accepted',
      advice: 'Match the id of the path with the pattern of ids, after it was decoded once.',
      async run({ call }) {
        for (const id of [
          '..%2fhealthz',
          '%2e%2e%2fhealthz',
          '%00',
          'a%0d%0ax:%20y',
          '%zz',
          '%c0%af',
          "'%20or%201=1",
        ]) {
          expectStatus(await call('GET', `/transfers/${id}`), [400, 404], id)
        }
      },
    },
    {
      id: 'hostile.repeated-parameter',
      title: 'A repeated parameter is a 400',
      section,
      rule: 'Unknown fields and parameters | 400. Nothing is coerced.',
      advice: 'Require a single text for every parameter.',
      async run({ call, addressOf, options: { network } }) {
        const [sender, recipient] = [await addressOf('sender'), await addressOf('recipient')]
        const query = `network=${network}&address=${sender.address}&address=${recipient.address}`
        expectStatus(await call('GET', `/balances?${query}`), 400)
      },
    },
    {
      id: 'hostile.slow-senders',
      title: 'Fifty stalled connections do not delay other requests',
      section,
      rule: undisturbed,
      advice: 'Handle connections independently, and close a connection whose request does not arrive in time.',
      async run(wallet) {
        const sockets = await Promise.all(Array.from({ length: 50 }, (_, index) => stall(wallet.options.url, index)))
        try {
          await expectAlive(wallet)
        } finally {
          for (const socket of sockets) socket.destroy()
        }
      },
    },
  ],
}

function plain({ options: { network, coinType }, pathOf }: WalletUnderTest) {
  return { network, coinType, derivationPath: pathOf('plain') }
}

async function expectAlive(wallet: WalletUnderTest): Promise<void> {
  const answer = await wallet.call('POST', '/addresses', { body: plain(wallet) })
  expectStatus(answer, 200, 'a usual request afterwards')
  const inTime = answer.milliseconds <= answerMillisecondsMax
  expectThat(inTime, `a usual request took ${answer.milliseconds} ms afterwards`, answer)
}

/** Opens a connection whose request stops in its head for an even index, and in its body for an odd index. */
async function stall(url: string, index: number): Promise<Socket> {
  const { protocol, hostname, port, pathname } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket =
    protocol === 'https:'
      ? connectTls({ host, port: Number(port || 443), servername: host })
      : connectTcp({ host, port: Number(port || 80) })
  // A service may refuse so many connections, or close them early.
  socket.on('error', () => undefined)
  const path = `${pathname.replace(/\/+$/, '')}/addresses`
  const head = `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\n`
  await new Promise<void>((resolve) => {
    socket.once('close', resolve)
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      socket.write(index % 2 === 0 ? head : `${head}Content-Length: 100\r\n\r\n{"network":`, () => resolve())
    })
  })
  return socket
}
