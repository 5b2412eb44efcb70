import { type Algorithm, type Claims, newPasskey, SoftwarePasskey } from '../../../demo/src/software-passkey.ts'

/** The authenticator of a test. It works like that of the demo and counts its signatures. It can make each mistake on purpose. */
export class Authenticator extends SoftwarePasskey {
  private count = 0

  constructor(origin = 'http://localhost:8420', algorithm: Algorithm = 'ES256') {
    super(origin, newPasskey(algorithm))
  }

  override get(challenge: string, claims: Claims = {}) {
    this.count += 1
    return super.get(challenge, { count: this.count, ...claims })
  }
}
