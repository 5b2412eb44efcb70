import { routeNames } from './routes.ts'

/** The path of each page, as an expression. */
const pages = routeNames().map((name) => {
  const path = name.replaceAll(/_?\./g, '/').replace(/(^|\/)index$/, '')
  return new RegExp(`^/${path.replaceAll(/\$\w*/g, '[^/]+')}$`)
})
export const isPage = (path: string) => pages.some((page) => page.test(path))
