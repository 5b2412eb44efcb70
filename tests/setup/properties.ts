import fc from 'fast-check'
import { campaignOf } from '../../server/src/testing/campaign.ts'

/** The number of examples and the seed of properties that set neither. */
const { runs, seed } = campaignOf('PROPERTY', { runs: 100, seed: 1 })
fc.configureGlobal({ numRuns: runs, seed })
