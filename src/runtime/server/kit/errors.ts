/** The errors of the API. A handler throws them; the API turns them into responses. */
export {
  ApiError,
  conflict,
  invalidBody,
  invalidQuery,
  invalidValue,
  limitExceeded,
  notFound,
  payloadTooLarge,
  preconditionFailed,
  quote,
  rateLimited,
  refused,
  validationFailed,
} from '../core/error'
export { apiError } from '../core/request/custom-error'
export { isRefusal } from '../core/request/refusal'
