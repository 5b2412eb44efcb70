// Writes the list of pages, which TypeScript checks and Vite bundles, from the files of the folder of routes.
import { fileURLToPath } from 'node:url'
import { Generator, getConfig } from '@tanstack/router-generator'
import { routeTree } from '../route-tree.config.js'

const root = fileURLToPath(new URL('..', import.meta.url))
await new Generator({ config: getConfig(routeTree, root), root }).run()
