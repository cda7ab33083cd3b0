/** The description of the activity feed. */
import type { RouteDescription } from '../../shared/types/openapi'
import { objectOf, PAGE_PARAMETERS, pageOf, text, textOrNull, whole } from '../../server/plugin/description'

const ENTRY = objectOf({
  id: text, at: { type: 'string', format: 'date-time' },
  actor: { anyOf: [objectOf({ id: text, label: textOrNull }), { type: 'null' }] },
  verb: text, resource: text, recordId: text, label: textOrNull, count: whole,
})

export const DESCRIBE_FEED: RouteDescription = {
  summary: 'Activity feed', query: PAGE_PARAMETERS, responses: { 200: { schema: pageOf(ENTRY) } },
}
