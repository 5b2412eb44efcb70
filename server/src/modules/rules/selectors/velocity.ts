import { velocityWindowSecondsMax, velocityWindowSecondsMin } from '../../../lib/limits.ts'
import { addDecimals, decimalPattern } from '../../../lib/money.ts'
import { type Facts, type VelocityScope, type VelocitySum, velocityScopes } from './facts.ts'
import { usdOf } from './payment.ts'
import {
  type Comparison,
  decimalSchema,
  defineSelector,
  faultOf,
  isObject,
  isOneSided,
  type JsonSchema,
  meets,
  objectSchema,
  oneSided,
  type Reading,
  strayKey,
  unknownFinding,
  type ValueForm,
} from './selector.ts'

export type VelocityWindow = { per: VelocityScope; windowSeconds: number }

type VelocityLimit = VelocityWindow & { comparison: Comparison }

const limitSchema = (value: JsonSchema): JsonSchema =>
  objectSchema({
    op: { enum: oneSided },
    value,
    windowSeconds: { type: 'integer', minimum: velocityWindowSecondsMin, maximum: velocityWindowSecondsMax },
    per: { enum: velocityScopes },
  })
const wholePattern = '^[0-9]+$'
const amountLimit: ValueForm<VelocityLimit> = {
  read: readAmountLimit,
  operators: oneSided,
  schema: limitSchema(decimalSchema),
}
const countLimit: ValueForm<VelocityLimit> = {
  read: readCountLimit,
  operators: oneSided,
  schema: limitSchema({ type: 'string', allOf: [{ pattern: decimalPattern }, { pattern: wholePattern }] }),
}

/** The sum of the transfers of the token in the window, including this one, in token units. */
export const velocityAmount = defineVelocity(amountLimit, ({ amount }, sum) =>
  amount === undefined ? null : addDecimals(sum.amount, amount),
)

/** The exact sum of the transfers of all tokens in the window, including this one, in USD. */
export const velocityUsd = defineVelocity(amountLimit, (facts, sum) => {
  const usd = usdOf(facts)
  return usd === null || sum.usd === null ? null : addDecimals(sum.usd, usd)
})

/** The number of transfers in the window, including this one. */
export const velocityCount = defineVelocity(countLimit, (_facts, sum) => String(sum.count + 1))

function defineVelocity(form: ValueForm<VelocityLimit>, measure: (facts: Facts, sum: VelocitySum) => string | null) {
  return defineSelector(form, ({ comparison, windowSeconds, per }, facts) => {
    const sum = facts.velocity?.find((sum) => sum.per === per && sum.windowSeconds === windowSeconds)
    const total = sum === undefined ? null : measure(facts, sum)
    return total === null ? unknownFinding : { matched: meets(comparison, total), observed: total }
  })
}

/** The scope and window in the value of a velocity selector; null when the value is invalid. */
export function readVelocityWindow(value: unknown): VelocityWindow | null {
  const reading = readAmountLimit(value)
  return 'fault' in reading ? null : reading.value
}

function readCountLimit(value: unknown): Reading<VelocityLimit> {
  const reading = readAmountLimit(value)
  if ('fault' in reading) return reading
  const { comparison } = reading.value
  const isWhole = comparison.op !== 'between' && new RegExp(wholePattern).test(comparison.value)
  return isWhole ? reading : faultOf('must be a whole number as a string, such as "10"', 'value')
}

function readAmountLimit(value: unknown): Reading<VelocityLimit> {
  const form = '{op, value, windowSeconds, per}'
  if (!isObject(value)) return faultOf(`must be ${form}`)
  const stray = strayKey(value, ['op', 'value', 'windowSeconds', 'per'])
  if (stray !== null) return faultOf(`does not belong to ${form}`, stray)
  const { op, value: bound, windowSeconds, per } = value
  if (!isOneSided(op)) return faultOf(`must be one of ${oneSided.join(', ')}`, 'op')
  if (typeof bound !== 'string' || !decimalForm.test(bound)) {
    return faultOf('must be a decimal string such as "1000.5"', 'value')
  }
  const isWindow =
    typeof windowSeconds === 'number' &&
    Number.isInteger(windowSeconds) &&
    windowSeconds >= velocityWindowSecondsMin &&
    windowSeconds <= velocityWindowSecondsMax
  if (!isWindow) {
    const message = `must be a whole number from ${velocityWindowSecondsMin} to ${velocityWindowSecondsMax}`
    return faultOf(message, 'windowSeconds')
  }
  const scope = velocityScopes.find((known) => known === per)
  if (scope === undefined) return faultOf(`must be one of ${velocityScopes.join(', ')}`, 'per')
  return { value: { comparison: { op, value: bound }, windowSeconds, per: scope } }
}

const decimalForm = new RegExp(decimalPattern)
