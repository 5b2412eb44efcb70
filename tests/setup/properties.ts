import fc from 'fast-check'
import { campaignOf } from '../../server/src/testing/campaign.ts'

/** The examples of properties that choose none themselves. */
const { runs, seed } = campaignOf('PROPERTY', { runs: 100, seed: 1 })
fc.configureGlobal({ numRuns: runs, seed })
