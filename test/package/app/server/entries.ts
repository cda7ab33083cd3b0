/** Imports every entry of the package for its types alone: a missing or broken declaration fails the type check. */
import type * as root from 'nuxt-auto-api'
import type * as database from 'nuxt-auto-api/database'
import type * as define from 'nuxt-auto-api/define'
import type * as testing from 'nuxt-auto-api/testing'
import type * as utils from 'nuxt-auto-api/utils'

/** `true` only where a declaration was found and says something. */
type Typed<T> = 0 extends 1 & T ? false : true

export const typed: [
  Typed<typeof root.default>,
  Typed<typeof root.createModuleImport>,
  Typed<typeof database.initializeDatabase>,
  Typed<typeof define.defineResourceAuth>,
  Typed<typeof utils.initializeDatabase>,
  Typed<typeof testing.engineSuite>,
] = [true, true, true, true, true, true]
