/** Each file of `src/routes` is one page, and its name is the URL. Each page is a chunk of its own. */
export const routeTree = {
  target: 'react',
  autoCodeSplitting: true,
  routesDirectory: 'src/routes',
  generatedRouteTree: 'src/route-tree.gen.ts',
  quoteStyle: 'single',
  semicolons: false,
  disableLogging: true,
}
