// A Vite plugin that serves and builds the data of the reference: the files that `digest` cuts out of openapi.json. The
// name of their folder changes with their content, so that a browser may keep them.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { digest } from './digest.js'

/** @param {string} root the folder of the repository */
export function reference(root) {
  const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'))
  const files = digest(document, readFileSync(join(root, 'docs/errors.md'), 'utf8'))
  const texts = new Map(Object.entries(files).map(([name, content]) => [`${name}.json`, JSON.stringify(content)]))
  const hash = createHash('sha256')
    .update([...texts.values()].join('\n'))
    .digest('base64url')
    .slice(0, 8)
  const folder = `console/reference-${hash}`
  return {
    name: 'reference',
    config: () => ({ define: { referenceFolder: JSON.stringify(`/${folder}`) } }),
    generateBundle() {
      for (const [name, source] of texts) this.emitFile({ type: 'asset', fileName: `${folder}/${name}`, source })
    },
    configureServer({ middlewares }) {
      middlewares.use(`/${folder}/`, (request, response, next) => {
        const text = texts.get((request.url ?? '').slice(1))
        if (text === undefined) next()
        else response.setHeader('content-type', 'application/json').end(text)
      })
    },
  }
}
