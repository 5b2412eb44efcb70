// Compiles contracts/TestToken.sol to {abi, bytecode}. Usage: node scripts/compile-contracts.js [output file]
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const sourceFile = fileURLToPath(new URL('../contracts/TestToken.sol', import.meta.url))
const outputFile = process.argv[2] ?? fileURLToPath(new URL('../dist/contracts/TestToken.json', import.meta.url))

if (!isCurrent(outputFile)) {
  mkdirSync(dirname(outputFile), { recursive: true })
  // Written aside and renamed, because several processes may compile at the same time.
  const draft = `${outputFile}.${process.pid}`
  writeFileSync(draft, JSON.stringify(compile()))
  renameSync(draft, outputFile)
}

function isCurrent(file) {
  try {
    return statSync(file).mtimeMs >= statSync(sourceFile).mtimeMs
  } catch {
    return false
  }
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
