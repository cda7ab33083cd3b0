/** The routes of plugins, as middleware before the router. */
import { definePluginRoutes } from '../http/handlers'

export default definePluginRoutes()
