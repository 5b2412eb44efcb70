const { rooms } = require('./tools/rooms.cjs')

/**
 * The arrows of the architecture: lib ← db ← access ← http ← modules ← composition ← jobs ← app ← start ← main, cli.
 * Settings (config) stand above lib.
 * Tests may look anywhere; what they import is not what ships.
 */
const levels = [
  ['record'],
  ['registry'],
  ['rules'],
  ['people', 'vaults', 'address-book'],
  ['operations'],
  ['money'],
  ['reports'],
]

/** Domains of one level do not know each other, nor those above. */
const upward = levels.slice(0, -1).flatMap((domains, index) =>
  domains.map((domain) => ({
    name: `${domain}-imports-downward`,
    severity: 'error',
    from: { path: `^server/src/modules/${domain}/`, pathNot: '\\.test\\.ts$' },
    to: {
      path: `^server/src/modules/(${levels
        .slice(index)
        .flat()
        .filter((other) => other !== domain)
        .join('|')})/`,
    },
  })),
)

const folder = (domain, names) => `^server/src/modules/${domain}/(${names.join('|')})/`

/** A room imports rooms of lower levels of its domain only, so that no rooms form a circle. */
const upwardInDomain = Object.entries(rooms).flatMap(([domain, roomLevels]) =>
  roomLevels.flatMap((names, index) =>
    names.map((room) => ({
      name: `${domain}-${room}-imports-downward`,
      severity: 'error',
      from: { path: folder(domain, [room]), pathNot: '\\.test\\.ts$|/testing/' },
      to: {
        path: `^server/src/modules/${domain}/`,
        pathNot: folder(domain, [room, ...roomLevels.slice(0, index).flat()]),
      },
    })),
  ),
)

/** A room that the table does not name may import nothing. */
const withoutLevel = {
  name: 'every-room-has-a-level',
  comment: 'tools/rooms.cjs names the rooms of each domain.',
  severity: 'error',
  from: {
    path: '^server/src/modules/',
    pathNot: Object.entries(rooms).map(([domain, roomLevels]) => folder(domain, roomLevels.flat())),
  },
  to: {},
}

const below = (name, from, to) => ({
  name,
  severity: 'error',
  from: { path: `^server/src/${from}`, pathNot: '\\.test\\.ts$' },
  to: { path: `^server/src/${to}` },
})

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    below('lib-is-pure', 'lib/', '(?!lib/)'),
    below('embedded-postgres-stands-alone', 'embedded-postgres/', '(?!embedded-postgres/)'),
    below('outbound-above-lib-only', 'outbound/', '(?!(lib|outbound)/)'),
    below('db-above-lib-only', 'db/', '(?!(lib|db)/)'),
    below('access-above-db', 'access/', '(?!(lib|db|access)/)'),
    below('http-above-access', 'http/', '(?!(lib|db|access|http)/|deps\\.ts$|config/)'),
    below('mail-above-http', 'mail/', '(modules|composition|jobs|cli)/|(app|start|main)\\.ts$'),
    below('modules-above-http', 'modules/', '(composition|jobs|cli)/|(app|start|main)\\.ts$'),
    below('composition-above-modules', 'composition/', '(jobs|cli)/|(app|start|main)\\.ts$'),
    below('config-above-lib', 'config/', '(?!(lib|config)/)'),
    below('policies-as-code-above-modules', 'policies-as-code/', '(composition|jobs|cli|db)/|(app|start|main)\\.ts$'),
    below('jobs-above-composition', 'jobs/', 'cli/|(app|start|main)\\.ts$'),
    below('app-above-jobs', 'app\\.ts$', 'cli/|(start|main)\\.ts$'),
    below('start-above-app', 'start\\.ts$', 'cli/|main\\.ts$'),
    {
      name: 'routes-belong-to-app',
      comment: 'A domain is used by its actions, queries and rules, never by its routes.',
      severity: 'error',
      from: { path: '^server/src/', pathNot: '^server/src/app\\.ts$|\\.test\\.ts$' },
      to: { path: '^server/src/modules/[^/]+/[^/]+/routes\\.ts$' },
    },
    ...upward,
    ...upwardInDomain,
    withoutLevel,
    {
      name: 'wallet-and-server-are-strangers',
      severity: 'error',
      from: { path: '^(wallet|server)/src/', pathNot: '\\.test\\.ts$|/testing/|^server/src/cli/verify-evidence\\.ts$' },
      to: { path: '^(wallet|server|sdk|conformance|demo)/', pathNot: '^$1/' },
    },
    {
      name: 'conformance-knows-the-sdk-only',
      comment:
        'A wallet builder runs the checks without the service, and the reference wallet is one of those that are checked.',
      severity: 'error',
      from: { path: '^conformance/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(wallet|server|demo|console|sdk/src)/' },
    },
    {
      name: 'evidence-is-checked-by-the-sdk',
      comment: 'Console and command line check evidence with one verifier.',
      severity: 'error',
      from: { path: '^server/src/cli/verify-evidence\\.ts$' },
      to: { path: '^(wallet|demo|server/src|sdk/(?!dist/evidence/))' },
    },
    {
      name: 'sdk-stands-alone',
      severity: 'error',
      from: { path: '^sdk/src/', pathNot: '\\.test\\.ts$|/testing/' },
      to: { path: '^(wallet|server|conformance|demo)/' },
    },
    {
      name: 'console-knows-the-sdk-only',
      severity: 'error',
      from: { path: '^console/src/' },
      to: { path: '^(wallet|server|demo|sdk)/', dependencyTypes: ['local'] },
    },
    {
      name: 'console-lib-is-below-ui',
      comment: 'In the console: lib ← ui ← features ← routes ← main.',
      severity: 'error',
      from: { path: '^console/src/lib/' },
      to: { path: '^console/src/(?!lib/|languages/)' },
    },
    {
      name: 'console-ui-knows-no-feature',
      severity: 'error',
      from: { path: '^console/src/ui/' },
      to: { path: '^console/src/(features|routes|main)' },
    },
    {
      name: 'console-features-know-queries-of-each-other',
      comment: 'A feature may ask for the data of another one, and does not draw with its parts.',
      severity: 'error',
      from: { path: '^console/src/features/([^/]+)/' },
      to: { path: '^console/src/(features/(?!$1/)[^/]+/(?!queries\\.ts$)|routes|main)' },
    },
    {
      name: 'demo-uses-what-the-packages-export',
      severity: 'error',
      from: { path: '^demo/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(wallet|server|sdk)/', dependencyTypes: ['local'] },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      from: { path: '/src/', pathNot: '\\.test\\.ts$|/testing/' },
      to: { path: '/testing/|\\.test\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/|route-tree\\.gen' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.d.ts'],
    },
  },
}
