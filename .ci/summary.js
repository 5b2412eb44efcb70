// Says in the last lines what passed and what failed: the output before them is long, and a record may keep its end only.
import { readFileSync } from 'node:fs'
import { timesFile } from './times.js'

const { numPassedTests, numFailedTests, numFailedTestSuites, success, testResults } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
)

for (const file of testResults) {
  const failed = file.assertionResults.filter((test) => test.status === 'failed')
  if (file.status === 'failed' && failed.length === 0) console.log(`FAILED ${file.name}\n${file.message}`)
  for (const test of failed)
    console.log(`FAILED ${file.name}: ${test.fullName}\n${test.failureMessages.join('\n').slice(0, 2000)}`)
}

console.log(`The dearest test files (all are in ${timesFile}):`)
for (const { file, seconds } of JSON.parse(readFileSync(timesFile, 'utf8')).slice(0, 10))
  console.log(`${seconds} s ${file}`)

// A file that does not load fails without a failed test of its own.
const failures = success ? 0 : numFailedTests || numFailedTestSuites || 1
console.log(`${numPassedTests} passed, ${failures} failed`)
