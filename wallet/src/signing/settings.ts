/** The origins of the page for signatures, and of the console to which the page hands signatures. */
export type SigningConfig = {
  /** Origin of the page; its host is the RP ID of the passkeys that are made there. */
  origin: string
  /** Origin of the console, which alone gets signatures from the page. */
  consoleOrigin: string
}

type Environment = Record<string, string | undefined>

/** The page is off unless both settings are set. */
export function readSigning(environment: Environment, faults: string[]): { signing?: SigningConfig } {
  const origin = environment.WALLET_SIGNING_ORIGIN || undefined
  const consoleOrigin = environment.WALLET_CONSOLE_ORIGIN || undefined
  if (origin === undefined && consoleOrigin === undefined) return {}
  const before = faults.length
  for (const [name, value] of Object.entries({
    WALLET_SIGNING_ORIGIN: origin,
    WALLET_CONSOLE_ORIGIN: consoleOrigin,
  })) {
    if (value === undefined) faults.push(`${name} is required: the page and the console name each other`)
    else if (!isPageOrigin(value)) {
      faults.push(`${name} must be an origin such as https://sign.example.org, without a path; http only on localhost`)
    }
  }
  if (faults.length > before) return {}
  const [host, consoleHost] = [origin!, consoleOrigin!].map((origin) => new URL(origin).hostname)
  if (`.${consoleHost}`.endsWith(`.${host}`)) {
    // A page may ask for the passkeys of its host, and of the domains above it.
    faults.push('WALLET_SIGNING_ORIGIN must have another host than WALLET_CONSOLE_ORIGIN, and none above it')
  }
  return { signing: { origin: origin!, consoleOrigin: consoleOrigin! } }
}

export const rpIdOf = ({ origin }: SigningConfig): string => new URL(origin).hostname

/** Returns true for an origin on which browsers permit passkeys: https, or localhost. An IP address cannot be an RP ID. */
function isPageOrigin(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { origin, protocol, hostname } = new URL(value)
  if (origin !== value || /^[\d.]+$|^\[/.test(hostname)) return false
  return protocol === 'https:' || (protocol === 'http:' && /(^|\.)localhost$/.test(hostname))
}
