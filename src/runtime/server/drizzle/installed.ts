/**
 * The major version of Drizzle, for tests and other code outside of Nuxt. The build of an app imports the file of its version instead.
 * One of the two files does not load: it imports packages of the other version.
 */
import { npmVersion } from 'drizzle-orm/version'

const { drizzle } = npmVersion.startsWith('0.') ? await import('./major-0.js') : await import('./major-1.js')

export { drizzle }
