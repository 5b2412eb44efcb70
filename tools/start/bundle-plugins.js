import { pathToFileURL } from 'node:url'

/**
 * Returns the plugins that join the files of a program into one. Packages stay outside, because some of them look for
 * files beside their own.
 *
 * @param {RegExp} inlined packages of very many small files, which are joined, too
 */
export function pluginsFor(inlined) {
  return [
    {
      name: 'keep-outside',
      async resolveId(id, importer) {
        if (importer === undefined) return null
        const found = await this.resolve(id, importer, { skipSelf: true })
        const isOutside = found?.id.includes('/node_modules/') && !inlined.test(found.id)
        return isOutside ? { id, external: true } : null
      },
    },
    {
      // Keeps the original place of each file, because code looks for files beside it.
      name: 'keep-places',
      transform: (code, id) =>
        code.includes('import.meta.url')
          ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
          : null,
    },
  ]
}
