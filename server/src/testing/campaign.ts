import { randomInt } from 'node:crypto'

/** The number of cases that a random test tries, and the seed of the first case. */
export type Campaign = { runs: number; seed: number }

/**
 * Returns the campaign. The suite tries few cases of a fixed seed, so that all runs try the same cases. The scripts
 * `nightly:*` set NAME_RUNS: then the seed is new, and printed. NAME_SEED repeats a run.
 */
export function campaignOf(name: string, suite: Campaign, env: NodeJS.ProcessEnv = process.env): Campaign {
  const [runs, seed] = [env[`${name}_RUNS`], env[`${name}_SEED`]]
  if (runs === undefined && seed === undefined) return suite
  const campaign = { runs: Number(runs ?? suite.runs), seed: seed === undefined ? randomInt(1, 1e9) : Number(seed) }
  console.info(`${name}_RUNS=${campaign.runs} ${name}_SEED=${campaign.seed}`)
  return campaign
}
