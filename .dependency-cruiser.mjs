/**
 * Import rules: the layers, the entry points and no cycles. Type-only imports count as well.
 *
 * A file can import its own layer and the layers below. An entry point is a package or generated module that can be imported in one
 * named place only, so that replacing it means opening one file. Cycles between folders: `test/repository/architecture.test.ts`.
 */

/** Which paths make up a layer, lowest first. A new folder belongs to one of them. */
const LAYERS = [
  { name: '0-shared', path: '^src/runtime/shared/' },
  { name: '1-schema-engines', path: '^src/runtime/server/(schema/|engines/|drizzle/|(registration|computed)\\.ts$)' },
  { name: '2-core', path: '^src/runtime/server/core/' },
  { name: '3-server-client', path: '^src/runtime/(server/(?!schema/|engines/|drizzle/|(registration|computed)\\.ts$|core/)|plugins/|app/|admin/|devtools/|testing/)' },
  { name: '4-build', path: '^src/build/' },
  { name: '5-entries', path: '^src/((module|admin)\\.ts$|cli/)' },
]

/** `at`: where `to` can be imported. `to` matches resolved paths, and names that do not resolve. */
const ENTRY_POINTS = [
  { name: 'h3', to: '(^|node_modules/)(h3|nitro/h3)(/|$)', at: '^src/runtime/(server/(http/platform/|virtual/h3\\.ts$)|testing/api/serve\\.ts$)' },
  { name: 'alias-h3', to: '^src/runtime/server/virtual/h3\\.ts$', at: '^src/runtime/server/http/platform/' },
  { name: 'generated-modules', to: '^(src/runtime/server/virtual/(?!h3\\.ts$)|#auto-api/(?!drizzle$))', at: '^src/runtime/server/(runtime|nitro/errors|explain/http)\\.ts$' },
  { name: 'nuxt-kit', to: '(^|node_modules/)@nuxt/(kit|schema)(/|$)', at: '^src/((module|admin)\\.ts$|build/|cli/check\\.ts$)' },
  { name: 'vue', to: '(^|node_modules/)(vue|vue-router|@vue/[^/]+|@tanstack/vue-query)(/|$)', at: '^src/runtime/(app|admin|devtools|plugins/[^/]+/(app|admin))/' },
  // Every file can build queries with `drizzle-orm`, but only these folders use its dialects and internals.
  { name: 'drizzle-dialects', to: '(^|node_modules/)drizzle-orm/(?!index\\.)', at: '^src/runtime/(server/(schema|engines|drizzle)|plugins/[^/]+/tables|testing)/' },
]

const layers = LAYERS.slice(0, -1).map((layer, index) => ({
  name: `layer-${layer.name}`,
  comment: 'A lower layer never imports a higher one.',
  severity: 'error',
  from: { path: layer.path },
  to: { path: LAYERS.slice(index + 1).map(higher => higher.path) },
}))

const entryPoints = ENTRY_POINTS.map(({ name, to, at }) => ({
  name: `entry-${name}`,
  comment: `Imported only by ${at}.`,
  severity: 'error',
  from: { path: '^src/', pathNot: at },
  to: { path: to },
}))

