/** The routes of plugins, in front of the router. */
import { definePluginRoutes } from '../http'

export default definePluginRoutes()
