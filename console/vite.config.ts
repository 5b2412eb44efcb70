import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { routeTree } from './route-tree.config.js'
import { reference } from './scripts/reference/plugin.js'

/** The service that `npm run dev -w console` passes calls on to. */
const service = process.env.STRONGROOM_URL ?? 'http://localhost:8420'

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
            // The same for pages of the same people, with nothing that other pages load too.
            {
              name: 'administration',
              test: /\/src\/(features\/(categories|platform|people|vault-settings|me)\/(?!queries|tabs)|routes\/(platform|me|v\.\$code\.(people|settings|categories)).*\?)/,
              includeDependenciesRecursively: false,
            },
            {
              name: 'policies',
              test: /\/src\/(features\/policies\/(?!queries|words)|routes\/v\.\$code\.policies.*\?)/,
              includeDependenciesRecursively: false,
            },
            {
              name: 'address-book',
              test: /\/src\/(features\/address-book\/(?!queries|import)|routes\/v\.\$code\.address-book\.(?!import).*\?)/,
              includeDependenciesRecursively: false,
            },
            {
              name: 'records',
              test: /\/src\/(features\/(books|audit|verify)\/(?!queries)|routes\/(verify|v\.\$code\.(books|audit)).*\?)/,
              includeDependenciesRecursively: false,
            },
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
