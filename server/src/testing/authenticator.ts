import { type Algorithm, type Claims, newPasskey, SoftwarePasskey } from '../../../demo/src/software-passkey.ts'

type Asked = Parameters<SoftwarePasskey['get']>[0]

/** The authenticator of a test: as that of the demo, and it counts what it signs. It can do each thing wrongly. */
export class Authenticator extends SoftwarePasskey {
  private count = 0

  constructor(origin = 'http://localhost:8420', algorithm: Algorithm = 'ES256') {
    super(origin, newPasskey(algorithm))
  }

  override get(options: Asked, claims: Claims = {}) {
    this.count += 1
    return super.get(options, { count: this.count, ...claims })
  }
}
