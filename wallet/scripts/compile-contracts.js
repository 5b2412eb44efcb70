// Compiles contracts/TestToken.sol to contracts/TestToken.json ({abi, bytecode}), which is in the repository so that
// nobody waits for the compiler: `npm run contracts -w wallet`. With `--check` it writes nothing, and fails when the file
// is not what it would write.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const sourceFile = new URL('../contracts/TestToken.sol', import.meta.url)
const outputFile = new URL('../contracts/TestToken.json', import.meta.url)

const compiled = `${JSON.stringify(compile())}\n`
if (!process.argv.includes('--check')) {
  writeFileSync(outputFile, compiled)
} else if (readFileSync(outputFile, 'utf8') !== compiled) {
  console.error('contracts/TestToken.json is not what its source compiles to; run "npm run contracts -w wallet"')
  process.exitCode = 1
}

function compile() {
  const solc = require('solc')
  const input = {
    language: 'Solidity',
    sources: { 'TestToken.sol': { content: readFileSync(sourceFile, 'utf8') } },
    settings: {
      evmVersion: 'paris',
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { 'TestToken.sol': { TestToken: ['abi', 'evm.bytecode.object'] } },
    },
  }
  const findImport = (path) => ({ contents: readFileSync(require.resolve(path), 'utf8') })
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }))
  const faults = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (faults.length > 0) throw new Error(faults.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const { abi, evm } = output.contracts['TestToken.sol'].TestToken
  return { abi, bytecode: `0x${evm.bytecode.object}` }
}
