/** Handles a request: converts the event, runs the route, and responds. Errors become those of h3. */
import { useApi } from '../runtime'
import type { ServerApi } from '../api/create'
import { findText, type ApiResponse } from '../core/extensions/response'
import { keepRunning, workBegins, workEnds } from '../core/process/in-flight'
import type { ApiRequest } from '../core/request/api-request'
import { idToPath } from '../schema/record-id'
import { isStreamed } from './chunks'
import { isApiError, setErrorHeaders, toHttpError as convertError } from './errors'
import { platformOf, type HttpEvent } from './platform'
import { createError } from './platform/h3'
import { requireResource, toCustomRequest } from './request'
import { findPushed } from './push'
import { respondWithPushed, respondWithStream, sendPlain, setHead, type Send } from './respond'
import { unknownPath } from './unknown-path'
import { sentUrl } from './url'

/** Converts an error to one of h3, and sets the headers of its response. */
export function toHttpError(event: HttpEvent, error: unknown): Error {
  setErrorHeaders(event, error)
  return convertError(event, error, createError)
}

/** Runs a route, and waits until the API is ready. @throws An error of h3 */
export async function handle(
  event: HttpEvent, api: ServerApi, toRequest: () => ApiRequest, run: (request: ApiRequest) => Promise<ApiResponse>, send: Send = sendPlain,
): Promise<unknown> {
  workBegins()
  try {
    const pending = api.whenReady()
    if (pending) await pending
    const request = toRequest()
    const response = await run(request)
    const { created } = response
    const isText = findText(response) !== undefined
    const pushed = isText ? undefined : findPushed(response.body)
    if (pushed) return respondWithPushed(event, response, pushed)
    if (!isText && isStreamed(response.body)) return await respondWithStream(event, response, response.body)
    setHead(event, response, isText ? undefined : response.body)
    if (created !== undefined) {
      const collection = sentUrl(event).path.replace(/\/$/, '')
      platformOf(event).setHeader(event, 'location', `${collection}/${idToPath(requireResource(api, request.resource), created)}`)
    }
    const sent = send(event, api, response)
    return await sent
  }
  catch (error) {
    throw toHttpError(event, error)
  }
  finally {
    workEnds()
  }
}

/** Creates the 404 of a path below the prefix that neither the API nor the app handles. */
export function toUnknownPathError(event: HttpEvent): Error {
  let api: ServerApi | undefined
  try {
    api = useApi(event)
  }
  catch { /* The path is unknown without the resources too. */ }
  return toHttpError(event, unknownPath(event, api))
}

/** @throws An HTTP error if the API cannot be created. */
export function requireApi(event: HttpEvent): ServerApi {
  try {
    return useApi(event)
  }
  catch (error) {
    throw toHttpError(event, error)
  }
}

/** Converts an event of custom code to a request. */
export function requestOf(event: HttpEvent): ApiRequest {
  return toCustomRequest(event, useApi(event))
}

/** Throws errors of the server utils as HTTP errors, so that a plain event handler also responds with their status and code. */
export async function withHttpErrors<T>(event: HttpEvent, run: () => Promise<T>): Promise<T> {
  try {
    return await keepRunning(run())
  }
  catch (error) {
    throw isApiError(error) ? toHttpError(event, error) : error
  }
}
