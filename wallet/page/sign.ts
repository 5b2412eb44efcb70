// The page on which people sign at the wallet's own origin. It believes nothing that it is handed: a document is taken apart into what it
// shows, and what is signed is computed from that.
import { SigningError } from '../../sdk/src/signing/signing.ts'
import { type Asked, Fault, readAsked } from './asked.ts'
import { authorityRequest } from './authority-request.ts'
import { refuse } from './elements.ts'
import { registration, takeRequest } from './one-request.ts'
import { orderRequest } from './order-request.ts'
import { payoutRequest } from './payout-request.ts'
import { faultOfPlace } from './place.ts'
import { showRegistration } from './registration.ts'
import { type Request, showRequest } from './request.ts'

async function start(): Promise<void> {
  const fault = faultOfPlace()
  if (fault !== null) return refuse(fault)
  const fragment = await takeRequest()
  if (fragment === null) return
  if (fragment === registration) return showRegistration()
  try {
    const requested = await readAsked(fragment)
    await showRequest(requested, await requestOf(requested))
  } catch (error) {
    const isKnown = error instanceof Fault || error instanceof SigningError
    refuse(`This is nothing that can be signed: ${isKnown ? error.message : 'it cannot be read'}.`)
  }
}

function requestOf(requested: Asked): Promise<Request> {
  if (requested.kind === 'order') return orderRequest(requested)
  return requested.kind === 'payout' ? payoutRequest(requested) : authorityRequest(requested)
}

// A browser that keeps nothing for this page, for one, cannot tell whether it has shown another order.
start().catch((error: Error) => refuse(`This browser cannot show it: ${error.message}`))
