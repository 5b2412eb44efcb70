import type { Category } from './check.ts'
import { accepted } from './checks/accepted.ts'
import { accountKeys } from './checks/account-keys.ts'
import { addresses } from './checks/addresses.ts'
import { authentication } from './checks/authentication.ts'
import { authority } from './checks/authority.ts'
import { balances } from './checks/balances.ts'
import { changes } from './checks/changes.ts'
import { errors } from './checks/errors.ts'
import { fees } from './checks/fees.ts'
import { health } from './checks/health.ts'
import { hostileInput } from './checks/hostile-input.ts'
import { limits } from './checks/limits.ts'
import { nextAuthority } from './checks/next-authority.ts'
import { orderFields } from './checks/order-fields.ts'
import { orders } from './checks/orders.ts'
import { outputs } from './checks/outputs.ts'
import { payments } from './checks/payments.ts'
import { replacement } from './checks/replacement.ts'
import { stops } from './checks/stops.ts'
import { transactions } from './checks/transactions.ts'
import { webhooks } from './checks/webhooks.ts'
import { wholeRun } from './checks/whole-run.ts'

/** All checks, in the order in which they run. What holds for every answer comes last, when all answers were seen. */
export const categories: readonly Category[] = [
  health,
  authentication,
  addresses,
  accountKeys,
  balances,
  fees,
  orders,
  orderFields,
  changes,
  accepted,
  errors,
  hostileInput,
  limits,
  authority,
  stops,
  nextAuthority,
  payments,
  replacement,
  transactions,
  outputs,
  webhooks,
  wholeRun,
]
