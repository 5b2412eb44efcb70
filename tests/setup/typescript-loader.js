import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** The hook of Node.js that makes a module of a file. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  const { transform } = await import('oxc-transform')
  const file = fileURLToPath(url)
  const { code, errors } = await transform(file, await readFile(file, 'utf8'), {
    target: 'es2023',
    typescript: { onlyRemoveTypeImports: true },
  })
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  return { format: 'module', source: code, shortCircuit: true }
}
