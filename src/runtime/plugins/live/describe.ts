/** Describes the stream for the OpenAPI document. */
import type { RouteDescription } from '../../shared/types/openapi'

export const DESCRIBE_LIVE: RouteDescription = {
  summary: 'Signals about changed records',
  description: 'A stream of server-sent events. `changed` and `gone` name a record that the caller can read, or could read before, and '
    + 'contain no values. `open` comes first, `reset` asks for everything to be read again, `end` closes the stream, and `poll` comes '
    + 'instead of a stream where none can stay open.',
  query: {
    resources: { schema: { type: 'string' }, description: 'The names of resources, separated by commas.', required: true },
  },
  responses: { 200: { types: ['text/event-stream'] } },
}
