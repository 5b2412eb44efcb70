import { ErrorBody, expectStatus, expectThat, FieldFaults, faultsOf } from '../answers.ts'
import type { Category } from '../check.ts'
import { unaffordable } from '../limits.ts'
import { Violation } from '../outcomes.ts'

const section = 'errors' as const
const body = '{ "error": "Bad Request", "message": "…", "code": 400,'

export const errors: Category = {
  name: 'errors',
  title: 'Errors',
  checks: [
    {
      id: 'errors.form',
      title: 'Errors are JSON with error, message, and a code that equals the status',
      section,
      rule: body,
      advice: 'Write every error in one place, those of the router and of the JSON parser too.',
      async run({ call, nextId }) {
        for (const answer of [
          await call('POST', '/addresses', { body: {} }),
          await call('POST', '/addresses', { body: {}, client: null }),
          await call('GET', `/transfers/${nextId()}`),
          await call('GET', '/no-such-operation'),
          await call('GET', '/transfers/%zz'),
          await call('POST', '/addresses', { raw: '{"network":' }),
        ]) {
          const faults = faultsOf(ErrorBody, answer.json)
          if (faults !== null) throw new Violation(faults, [answer.exchange])
          const { code } = answer.json as { code: number }
          expectThat(code === answer.status, `code is ${code}, the status is ${answer.status}`, answer)
        }
      },
    },
    {
      id: 'errors.fields',
      title: 'A 400 names the field in details',
      section,
      rule: 'details lists the fields',
      advice: 'Answer details: [{ field, message }], one entry for each wrong field.',
      async run({ call, order }) {
        const cases: [string, string, object][] = [
          ['network', '/addresses', { network: 'no-such-network', coinType: 60, derivationPath: 'm/44/60/0/0' }],
          ['amount', '/transfers', { ...(await order()), amount: '-1' }],
          ['memo', '/transfers', { ...(await order()), memo: 'unexpected' }],
          ['toAddress', '/transfers', { ...(await order()), toAddress: undefined }],
        ]
        for (const [field, path, wrong] of cases) {
          const answer = await call('POST', path, { body: wrong })
          const faults = faultsOf(FieldFaults, answer.json)
          if (faults !== null) throw new Violation(faults, [answer.exchange])
          const { details } = answer.json as { details: { field: string }[] }
          expectThat(
            details.some((detail) => detail.field === field),
            `details does not name ${field}`,
            answer,
          )
        }
      },
    },
    {
      id: 'errors.conflict',
      title: 'The details of a 409 are a sentence',
      section,
      rule: 'the id belongs to another order; details is a sentence',
      advice: 'Answer details as a string that says what differs.',
      async run({ call, order }) {
        const first = await order()
        await call('POST', '/transfers', { body: first })
        const answer = await call('POST', '/transfers', { body: { ...first, amount: (unaffordable + 3n).toString() } })
        const { details } = (answer.json ?? {}) as { details?: unknown }
        expectThat(typeof details === 'string' && details !== '', 'details is not a sentence', answer)
      },
    },
    {
      id: 'errors.broken-json',
      title: 'A body that is not JSON is a 400',
      section,
      rule: 'the request is malformed',
      advice: 'Map the error of the JSON parser to 400.',
      async run({ call }) {
        for (const raw of ['{"network":', '', 'network=ethereum', '{"network": NaN}', "{'network': 1}"]) {
          expectStatus(await call('POST', '/addresses', { raw }), 400, JSON.stringify(raw))
        }
      },
    },
  ],
}
