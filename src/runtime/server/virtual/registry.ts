/** Typed stand-in of the generated registry: an API without resources. Tests replace it; the build generates it. */
import type { ResourceRegistration } from '../registration'

/** The registered resources. A function, so that user files can import our utils without a cycle at load time. */
export function registrations(): readonly ResourceRegistration[] {
  return []
}

/** All exports of every file that holds a registered table: unregistered tables are found there. */
export function schemaModules(): readonly Record<string, unknown>[] {
  return []
}
