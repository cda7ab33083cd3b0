/** The names of events: a resource and what happened to a record of it, such as `posts.created`. */
import type { Change } from '../../../server/kit/listen'

/** The event of each kind of change. The links of a registered junction are its records. */
const NAMES: Readonly<Record<Change['kind'], typeof EVENTS[number]>> = {
  create: 'created', link: 'created', update: 'updated', delete: 'deleted', unlink: 'deleted', restore: 'restored', purge: 'purged',
}

export const EVENTS = ['created', 'updated', 'deleted', 'restored', 'purged'] as const

/** The type of a test. It belongs to no resource. */
export const TEST = 'webhook.test'

export const eventOf = (resource: string, kind: Change['kind']) => `${resource}.${NAMES[kind]}`

/** Whether a webhook with these events receives the event. */
export const receives = (events: readonly string[], resource: string, event: string): boolean =>
  events.includes(event) || events.includes(`${resource}.*`)

/** Splits an event into its resource and what happened, or returns `undefined` if it has another form. */
export function parseEvent(event: string): { readonly resource: string, readonly name: string } | undefined {
  const dot = event.lastIndexOf('.')
  const [resource, name] = [event.slice(0, dot), event.slice(dot + 1)]
  return dot > 0 && (name === '*' || (EVENTS as readonly string[]).includes(name)) ? { resource, name } : undefined
}
