import { expectStatus, expectThat } from '../answers.ts'
import type { Category } from '../check.ts'
import { answerMillisecondsMax } from '../limits.ts'

const section = 'rules-for-every-request' as const
const rule = 'Strongroom waits 10 seconds for an answer.'

export const limits: Category = {
  name: 'limits',
  title: 'Time and load',
  checks: [
    {
      id: 'limits.order-time',
      title: 'POST /transfers answers within ten seconds',
      section,
      rule: 'POST /transfers therefore stores the order, answers, and processes it later.',
      advice: 'Sign and broadcast in the background, not while Strongroom waits for the answer.',
      async run({ call, order }) {
        const answer = await call('POST', '/transfers', { body: await order() })
        expectStatus(answer, 202)
        expectThat(answer.milliseconds <= answerMillisecondsMax, `it took ${answer.milliseconds} ms`, answer)
      },
    },
    {
      id: 'limits.concurrency',
      title: 'Forty simultaneous requests are all answered within ten seconds',
      section,
      rule,
      advice: 'Answer requests independently of each other; queue them rather than refuse them.',
      async run({ call, order, addressOf, options: { network, coinType } }) {
        const { address, derivationPath } = await addressOf('sender')
        const body = await order()
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => [
            call('POST', '/addresses', { body: { network, coinType, derivationPath } }),
            call('POST', '/transfers', { body }),
            call('GET', `/balances?${new URLSearchParams({ network, address })}`),
            call('GET', '/healthz', { client: null }),
          ]).flat(),
        )
        for (const answer of answers) {
          expectStatus(answer, [200, 202])
          expectThat(answer.milliseconds <= answerMillisecondsMax, `one took ${answer.milliseconds} ms`, answer)
        }
      },
    },
  ],
}
