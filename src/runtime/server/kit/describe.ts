/** Describes what a caller can do. */
export { type EndpointDetails, findEndpoint } from '../core/entries/endpoint'
export { operationCapabilities } from '../core/describe/capabilities'
export { describeFor } from '../core/describe/describe'
export { toLabel } from '../core/describe/label'
export { findRowLimits } from '../core/describe/row-limits'
export { customBody } from '../schema/json-schema'
