/** Describes the routes of webhooks for the OpenAPI document. */
import type { DescribeRoute } from '../../shared/types/openapi'
import { objectOf, text, textOrNull, whole } from '../../server/plugin/description'

export const DESCRIBE_TEST: DescribeRoute = {
  summary: 'Send a test event',
  description: 'Sends an event of the type `webhook.test` with empty data, once. Returns the delivery with its result.',
  errors: { RATE_LIMITED: 429 },
  responses: {
    200: {
      schema: objectOf({
        id: text, webhookId: text, event: text, status: { enum: ['delivered', 'dead'] }, attempts: whole,
        responseStatus: { type: ['integer', 'null'] }, responseBody: textOrNull, error: textOrNull,
      }, []),
    },
  },
}

export const DESCRIBE_ROTATE: DescribeRoute = ({ record }) => ({
  summary: 'Replace the secret of a webhook',
  description: 'The response is the record, with the new secret once. Deliveries have the signatures of both secrets for some hours.',
  responses: { 200: { schema: { allOf: [record, objectOf({ secret: text, secretAlreadyIssued: { type: 'boolean' } }, [])] } } },
})

export const DESCRIBE_RETRY: DescribeRoute = ({ record }) => ({
  summary: 'Send a delivery again',
  description: 'The delivery is sent as soon as possible, with the record as the owner of the webhook can read it then.',
  responses: { 200: { schema: record } },
})
