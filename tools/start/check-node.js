// `npm start` and `npm test` check the version first, because an older Node.js would fail later with a stack trace.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`Strongroom: Node.js 20.19 or newer is needed; this is ${process.versions.node}\n`)
  process.exit(1)
}
