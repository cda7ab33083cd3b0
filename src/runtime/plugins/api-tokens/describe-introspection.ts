/** The route of the introspection: its body and its description. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { RouteDescription } from '../../shared/types/openapi'
import { objectOf, text, whole } from '../../server/plugin/description'

/** The body, as JSON or as a form. Other keys, such as `token_type_hint`, have no effect. */
export const BODY: StandardSchemaV1<unknown, { readonly token: string }> = {
  '~standard': {
    version: 1,
    vendor: 'nuxt-auto-api',
    validate(value) {
      const { token } = (typeof value === 'object' && value !== null ? value : {}) as { readonly token?: unknown }
      return typeof token === 'string' && token !== ''
        ? { value: { token } }
        : { issues: [{ message: 'Send one token as text.', path: ['token'] }] }
    },
  },
}

export const DESCRIPTION: RouteDescription = {
  summary: 'Introspect an API token (RFC 7662)',
  body: objectOf({ token: text }),
  responses: {
    200: {
      schema: objectOf({
        active: { type: 'boolean' }, scope: text, token_type: text, sub: text, iat: whole, exp: whole, jti: text, tenant: text,
      }, ['active']),
    },
  },
  errors: { RATE_LIMITED: 429, UNSUPPORTED_MEDIA_TYPE: 415 },
}
