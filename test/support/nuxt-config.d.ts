/** The option `autoApi` of `defineNuxtConfig`. In an app, Nuxt generates this type. */
import type { ModuleOptions } from '../../src/build/options'

declare module '@nuxt/schema' {
  interface NuxtConfig {
    autoApi?: ModuleOptions
  }
}
