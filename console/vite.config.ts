import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { routeTree } from './route-tree.config.js'
import { reference } from './scripts/reference/plugin.js'

/** The service to which `npm run dev -w console` forwards calls. */
const service = process.env.STRONGROOM_URL ?? 'http://localhost:8420'

const inFolders = (names: string, but: string) => String.raw`features\/(?:${names})\/(?!${but})`
const ofPages = (names: string) => String.raw`routes\/(?:${names})[^?]*\?`
const sources = (...parts: string[]) => new RegExp(String.raw`\/src\/(?:${parts.join('|')})`)

const ofPackages = (names: string) => String.raw`\/node_modules\/(?:${names})\/`
const ofSources = (names: string) => String.raw`\/src\/(?:${names})`
const any = (...parts: string[]) => new RegExp(parts.join('|'))

/** The routes, and the packages that the router needs for every page. */
const ofEveryPage = any(
  ofSources(String.raw`routes\/(?!-)[^?]+\.tsx$`),
  ofSources(String.raw`ui\/(?:list-states|within-page)|lib\/(?:theme|membership|viewer)\.ts`),
  ofPackages(String.raw`react-dom|scheduler|@tanstack\/(?:react-router|store|react-query)`),
)
const ofEveryVaultPage = any(
  ofSources(String.raw`routes\/v\.\$code\.tsx\?|features\/shell\/(?!keys)|features\/approvals\/(?:queries|words)`),
  ofSources(String.raw`lib\/(?:images|forms)\.ts`),
  ofSources(String.raw`ui\/(?:page|avatar|sheet|address|amount|field|confirm|problem|use-write|badge|button)\.tsx?`),
  ofPackages('lucide-react|react-hotkeys-hook'),
)

/** Pages that the same people open are one file, because small files compress badly. Modules of other pages are not in it. */
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
  {
    name: 'operations',
    test: sources(
      inFolders('operations', 'queries|decision-card|trace|names'),
      String.raw`routes\/-operation-detail`,
      ofPages(String.raw`v\.\$code\.(?:transfers|deposits)`),
    ),
  },
  { name: 'payouts', test: sources(inFolders('payouts', 'queries'), ofPages(String.raw`v\.\$code\.payouts`)) },
  {
    name: 'signing',
    test: any(
      ofSources(String.raw`lib\/(?:authenticator|hashes|sign)|ui\/signed|features\/approvals\/signed`),
      String.raw`\/sdk\/dist\/signing\/(?!amounts)`,
    ),
  },
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
    // The content security policy forbids inline fonts and scripts, and allows inline icons of the style.
    assetsInlineLimit: (path) => path.endsWith('.svg'),
    assetsDir: 'console',
    // Read by scripts/preloads.js.
    manifest: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        // Each file costs a request and some milliseconds of a phone, and small files compress badly. So the modules of every page
        // are one file, and the modules of every page of a vault are another.
        codeSplitting: {
          groups: [
            { name: 'start', test: ofEveryPage },
            { name: 'frame', test: ofEveryVaultPage, includeDependenciesRecursively: false },
            ...together.map(({ name, test }) => ({ name, test, includeDependenciesRecursively: false })),
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/assets', '/auth', '/sign-in', '/openapi.json'].map((path) => [path, { target: service }]),
    ),
  },
})
