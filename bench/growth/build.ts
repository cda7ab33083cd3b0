/** Builds the app for one dialect. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { GrowthDialect } from './databases.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** @returns the script of the server */
export function buildApp(dialect: GrowthDialect): string {
  console.info(`building the app on ${dialect} …`)
  const { status, stdout, stderr } = spawnSync('nuxi', ['build', folder], {
    env: { ...process.env, NODE_ENV: 'production', NUXT_TELEMETRY_DISABLED: '1', BENCH_DIALECT: dialect },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The app does not build.\n${stdout}\n${stderr}`)
  return fileURLToPath(new URL(`../.output/growth-${dialect}/server/index.mjs`, import.meta.url))
}
