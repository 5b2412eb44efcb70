#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `strongroom-wallet-conformance: Node.js 20.19 or newer is needed; this is ${process.versions.node}\n`,
  )
  process.exit(1)
}

await import('../dist/cli.js')
