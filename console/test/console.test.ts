import { afterAll, beforeAll } from 'vitest'
import { activityFlows } from './flows/activity.ts'
import { administrationFlows } from './flows/administration.ts'
import { figureFlows } from './flows/figures.ts'
import { holdFlows } from './flows/holds.ts'
import { orphanFlows } from './flows/orphans.ts'
import { passkeyFlows } from './flows/passkeys.ts'
import { proofFlows } from './flows/proof.ts'
import { protectedFlows } from './flows/protected.ts'
import { referenceFlows } from './flows/reference.ts'
import { rulesFlows } from './flows/rules.ts'
import { sendFlows } from './flows/send.ts'
import { signingFlows } from './flows/signing.ts'
import { stopFlows } from './flows/stops.ts'
import { voteFlows } from './flows/vote.ts'
import { waysOutFlows } from './flows/ways-out.ts'
import { pagesAreSound } from './pages.ts'
import { type Stack, startStack } from './support/stack.ts'

let stack: Stack

// The stack starts once: the flows run one after the other in the same organisation.
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack?.stop())

voteFlows(() => stack)
sendFlows(() => stack)
activityFlows(() => stack)
administrationFlows(() => stack)
holdFlows(() => stack)
figureFlows(() => stack)
orphanFlows(() => stack)
passkeyFlows(() => stack)
waysOutFlows(() => stack)
rulesFlows(() => stack)
proofFlows(() => stack)
protectedFlows(() => stack)
signingFlows(() => stack)
stopFlows(() => stack)
referenceFlows(() => stack)
pagesAreSound(() => stack)
