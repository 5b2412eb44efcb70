import type { Category } from '../check.ts'
import { answerBytesMax, answerMillisecondsMax, authorityBytesMax, changesBytesMax } from '../limits.ts'
import { Violation } from '../outcomes.ts'
import type { AnswerSeen, WalletUnderTest } from '../wallet-under-test.ts'

const section = 'rules-for-every-request' as const

/** The rules for every answer of the run. These checks come last and send no requests. */
export const wholeRun: Category = {
  name: 'run',
  title: 'Every answer of this run',
  checks: [
    {
      id: 'run.json',
      title: 'Every answer was JSON and said so',
      section,
      rule: 'HTTP with JSON bodies in UTF-8',
      advice: 'Send the header content-type: application/json with every answer, errors included.',
      async run(wallet) {
        const isRight = ({ status, isJson, contentType }: AnswerSeen) =>
          status === 0 || (isJson && /^application\/json\b/i.test(contentType))
        expectOfAll(wallet, isRight, ({ contentType }) => `an answer of the type "${contentType}" is not JSON`)
      },
    },
    {
      id: 'run.no-server-error',
      title: 'No answer was a server error',
      section: 'errors',
      rule: '500 | unexpected; requestId finds it in the log',
      advice: 'Find the request below in your log. 5xx means to Strongroom that the outcome is unknown.',
      async run(wallet) {
        expectOfAll(
          wallet,
          ({ status }) => status < 500,
          ({ status }) => `answered ${status}`,
        )
      },
    },
    {
      id: 'run.no-redirect',
      title: 'No answer was a redirect',
      section,
      rule: 'Redirects are not followed.',
      advice: 'Answer at the path that was asked for.',
      async run(wallet) {
        expectOfAll(
          wallet,
          ({ status }) => status < 300 || status >= 400,
          ({ status }) => `answered ${status}`,
        )
      },
    },
    {
      id: 'run.time',
      title: 'Every answer came within ten seconds',
      section,
      rule: 'Strongroom waits 10 seconds for an answer.',
      advice: 'Do slow work in the background, and answer 503 when a node does not answer you.',
      async run(wallet) {
        const isRight = ({ milliseconds }: AnswerSeen) => milliseconds <= answerMillisecondsMax
        expectOfAll(wallet, isRight, ({ milliseconds }) => `an answer took ${milliseconds} ms`)
      },
    },
    {
      id: 'run.size',
      title: 'No answer was longer than 64 KiB, and no list longer than 2 MiB',
      section,
      rule: 'Strongroom reads at most 64 KiB of an answer.',
      advice: 'Answer what the protocol names, and no more.',
      async run(wallet) {
        expectOfAll(
          wallet,
          ({ bytes, exchange }) => bytes <= bytesMaxOf(exchange.request.path),
          ({ bytes }) => `an answer had ${bytes} bytes`,
        )
      },
    },
    {
      id: 'run.no-secrets',
      title: 'No answer contained a secret',
      section: 'security-advice',
      rule: 'Never log bodies of signed transactions, secrets or mnemonics.',
      advice: 'Never write headers of the request into an answer.',
      async run(wallet) {
        expectOfAll(
          wallet,
          ({ showsSecret }) => !showsSecret,
          () => 'an answer contains a secret of this run',
        )
      },
    },
  ],
}

function bytesMaxOf(path: string): number {
  if (/^\/authority(\/|$)/.test(path)) return authorityBytesMax
  return /^\/(transfers\/changes|accepted)/.test(path) ? changesBytesMax : answerBytesMax
}

function expectOfAll(
  { answersSeen }: WalletUnderTest,
  isRight: (answer: AnswerSeen) => boolean,
  describe: (answer: AnswerSeen) => string,
): void {
  if (!answersSeen.some(({ status }) => status !== 0))
    throw new Violation('no request was answered, so nothing was seen')
  const wrong = answersSeen.find((answer) => !isRight(answer))
  if (wrong !== undefined) throw new Violation(describe(wrong), [wrong.exchange])
}
