/** The table of the examples of the docs page `endpoints`. */
export { articles } from '../../../support/desk'
