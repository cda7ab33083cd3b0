/** The response type of an endpoint of the app, found by its path. Nitro's own types are slow to check with many routes. */
import type { AutoApiEndpoints } from './resources'

/** The paths that match a route: `/api/posts/:id/publish` matches `/api/posts/${string}/publish`. */
type PathsOf<Route> = Route extends `${infer Start}/:${infer Rest}`
  ? Rest extends `${string}/${infer End}`
    ? `${Start}/${string}/${PathsOf<End> & string}`
    : `${Start}/${string}`
  : Route extends `${infer Start}/**${string}`
    ? `${Start}/${string}`
    : Route

type WithoutQuery<Path> = Path extends `${infer Before}?${string}` ? Before : Path

type Methods<Path> = Path extends keyof AutoApiEndpoints
  ? AutoApiEndpoints[Path]
  : { [Route in keyof AutoApiEndpoints]: Path extends PathsOf<Route> ? AutoApiEndpoints[Route] : never }[keyof AutoApiEndpoints]

type ResponseOf<M, Method> = Method extends keyof M ? M[Method] : M extends { ANY: infer Response } ? Response : unknown

/** The return type of the handler; `unknown` if no handler has the path and method. */
export type EndpointResponse<Path extends string, Method extends string> = [Methods<WithoutQuery<Path>>] extends [never]
  ? unknown
  : ResponseOf<Methods<WithoutQuery<Path>>, Method>
