import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { context, SpanKind, SpanStatusCode, trace, type Context, type Span } from '@opentelemetry/api'

/** What every message of the channels has; the rest are numbers and names. */
interface Message {
  readonly resource?: string
  readonly operation?: string
  readonly code?: string
  readonly [name: string]: unknown
}

const KINDS: Readonly<Record<string, SpanKind>> = { request: SpanKind.SERVER, statement: SpanKind.CLIENT, commit: SpanKind.CLIENT }

/** The attributes of a span: every number and text of the message. `times` is an object, and its numbers are those of the inner spans. */
const attributesOf = (message: Message) => Object.fromEntries(
  Object.entries(message).filter(([, value]) => typeof value !== 'object').map(([name, value]) => [`auto_api.${name}`, value as string | number]),
)

/** Makes a span of each message, inside of the span of its request. Returns a function that ends it. */
export function startTelemetry(): () => void {
  const tracer = trace.getTracer('nuxt-auto-api')
  const current = new AsyncLocalStorage<Context>()
  const spans = new WeakMap<object, Span>()
  const ends: (() => void)[] = []
  for (const step of ['request', 'authorize', 'statement', 'hook', 'commit']) {
    const channel = tracingChannel<Context, Message>(`auto-api.${step}`)
    channel.start.bindStore(current, (message) => {
      const parent = current.getStore() ?? context.active()
      const name = [step, message.resource, message.operation].filter(Boolean).join(' ')
      const span = tracer.startSpan(name, { kind: KINDS[step] ?? SpanKind.INTERNAL }, parent)
      spans.set(message, span)
      return trace.setSpan(parent, span)
    })
    const end = (message: Message) => {
      // A step that waits ends with `asyncEnd`. It has no duration before.
      if (message.duration === undefined) return
      const span = spans.get(message)
      span?.setAttributes(attributesOf(message))
      if (message.code !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR, message: message.code })
      span?.end()
    }
    channel.end.subscribe(end as never)
    channel.asyncEnd.subscribe(end as never)
    ends.push(() => {
      channel.start.unbindStore(current)
      channel.end.unsubscribe(end as never)
      channel.asyncEnd.unsubscribe(end as never)
    })
  }
  return () => ends.forEach(end => end())
}
