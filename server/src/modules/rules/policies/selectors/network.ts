import { defineSelector, unknownFinding } from './selector.ts'
import { readSet } from './values.ts'

/** The network by its slug. */
export const network = defineSelector(readSet, (slugs, { networkSlug }) =>
  networkSlug === undefined ? unknownFinding : { matched: slugs.includes(networkSlug), observed: networkSlug },
)
