/** The names that a registration can contain. The build checks resource files with them, and the server checks the loaded values. */

/**
 * The property of a defined resource with its table and its options, for the test kit. The server gets them from the build. It is a symbol
 * of the process, because a test runner can load this file twice.
 */
export const DEFINED = Symbol.for('nuxt-auto-api:defined')

/** The keys of an authorization. */
export const AUTHORIZATION_KEYS = Object.freeze({
  permissions: true,
  listFilter: true,
  objectLevel: true,
  custom: true,
  softDelete: true,
  fields: true,
} as const)

/** The keys of a validation. */
export const VALIDATION_KEYS = Object.freeze({ create: true, update: true } as const)

/** The names of the hooks of a resource. */
export const HOOK_KEYS = Object.freeze({
  beforeCreate: true,
  beforeUpdate: true,
  beforeDelete: true,
  beforeRestore: true,
  beforePurge: true,
  beforeGet: true,
  beforeList: true,
  beforeLink: true,
  afterCreate: true,
  afterUpdate: true,
  afterDelete: true,
  afterRestore: true,
  afterPurge: true,
  afterGet: true,
  afterList: true,
  afterLink: true,
} as const)
