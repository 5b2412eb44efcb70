import { setPriority } from 'node:os'
import { makeBundles } from './bundles.js'

setPriority(19)
await makeBundles()
