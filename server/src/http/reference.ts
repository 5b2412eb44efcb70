import swaggerUi from '@fastify/swagger-ui'
import type { App } from './endpoints.ts'

/** The reference to read and to try, at /docs. It needs no other host. */
export async function registerReference(app: App): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: {
      // Without the top bar of the library, which selects a document: there is only one.
      layout: 'BaseLayout',
      docExpansion: 'none',
      deepLinking: true,
      // Below the operations the schemas would be a second list of 120 entries, which search does not filter.
      defaultModelsExpandDepth: -1,
      filter: true,
      // One that replaces the filter of the library, which looks at tags only. The page receives its text.
      plugins: [
        { fn: { opsFilter: findOperations }, statePlugins: { layout: { wrapSelectors: { isShown: showFound } } } },
      ] as never,
    },
    theme: {
      title: 'Strongroom API',
      js: [{ filename: 'page.js', content: script }],
      css: [{ filename: 'page.css', content: styles }],
    },
    // The library takes ten times as long for a document of OpenAPI 3.1, because it resolves all of it at the start
    // (swagger-api/swagger-ui#10748). What it shows of ours is the same in both; /openapi.json says what the document is.
    transformSpecification: (document) => ({ ...document, openapi: '3.0.4' }),
    transformSpecificationClone: false,
  })
}

type ImmutableMap = {
  get(name: string, otherwise?: unknown): unknown
  filter(test: (value: ImmutableMap) => boolean): ImmutableMap
  set(name: string, value: unknown): ImmutableMap
  size: number
}

/**
 * The operations in which every word of the phrase occurs: in tag, method, path, summary, operationId or description. It
 * runs in the page, which receives its text, so that it refers to nothing outside.
 */
function findOperations(tags: ImmutableMap, phrase: string): ImmutableMap {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean)
  const found = (tags as unknown as { map(to: (tag: ImmutableMap, name: string) => ImmutableMap): ImmutableMap }).map(
    (tag, name) => {
      const operations = tag.get('operations') as ImmutableMap
      const fitting = operations.filter((entry) => {
        const operation = entry.get('operation') as ImmutableMap
        const parts = ['summary', 'operationId', 'description'].map((part) => operation.get(part, ''))
        const text = [name, entry.get('method'), entry.get('path'), ...parts].join(' ').toLowerCase()
        return words.every((word) => text.includes(word))
      })
      return tag.set('operations', fitting)
    },
  )
  return found.filter((tag) => (tag.get('operations') as ImmutableMap).size > 0)
}

type Layout = { layoutSelectors: { currentFilter(): unknown } }

/** Opens the tags of the operations that were found. Like `findOperations` it runs in the page. */
function showFound(isShown: (key: string[], otherwise: unknown) => unknown, system: Layout) {
  return (_state: unknown, key: string[], otherwise: unknown) => {
    const phrase = system.layoutSelectors.currentFilter()
    const isSearch = typeof phrase === 'string' && !['', 'true', 'false'].includes(phrase)
    return (isSearch && key[0] === 'operations-tag') || isShown(key, otherwise)
  }
}

/** Runs in the page: follows the color scheme of the system, and names what the library leaves without a name. */
const script = `
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
const viewport = document.createElement('meta')
viewport.name = 'viewport'
viewport.content = 'width=device-width, initial-scale=1'
document.head.append(viewport)
const set = (selector, name, value) => {
  for (const element of document.querySelectorAll(selector + ':not([' + name + '])')) element.setAttribute(name, value)
}
new MutationObserver(() => {
  const search = document.querySelector('.operation-filter-input')
  if (search !== null && search.placeholder !== 'Search by path, summary or tag') search.placeholder = 'Search by path, summary or tag'
  set('.operation-filter-input', 'aria-label', 'Search the operations')
  set('.swagger-ui select', 'aria-label', 'Choose a value')
  set('.swagger-ui pre, .swagger-ui .table-container', 'tabindex', '0')
}).observe(document.documentElement, { childList: true, subtree: true })
`

/** The colors of the library that are too faint on their background, for both schemes. */
const styles = `
html { background: #fff; }
html.dark-mode { background: #1c2022; color-scheme: dark; }
.swagger-ui .wrapper { max-width: 1200px; }
.swagger-ui .info .title small { background: #525a68; }
.swagger-ui .info .title small.version-stamp, .swagger-ui .info hgroup a.link, .swagger-ui .info > div > a { display: none; }
.swagger-ui .filter-container .operation-filter-input, .swagger-ui .filter input { width: 100%; max-width: none; box-sizing: border-box; }
.swagger-ui .opblock .opblock-summary-method, .swagger-ui .btn.execute { color: #fff; text-shadow: none; }
.swagger-ui .opblock.opblock-get .opblock-summary-method, .swagger-ui .btn.execute { background: #1f64a8; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #17704a; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #965100; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0c6f63; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3261e; }
.swagger-ui .opblock-tag small, .swagger-ui .opblock-description-wrapper p { color: inherit; }
html:not(.dark-mode) .swagger-ui .info .link, html:not(.dark-mode) .swagger-ui .info .link .url { color: #1f5fae; }
html:not(.dark-mode) .swagger-ui .btn.authorize span { color: #17704a; }
html:not(.dark-mode) .swagger-ui .btn.cancel { color: #b3261e; border-color: #b3261e; }
html:not(.dark-mode) .swagger-ui .model-box, html:not(.dark-mode) .swagger-ui .model-box * { color: #333; }
html:not(.dark-mode) .swagger-ui :is(.parameter__in, .parameter__type, .parameter__deprecated, .prop-format, .prop-type) { color: #333; }
html:not(.dark-mode) .swagger-ui .renderedMarkdown code { color: #6a0dad; }
html:not(.dark-mode) .swagger-ui .parameter__name.required::after { color: #b3261e; }
html:not(.dark-mode) .swagger-ui .tab li, html:not(.dark-mode) .swagger-ui table td { color: #333; }
html.dark-mode .swagger-ui .btn.cancel { color: #ff9a9a; border-color: #ff9a9a; }
/* The library writes the colors of numbers in examples into each element. */
.swagger-ui .highlight-code span[style*='211, 99, 99'] { color: #ffa8a8 !important; }
html.dark-mode .swagger-ui .callbacks-container span { color: #dfe3e8; }
`
