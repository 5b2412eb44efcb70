import { expectAnswer, expectThat, Health } from '../answers.ts'
import type { Category } from '../check.ts'

const rule =
  '200 { "status": "ok", "networks": [{ "network", "reachable", "headBlock", "nextBlock" }] }, without a token.'

export const health: Category = {
  name: 'health',
  title: 'Health',
  checks: [
    {
      id: 'health.answers',
      title: 'GET /healthz answers 200 without a token, in the form of the protocol',
      section: 'get-healthz',
      rule,
      advice: 'Answer GET /healthz before the token is checked, with a status and one entry for each network.',
      async run({ call }) {
        expectAnswer(await call('GET', '/healthz', { client: null }), 200, Health)
      },
    },
    {
      id: 'health.network',
      title: 'GET /healthz names the network, whose node is reachable',
      section: 'get-healthz',
      rule,
      advice: 'List every network that is configured, under the name by which Strongroom orders, and ask its node.',
      async run({ call, options }) {
        const answer = await call('GET', '/healthz', { client: null })
        const networks = (answer.json as { networks?: { network?: unknown; reachable?: unknown }[] } | null)?.networks
        const found = Array.isArray(networks) ? networks.find(({ network }) => network === options.network) : undefined
        expectThat(found !== undefined, `no entry for the network ${options.network}`, answer)
        expectThat(found.reachable === true, `the network ${options.network} is not reachable`, answer)
      },
    },
  ],
}
