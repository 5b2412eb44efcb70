// A reporter that keeps the time of each test file as JSON, the dearest first: --reporter=./.ci/times.js
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const timesFile = fileURLToPath(new URL('times.json', import.meta.url))

export default class Times {
  onTestRunEnd(modules) {
    const times = modules.map((module) => {
      const { setupDuration, collectDuration, duration } = module.diagnostic()
      const seconds = Math.round((setupDuration + collectDuration + duration) / 100) / 10
      return { file: module.relativeModuleId, seconds }
    })
    times.sort((a, b) => b.seconds - a.seconds)
    writeFileSync(timesFile, `[\n${times.map((time) => `  ${JSON.stringify(time)}`).join(',\n')}\n]\n`)
  }
}