const borders = [
  {
    name: 'plugins-use-the-kit',
    comment: 'The built-in plugins use what any other plugin can use. A plugin that needs more of core adds a wide function to the kit.',
    severity: 'error',
    // The entries with tables have those of the server too.
    from: { path: '^src/runtime/plugins/', pathNot: '^src/runtime/plugins/([^/]+/(app|admin)/|schema-)' },
    to: { path: '^src/runtime/(server/(?!plugin/|kit/)|app/|testing/)' },
  },
  {
    name: 'plugins-in-the-browser',
    comment: 'What a plugin adds to the client uses the client and its own folder, and never the server.',
    severity: 'error',
    from: { path: '^src/runtime/plugins/[^/]+/(app|admin)/' },
    to: { path: '^src/runtime/(server/|testing/|plugins/[^/]+/(?!app/|admin/|shared/))' },
  },
  {
    name: 'plugins-keep-the-browser-out',
    comment: 'nuxt.config and the server load a plugin without its client.',
    severity: 'error',
    from: { path: '^src/runtime/plugins/', pathNot: '^src/runtime/plugins/[^/]+/(app|admin)/' },
    to: { path: '^src/runtime/plugins/[^/]+/(app|admin)/' },
  },
  {
    name: 'plugins-meet-at-their-index',
    comment: 'A plugin uses another one only through what that one offers: its index, and the index of its server part.',
    severity: 'error',
    from: { path: '^src/runtime/plugins/([^/]+)/' },
    to: { path: '^src/runtime/plugins/[^/]+/', pathNot: '^src/runtime/plugins/($1/|[^/]+/((server|app)/)?index\\.ts$)' },
  },
  {
    name: 'server-names-no-plugin',
    comment: 'The server works without any of the plugins: each of them can be deleted.',
    severity: 'error',
    from: { path: '^src/runtime/(server|shared|app)/' },
    to: { path: '^src/runtime/plugins/' },
  },
  {
    name: 'admin-names-no-plugin',
    comment: 'The pages of plugins are in their own folders. The build passes them to the admin.',
    severity: 'error',
    from: { path: '^src/runtime/admin/' },
    to: { path: '^src/runtime/plugins/' },
  },
  {
    name: 'plugins-use-the-admin-kit',
    comment: 'The pages of a plugin use the components and a few functions of the admin, and none of its own pages.',
    severity: 'error',
    from: { path: '^src/runtime/plugins/[^/]+/admin/' },
    to: {
      path: '^src/runtime/admin/',
      pathNot:
        '^src/runtime/admin/(kit/|model/'
        + '(context|features|focus|hydration|issues|locale|messages|navigation|nuxt|record-names|records|schema|tools|values)\\.ts$)',
    },
  },
  {
    name: 'kit-below-the-plugin-mechanism',
    severity: 'error',
    from: { path: '^src/runtime/server/kit/' },
    to: { path: '^src/runtime/server/plugin/' },
  },
  {
    name: 'build-passes-no-code',
    comment: 'The build imports only runtime/shared, what plugins say about themselves as data, and types from the runtime.',
    severity: 'error',
    from: { path: '^src/(build/|(module|admin)\\.ts$|cli/)' },
    to: { path: '^src/runtime/(?!shared/|plugins/(slices|[^/]+/slice)\\.ts$)', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'client-imports-server-types-only',
    comment: 'Values that the client imports are sent to browsers.',
    severity: 'error',
    from: { path: '^src/runtime/(app|admin)/' },
    to: { path: '^src/runtime/server/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'devtools-is-a-page-of-its-own',
    comment: 'Vite loads it in development, and it reads everything else from the development server.',
    severity: 'error',
    from: { path: '^src/runtime/devtools/' },
    to: { path: '^src/runtime/(?!devtools/|shared/)' },
  },
  {
    name: 'devtools-stays-out-of-apps',
    comment: 'A production build contains nothing of the page.',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/runtime/devtools/' },
    to: { path: '^src/runtime/devtools/' },
  },
  {
    name: 'tests-stay-out-of-apps',
    comment: 'Only the tests of an app import this folder.',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/runtime/testing/' },
    to: { path: '^src/runtime/testing/' },
  },
  {
    name: 'server-imports-no-client',
    severity: 'error',
    from: { path: '^src/runtime/(server|plugins/[^/]+/(?!app/|admin/))' },
    to: { path: '^src/runtime/(app|admin)/' },
  },
  {
    name: 'client-below-the-admin',
    comment: 'An app without the admin loads nothing of it.',
    severity: 'error',
    from: { path: '^src/runtime/app/' },
    to: { path: '^src/runtime/admin/' },
  },
]

const hygiene = [
  {
    name: 'no-cycles',
    severity: 'error',
    from: { path: '^src/' },
    to: { circular: true },
  },
  {
    name: 'relative-only',
    comment: 'The runtime is copied file by file into the package, where aliases and the name of the package itself do not resolve.',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: ['^dist/', '^nuxt-auto-api(/|$)', '^[~@]{1,2}/'] },
  },
  {
    name: 'declared-packages-only',
    comment: 'Only declared dependencies are installed together with the package.',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/runtime/server/virtual/' },
    to: {
      // Nuxt, which is a peer dependency, installs Vue and h3.
      pathNot: '(^|node_modules/)(vue|vue-router|h3)(/|$)',
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
      dependencyTypesNot: ['npm', 'npm-peer'],
    },
  },
  {
    name: 'resolvable',
    severity: 'error',
    from: { path: '^src/' },
    to: { couldNotResolve: true, pathNot: '^(#imports|#app|#components|#build|#internal|#auto-api|drizzle-orm/zod$)(/|$)' },
  },
]

export default {
  forbidden: [...layers, ...entryPoints, ...borders, ...hygiene],
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
