/** Finds the response type of an endpoint of the app by its path. The types of Nitro are slow to check if there are many routes. */
import type { AutoApiEndpoints } from './resources'

/** The paths that match a route: `/api/posts/:id/publish` matches `/api/posts/${string}/publish`. */
type PathsOf<Route> = Route extends `${infer Start}/:${infer Rest}`
  ? Rest extends `${string}/${infer End}`
    ? `${Start}/${string}/${PathsOf<End> & string}`
    : `${Start}/${string}`
  : Route extends `${infer Start}/**${string}`
    ? `${Start}/${string}`
    : Route

/** Any path. Editors suggest those of the app's endpoints. */
export type EndpointPath = PathsOf<keyof AutoApiEndpoints> | (string & Record<never, never>)

type WithoutQuery<Path> = Path extends `${infer Before}?${string}` ? Before : Path

type Methods<Path> = Path extends keyof AutoApiEndpoints
  ? AutoApiEndpoints[Path]
  : { [Route in keyof AutoApiEndpoints]: Path extends PathsOf<Route> ? AutoApiEndpoints[Route] : never }[keyof AutoApiEndpoints]

type ResponseOf<M, Method> = Method extends keyof M ? M[Method] : M extends { ANY: infer Response } ? Response : unknown

/** The return type of the handler for a path and a method; `unknown` if there is no such handler. */
export type EndpointResponse<Path extends string, Method extends string> = [Methods<WithoutQuery<Path>>] extends [never]
  ? unknown
  : ResponseOf<Methods<WithoutQuery<Path>>, Method>
