// What people sign at the wallet's own origin. It believes nothing that it is handed: an order is taken apart into the fields
// that it shows, and what is signed is computed from those.
import { Fault, readAsked } from './asked.ts'
import { refuse } from './elements.ts'
import { takeRequest } from './one-request.ts'
import { faultOfPlace } from './place.ts'
import { showRegistration } from './registration.ts'
import { showOrder } from './show-order.ts'

async function start(): Promise<void> {
  const fault = faultOfPlace()
  if (fault !== null) return refuse(fault)
  const fragment = await takeRequest()
  if (fragment === null) return
  if (fragment === 'register') return showRegistration()
  try {
    await showOrder(readAsked(fragment))
  } catch (error) {
    refuse(`This is no order that can be signed: ${error instanceof Fault ? error.message : 'it cannot be read'}.`)
  }
}

// A browser that keeps nothing for this page, for one, cannot tell whether it has shown another order.
start().catch((error: Error) => refuse(`This browser cannot show it: ${error.message}`))
