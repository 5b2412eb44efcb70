import { canBeGuessed, guessable } from '../lib/secret-strength.ts'
import { splitList } from '../lib/secrets.ts'
import { type Risk, risks } from './settings.ts'

export type Environment = Record<string, string | undefined>

/** Returns functions that read settings and add the faults of their values to `faults`. */
export function createReader(env: Environment, faults: string[]) {
  const text = (name: string): string | null => {
    const value = env[name]?.trim()
    return value === undefined || value === '' ? null : value
  }
  const flag = (name: string): boolean => {
    const value = text(name)
    if (value === null || value === 'false' || value === '0') return false
    if (value === 'true' || value === '1') return true
    faults.push(`${name} must be true or false, not "${value}"`)
    return false
  }
  const onOff = (name: string, fallback = true): boolean => {
    const value = text(name)
    if (value !== null && value !== 'on' && value !== 'off') faults.push(`${name} must be on or off, not "${value}"`)
    return value === null ? fallback : value !== 'off'
  }
  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const value = text(name)
    if (value === null) return fallback
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    faults.push(`${name} must be a whole number from ${min} to ${max}, not "${value}"`)
    return fallback
  }
  const url = (name: string, protocols: string[]): string | null => {
    const value = text(name)
    if (value === null) return null
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value
    faults.push(`${name} must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`)
    return null
  }
  const list = (name: string): string[] => splitList(text(name) ?? '')

  const demo = flag('DEMO')
  const requiredOutsideDemo = (name: string) => {
    if (!demo && text(name) === null) faults.push(`${name} is required outside demo mode`)
  }

  const allowed = list('ALLOW_INSECURE')
  for (const name of allowed) {
    if (!risks.includes(name as Risk)) faults.push(`ALLOW_INSECURE may name ${risks.join(', ')}, not "${name}"`)
  }
  const allowedRisks: string[] = []
  /** Refuses an unsafe setting with a sentence about the danger, unless the operator allows the risk by name. */
  const refuse = (risk: Risk, sentence: string) => {
    if (demo) return
    if (allowed.includes(risk)) allowedRisks.push(sentence)
    else faults.push(`${sentence} (ALLOW_INSECURE=${risk} accepts it)`)
  }
  const refuseWeak = (name: string, secrets: (string | null)[]) => {
    if (secrets.some((secret) => secret !== null && canBeGuessed(secret))) refuse('secrets', `${name} ${guessable}`)
  }
  return {
    demo,
    allowed,
    allowedRisks,
    faults,
    text,
    onOff,
    integer,
    url,
    list,
    requiredOutsideDemo,
    refuse,
    refuseWeak,
  }
}

export type Reader = ReturnType<typeof createReader>
