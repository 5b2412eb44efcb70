import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { routeTree } from './route-tree.config.js'
import { reference } from './scripts/reference/plugin.js'

/** The service that `npm run dev -w console` passes calls on to. */
const service = process.env.STRONGROOM_URL ?? 'http://localhost:8420'

const inFolders = (names: string, but: string) => String.raw`features\/(?:${names})\/(?!${but})`
const ofPages = (names: string) => String.raw`routes\/(?:${names})[^?]*\?`
const sources = (...parts: string[]) => new RegExp(String.raw`\/src\/(?:${parts.join('|')})`)

/** Pages that the same people open come in one file, because small files compress badly; with nothing that others load too. */
const together = [
  {
    name: 'administration',
    test: sources(
      inFolders('categories|platform|people|vault-settings|me', 'queries|tabs'),
      ofPages(String.raw`platform|me|v\.\$code\.(?:people|settings|categories)`),
    ),
  },
  { name: 'policies', test: sources(inFolders('policies', 'queries|words'), ofPages(String.raw`v\.\$code\.policies`)) },
  {
    name: 'address-book',
    test: sources(
      inFolders('address-book', 'queries|import'),
      ofPages(String.raw`v\.\$code\.address-book\.(?!import)`),
    ),
  },
  {
    name: 'records',
    test: sources(inFolders('books|audit|verify', 'queries'), ofPages(String.raw`verify|v\.\$code\.(?:books|audit)`)),
  },
  { name: 'membership', test: sources(String.raw`lib\/(?:membership|viewer|theme)\.ts`) },
  { name: 'signing', test: sources(String.raw`lib\/(?:authenticator|hashes|sign-votes)`) },
]

export default defineConfig({
  plugins: [
    reference(fileURLToPath(new URL('..', import.meta.url))),
    tanstackRouter(routeTree),
    react(),
    tailwindcss(),
  ],
  build: {
    target: 'es2023',
    // The content policy lets no font or script come from the page itself.
    assetsInlineLimit: 0,
    assetsDir: 'console',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        // What the router knows of each page before it is opened is needed at once: thirty files of half a kilobyte otherwise,
        // which compress badly and cost a request each.
        codeSplitting: {
          groups: [
            { name: 'pages', test: /\/src\/routes\/[^?]+\.tsx$/ },
            { name: 'icons', test: /\/lucide-react\// },
            { name: 'hooks', test: /\/react-query\/build\/modern\/use(?:Base|Infinite)?Query\.js$/ },
            ...together.map(({ name, test }) => ({ name, test, includeDependenciesRecursively: false })),
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/assets', '/sign-in', '/openapi.json'].map((path) => [path, { target: service }]),
    ),
  },
})
