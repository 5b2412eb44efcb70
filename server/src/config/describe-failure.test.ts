import { expect, it } from 'vitest'
import { describeFailure } from './describe-failure.ts'

it.each(['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'])(
  'names the setting for a database with a private certificate authority (%s)',
  (code) => {
    const described = describeFailure(Object.assign(new Error('self-signed certificate'), { code }))
    expect(described).toContain(code)
    expect(described).toContain('set DATABASE_CA')
  },
)

it('says that a certificate is for another name', () => {
  const error = Object.assign(new Error("Host: db.internal. is not cert's CN: db"), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
  expect(describeFailure(error)).toContain('another name than that in DATABASE_URL')
})
