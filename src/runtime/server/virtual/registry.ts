/** Typed placeholder of the generated registry, which has no resources here. The build generates the registry. Tests replace it. */
import type { ResourceRegistration } from '../registration'

/** Returns the registered resources. It is a function, so that user files can import the server utils without an import cycle. */
export function registrations(): readonly ResourceRegistration[] {
  return []
}

/** Returns all exports of every file that contains a registered table. The API finds unregistered tables there. */
export function schemaModules(): readonly Record<string, unknown>[] {
  return []
}
