/** The environment of the processes that tests start: without the variables that vitest and npm set for the test run itself. */

const OF_THE_RUN = /^(?:VITEST|NODE_ENV$|TEST$|TALLY_|NUXT_|NITRO_|FIXTURE_|DATABASE_)/

export const environment: Readonly<NodeJS.ProcessEnv> = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THE_RUN.test(name))),
  NUXT_TELEMETRY_DISABLED: '1',
}
