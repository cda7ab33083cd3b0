/** A Nuxt app without the module: what its own start takes. */
export default defineNuxtConfig({
  devtools: { enabled: false },
  compatibilityDate: '2026-01-01',
  telemetry: false,
  ...process.env.BENCH_OUTPUT && { buildDir: `${process.env.BENCH_OUTPUT}/build`, nitro: { output: { dir: process.env.BENCH_OUTPUT } } },
})
