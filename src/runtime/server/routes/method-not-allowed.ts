/** Any other method on a path of a resource: 405 with `Allow`. */
import { defineMethodNotAllowed } from '../http'

export default defineMethodNotAllowed()
