/** Where the rules of registrations stand, as the build has read them. */
import type { Decision } from '../../shared/explanation'

/** The place of a rule by its name without `authorization`: `posts.permissions.read` → `server/resources/posts.ts:14`. */
export type Places = Readonly<Record<string, string>>

/** Adds the place of the rule, or of the closest part of the registration that contains it. */
export function withPlace<D extends Pick<Decision, 'rule'>>(decision: D, places: Places): D & Pick<Decision, 'place'> {
  for (let path = decision.rule?.replace('.authorization', '') ?? ''; path !== ''; path = path.slice(0, Math.max(path.lastIndexOf('.'), 0)))
    if (Object.hasOwn(places, path)) return { ...decision, place: places[path]! }
  return decision
}
