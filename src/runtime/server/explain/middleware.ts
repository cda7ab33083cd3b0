/** The middleware of explanations, before every route. */
import { defineExplainRoutes } from './http'

export default defineExplainRoutes()
