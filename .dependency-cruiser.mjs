/**
 * The floors, the doors and no circles, type-only imports included.
 *
 * A file may import its own floor and the floors below. A door is a package or generated module that may enter the
 * house in one named place only, so that replacing it means opening one file.
 */

/** Which paths make up a floor, lowest first. Adding a room means adding its folder here. */
const FLOORS = [
  { name: '0-shared', path: '^src/runtime/shared/' },
  { name: '1-schema-engines', path: '^src/runtime/server/(schema/|engines/|registration\\.ts$)' },
  { name: '2-core', path: '^src/runtime/server/core/' },
  { name: '3-street-client-admin', path: '^src/runtime/(server/(?!schema/|engines/|registration\\.ts$|core/)|app/|admin/)' },
  { name: '4-build', path: '^src/build/' },
  { name: '5-module', path: '^src/module\\.ts$' },
]

/** What may enter the house, and where. `to` is matched against resolved paths and, where nothing resolves, names. */
const DOORS = [
  { name: 'h3', to: '(^|node_modules/)(h3|nitro/h3)(/|$)', at: '^src/runtime/server/(http\\.ts$|virtual/h3\\.ts$)' },
  { name: 'alias-h3', to: '^src/runtime/server/virtual/h3\\.ts$', at: '^src/runtime/server/http\\.ts$' },
  { name: 'generated-modules', to: '^(src/runtime/server/virtual/(?!h3\\.ts$)|#auto-api/)', at: '^src/runtime/server/boot\\.ts$' },
  { name: 'nuxt-kit', to: '(^|node_modules/)@nuxt/(kit|schema)(/|$)', at: '^src/(module\\.ts$|build/)' },
  { name: 'vue', to: '(^|node_modules/)(vue|vue-router|@vue/[^/]+|@tanstack/vue-query)(/|$)', at: '^src/runtime/(app|admin)/' },
  // Everybody builds queries with `drizzle-orm`; its dialects and internals stay where tables are described and committed.
  { name: 'drizzle-dialects', to: '(^|node_modules/)drizzle-orm/(?!index\\.)', at: '^src/runtime/server/(schema|engines)/' },
]

const floors = FLOORS.slice(0, -1).map((floor, index) => ({
  name: `floor-${floor.name}`,
  comment: 'A lower floor never imports a higher one.',
  severity: 'error',
  from: { path: floor.path },
  to: { path: FLOORS.slice(index + 1).map(higher => higher.path) },
}))

const doors = DOORS.map(({ name, to, at }) => ({
  name: `door-${name}`,
  comment: `May be imported only by ${at}.`,
  severity: 'error',
  from: { path: '^src/', pathNot: at },
  to: { path: to },
}))

const rooms = [
  {
    name: 'build-hands-down-no-code',
    comment: 'The build floor shares facts (runtime/shared) and types with the runtime. Code it would run belongs to one side only.',
    severity: 'error',
    from: { path: '^src/(build/|module\\.ts$)' },
    to: { path: '^src/runtime/(?!shared/)', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'client-knows-the-server-by-types',
    comment: 'What the client imports by value is shipped to browsers.',
    severity: 'error',
    from: { path: '^src/runtime/(app|admin)/' },
    to: { path: '^src/runtime/server/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'server-knows-no-client',
    severity: 'error',
    from: { path: '^src/runtime/server/' },
    to: { path: '^src/runtime/(app|admin)/' },
  },
]

const hygiene = [
  {
    name: 'no-circles',
    severity: 'error',
    from: { path: '^src/' },
    to: { circular: true },
  },
  {
    name: 'relative-only',
    comment: 'The runtime is copied file by file into the package: aliases and our own package name do not resolve there.',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: ['^dist/', '^nuxt-auto-api(/|$)', '^[~@]{1,2}/'] },
  },
  {
    name: 'declared-packages-only',
    comment: 'A package that is only a dev dependency, or not declared at all, is missing where the package is installed.',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/runtime/server/virtual/' },
    to: {
      // Vue comes with Nuxt, which is a peer.
      pathNot: '(^|node_modules/)(vue|vue-router)(/|$)',
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
      dependencyTypesNot: ['npm', 'npm-peer'],
    },
  },
  {
    name: 'resolvable',
    severity: 'error',
    from: { path: '^src/' },
    to: { couldNotResolve: true, pathNot: '^(#imports|#app|#components|#build|#auto-api)(/|$)' },
  },
]

export default {
  forbidden: [...floors, ...doors, ...rooms, ...hygiene],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: '.dependency-cruiser.tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
