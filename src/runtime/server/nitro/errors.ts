/** The error handler that Nitro asks first. */
import { config, eventBase } from '#auto-api/config'
import { toUnknownPathError } from '../http/handle'
import { createErrorHandler } from '../http/error-handler'

export default createErrorHandler(eventBase + config.prefix, toUnknownPathError)
