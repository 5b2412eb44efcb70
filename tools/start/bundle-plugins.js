import { pathToFileURL } from 'node:url'

/**
 * What joins the files of a program to one: packages stay outside, because some of them look for files beside their own.
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
      // Code finds the files beside it where it was before.
      name: 'keep-places',
      transform: (code, id) =>
        code.includes('import.meta.url')
          ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
          : null,
    },
  ]
}
