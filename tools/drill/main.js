// npm run drill:restore -- --points 20 --seed 7: restores backups of a loaded service to random moments, recovers, and compares.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { points: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
})
if (!/^\d{1,4}$/.test(values.points) || !/^\d{1,9}$/.test(values.seed)) {
  process.stderr.write('--points and --seed are whole numbers\n')
  process.exit(2)
}
const { status } = spawnSync('npx', ['vitest', 'run', 'tests/restore-drill.test.ts'], {
  env: { ...process.env, DRILL_POINTS: values.points, DRILL_SEED: values.seed },
  stdio: 'inherit',
})
process.exit(status ?? 1)
