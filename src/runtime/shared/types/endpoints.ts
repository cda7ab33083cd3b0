/** What an endpoint of the app answers, found by its path. Nitro's own way of finding it takes too long where routes are many. */
import type { AutoApiEndpoints } from './resources'

/** `/api/posts/:id/publish` as the paths that lead there. */
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

type ResponseOf<M, Method> = Method extends keyof M ? M[Method] : M extends { ANY: infer Answer } ? Answer : unknown

/** What the handler returns; `unknown` where there is none of this path and method. */
export type EndpointResponse<Path extends string, Method extends string> = [Methods<WithoutQuery<Path>>] extends [never]
  ? unknown
  : ResponseOf<Methods<WithoutQuery<Path>>, Method>
