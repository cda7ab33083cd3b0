/** Reads a request: parameters, media types, addresses, dry runs. */
export { clientEventOf, type EdgeFields, edgeFieldsOf } from '../http/client-address'
export { assertDepth } from '../core/parse/body'
export { flag, nameList, type Query, singleValue } from '../core/parse/params'
export type { ApiRequest } from '../core/request/api-request'
export { toAddressPrefix, toNetwork } from '../core/request/ip-address'
export { DEFAULT_ACCEPTS, FORM_TYPE, isJson, mediaTypeOf, preferredType } from '../core/request/media-type'
export type { RouteRequest } from '../core/request/route-request'
export { headerOf } from '../http/headers'
