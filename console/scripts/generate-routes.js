// Writes src/route-tree.gen.ts, the list of pages, from the files of src/routes.
import { fileURLToPath } from 'node:url'
import { Generator, getConfig } from '@tanstack/router-generator'
import { routeTree } from '../route-tree.config.js'

const root = fileURLToPath(new URL('..', import.meta.url))
await new Generator({ config: getConfig(routeTree, root), root }).run()
