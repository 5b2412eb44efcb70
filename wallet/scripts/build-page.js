// Makes the page for signatures: joins its modules to the one script of the page, and puts script and style where the wallet service
// reads them, beside the sources and beside the compiled files. It writes only files whose content has changed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const wallet = new URL('../', import.meta.url)

const bundle = await rolldown({ input: fileURLToPath(new URL('page/sign.ts', wallet)), logLevel: 'warn' })
const { output } = await bundle.generate({ format: 'esm' })
await bundle.close()
if (output.length !== 1) throw new Error('the page for signatures must be one script')
const files = { 'sign.js': output[0].code, 'sign.css': readFileSync(new URL('page/sign.css', wallet), 'utf8') }
for (const place of ['src', 'dist']) {
  const folder = new URL(`${place}/signing/assets/`, wallet)
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) put(new URL(name, folder), content)
}

function put(file, content) {
  if (readOrNull(file) !== content) writeFileSync(file, content)
}

function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
