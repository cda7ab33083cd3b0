/** The server suggests names as the build does. */
export { didYouMean, findClosest } from '../runtime/shared/suggest'
