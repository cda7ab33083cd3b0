/** Adds `ctx.metadata`: the id of the request, its trace, and the client. The response and the log lines have the id too. */
import { clientEventOf, type EdgeFields, edgeFieldsOf, headerOf, toAddressPrefix } from '../../server/kit/request'
import { createAttached } from '../../server/kit/process'
import type { ArrivingRequest } from '../../server/kit/listen'
import { defineAutoApiPlugin } from '../../server/plugin/contract'
import { assertOptions } from '../../server/plugin/options'
import { findRequestId, findTraceId, shortText } from './server/headers'
import type { OptionRules } from '../../shared/option-rule'

/** What is known about a request. */
export interface RequestMetadata extends EdgeFields {
  /** Identifies the request. All API requests of one page that the server renders have the same id. */
  readonly requestId: string
  /** The trace id of the header `traceparent`: 32 hexadecimal digits. */
  readonly traceId?: string
  /** The client address, or its network. `null` if the address is unknown, or the option `ip` is `false`. */
  readonly ip: string | null
  /** The header `User-Agent`, at most 512 characters. */
  readonly userAgent: string | null
}

declare module '../../server/registration' {
  interface AutoApiContext {
    /** What is known about the request. Requires the plugin `requestMetadata`. */
    readonly metadata?: RequestMetadata
  }
}

export interface RequestMetadataOptions {
  /**
   * The form of `ctx.metadata.ip`: the whole address, its network (the first 24 bits of IPv4, 48 bits of IPv6), or no address.
   * @default 'full'
   */
  readonly ip?: 'full' | 'prefix' | false
}

const RULES: OptionRules<RequestMetadataOptions> = {
  ip: { fits: value => value === false || value === 'full' || value === 'prefix', use: '`\'full\'`, `\'prefix\'` or `false`' },
}

const ADDRESS_FORMS = {
  full: (address: string) => address,
  prefix: toAddressPrefix,
}

/**
 * Adds `ctx.metadata` to the context of every request, answers the id of the request as `X-Request-Id`, and adds it to log lines.
 * @throws If an option is unknown or a value is invalid.
 * @example
 * autoApi: { plugins: [requestMetadata({ ip: 'prefix' })] }
 */
export const requestMetadata = defineAutoApiPlugin(
  { from: 'nuxt-auto-api/plugins', name: 'requestMetadata' },
  (options: RequestMetadataOptions = {}) => {
    assertOptions(options, RULES, 'requestMetadata')
    const { ip = 'full' } = options
    let trustProxy: boolean | number = false
    const known = createAttached<RequestMetadata>('metadata')

    function describe({ event, address }: ArrivingRequest): RequestMetadata {
      const client = clientEventOf(event)
      const header = (name: string) => headerOf(client, name)
      const traceId = findTraceId(header)
      const clientAddress = ip === false ? undefined : address()
      return Object.freeze({
        requestId: findRequestId(client.context, trustProxy ? header : undefined),
        ...traceId !== undefined && { traceId },
        ip: clientAddress === undefined ? null : ADDRESS_FORMS[ip as keyof typeof ADDRESS_FORMS](clientAddress),
        userAgent: shortText(header('user-agent')),
        ...edgeFieldsOf(event),
      })
    }

    /** Runs twice for a request below the prefix, and once for an endpoint at another path. */
    function identify(request: ArrivingRequest): void {
      if (known.get(request.event)) return
      const metadata = describe(request)
      known.set(request.event, metadata)
      request.setHeader('X-Request-Id', metadata.requestId)
      request.addLogFields({ requestId: metadata.requestId })
    }

    return {
      name: 'request-metadata',
      setup: ({ config }) => {
        trustProxy = config.trustProxy
      },
      onArrival: identify,
      onRequest: identify,
      // Configurable, so that the response cache can notice whether a rule reads it.
      extendContext: ctx =>
        void Object.defineProperty(ctx, 'metadata', { value: known.get(ctx.event as object), enumerable: true, configurable: true }),
    }
  },
)
