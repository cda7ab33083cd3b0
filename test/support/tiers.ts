/**
 * The tiers of the tests. `push` is what every change has to pass, in minutes. `full` runs all of it and what takes longer: set `FULL=1`.
 * `release` runs the same with the most random runs, rows and kills, which takes hours: set `RELEASE=1`.
 * `test/repository/tiers.test.ts` checks that each test file belongs to one project, and each row of these tables to a file.
 */

export type Tier = 'push' | 'full' | 'release'

export const TIER: Tier = process.env.RELEASE === '1' ? 'release' : process.env.FULL === '1' ? 'full' : 'push'

/** Also true in the release tier. */
export const isFull = TIER !== 'push'

export const isRelease = TIER === 'release'

/** How often a test repeats itself in each tier. */
export const byTier = (counts: Readonly<Record<Tier, number>>): number => counts[TIER]

/** The files of each project, relative to the repository. The first project that lists a file runs it; `drizzle-1` runs files once more. */
export const PROJECTS = {
  /** Changes the state of its process: another file in the same process could notice it. */
  process: [
    'test/unit/admin/issues.test.ts',
    'test/unit/server/nitro/stop.test.ts',
    'test/{unit,plugins/*}/app/*.test.ts',
    'test/scenarios/auth/guards.test.ts',
    'test/scenarios/model/writes.test.ts',
    'test/unit/server/plugin/outbox.test.ts',
    'test/scenarios/query/bugs.test.ts',
    'test/unit/server/core/sql/keys.test.ts',
    'test/unit/testing/access.test.ts',
  ],
  /** Builds or type-checks a project: needs seconds and memory of its own. */
  build: ['test/unit/{build,cli}/*.test.ts'],
  unit: ['test/{unit,plugins,scenarios,repository}/**/*.test.ts'],
  types: ['test/types/**/*.{test,test-d}.ts'],
  engines: ['test/engines/**/*.test.ts'],
  e2e: ['test/e2e/**/*.test.ts'],
  package: ['test/package/**/*.test.ts'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type ProjectName = keyof typeof PROJECTS

/** The files that only the full tier runs, each with the reason. The others run in both tiers, some with fewer runs or engines on push. */
export const FULL_ONLY: Readonly<Record<string, string>> = {
  'test/unit/build/instantiations.test.ts': 'type-checks pages over fifty tables for their cost',
  'test/scenarios/query/dearest.test.ts': 'searches for the request that blocks longest, which takes minutes',
  'test/scenarios/query/bugs.test.ts': 'plants bugs, to check the tests of `properties.test.ts`',
  'test/engines/galera.test.ts': 'needs a cluster of three nodes',
  'test/engines/galera-parallel.test.ts': 'needs a cluster of three nodes',
  'test/engines/replicas.test.ts': 'needs a replica of Postgres and one of MariaDB',
  'test/engines/replicas-mariadb.test.ts': 'needs a replica of MariaDB',
  'test/engines/replicas-plugins.test.ts': 'needs a replica of Postgres',
  'test/engines/replicas-race.test.ts': 'needs a replica of Postgres and one of MariaDB',
  'test/engines/export-memory.test.ts': 'exports tables of many rows',
  'test/engines/histories-with-kills.test.ts': 'kills servers again and again',
  'test/e2e/replicas.test.ts': 'needs a replica of Postgres',
  'test/e2e/load-with-kills.test.ts': 'kills the parts of a deployment under load',
  'test/e2e/kill-in-commit.test.ts': 'kills a writer hundreds of times',
  'test/e2e/edge.test.ts': 'builds the playground for Workers',
  'test/e2e/prefix.test.ts': 'builds the visibility app with another prefix',
  'test/e2e/{auth-utils,mcp}.test.ts': 'builds the app of nuxt-auth-utils',
  'test/e2e/workshop.test.ts': 'builds the app of better-auth three times',
  'test/e2e/{restart,servers}.test.ts': 'builds the app of several servers',
  'test/e2e/instances.test.ts': 'builds the app on Postgres',
  'test/e2e/{development,explain,node-20}.test.ts': 'builds the app on libSQL, and serves it in development',
  'test/e2e/devtools.test.ts': 'serves an app in development, and visits its page in Nuxt DevTools in a browser',
  'test/e2e/nuxthub.test.ts': 'builds an app of NuxtHub',
  'test/e2e/spellings-apps.test.ts': 'builds the visibility app with another prefix, the playground for Workers, and the app with pages of its own',
  'test/e2e/forms.test.ts': 'builds the app with forms',
  'test/e2e/unknown-paths.test.ts': 'builds an app three times, and serves it in development',
  'test/e2e/admin/{attack,bundle,custom-pages,extensions,widgets}.test.ts': 'builds the app with pages of its own in the admin',
  'test/package/{admin,authentication,getting-started,versions,mcp-inspector,upgrade}.test.ts': 'installs and builds an app for each guide',
  'test/package/docs-site.test.ts': 'installs and generates the site of the docs, and visits its pages in a browser',
  'test/package/starters.test.ts': 'installs, serves and builds an app for each template',
  'test/package/install-line.test.ts': 'asks npm for the packages of each command of the guides',
  'test/e2e/{pages,browser}.test.ts': 'visits every page of the playground in a browser',
  'test/e2e/admin/{views,lists,record-form,looks,keyboard,webhooks}.test.ts': 'visits every view of the admin in a browser',
  'test/e2e/admin/controls.test.ts': 'opens everything that opens over a page of the admin',
}

/** The tests that run with Drizzle 1.0 as well: those of columns, sessions and statements. */
export const DRIZZLE_1 = {
  push: ['test/drizzle-1/**/*.test.ts', 'test/engines/{suite,values}.test.ts'],
  full: [
    'test/drizzle-1/**/*.test.ts',
    'test/unit/server/engines/**/*.test.ts',
    'test/unit/testing/engine.test.ts',
    'test/unit/server/schema/!(relations).test.ts',
    // The others create their tables with Drizzle Kit 0.31, which does not read the tables of 1.0.
    'test/engines/**/!(tasks|idempotency|audit-log|activity|api-tokens|replicas-plugins|histories|histories-with-kills).test.ts',
  ],
} as const satisfies Readonly<Record<Exclude<Tier, 'release'>, readonly string[]>>
