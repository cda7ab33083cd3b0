/** Runs generated routes and endpoints. */
export { type EndpointContext, type EndpointDetails, findEndpoint, runEndpoint } from '../core/entries/endpoint'
export { assertEnabled, type Route, type RoutesByMethod } from '../core/entries/route'
export { allowEveryone, handleRequest } from '../core/pipeline'
export { methods as aggregateMethods } from '../routes/aggregate'
export { methods as collectionMethods } from '../routes/collection'
export { methods as recordMethods } from '../routes/record'
export { methods as restoreMethods } from '../routes/restore'
