/** The parts of the activity feed that only the server loads. */
export { readFeed } from './feed'
