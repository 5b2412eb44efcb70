import type { App } from '../http/endpoints.ts'
import { html } from '../lib/html.ts'
import { layout, pageOptions, sendPage } from './layout.ts'

/** The path of the reference of the API, a page of the console. */
export const referencePath = '/docs'

/** Registers the page for a node without the console. It names the address of the document and a place to read it. */
export function registerReference(app: App): void {
  const page = layout(
    'API reference',
    html`<p>This node serves the API and not the web console, of which the reference is a part.</p>
<p>The document that it is made of describes every operation of this node, in OpenAPI 3.1:</p>
<p><a class="button" href="/openapi.json">Open openapi.json</a></p>
<p class="quiet">A node that serves the console shows it as a reference at <code>${referencePath}</code>.</p>`,
  )
  for (const path of [referencePath, `${referencePath}/*`]) {
    app.get(path, pageOptions, (_request, reply) => sendPage(reply, page))
  }
}
