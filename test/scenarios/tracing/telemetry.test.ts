/** The recipe of the docs page `tracing` makes OpenTelemetry spans of the tracing channels. */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { CLERK, openShop } from '../http/shop'
import { startTelemetry } from './examples/telemetry'

const exporter = new InMemorySpanExporter()
let stop: () => void

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  stop = startTelemetry()
})
afterEach(() => exporter.reset())
afterAll(() => {
  stop()
  trace.disable()
  context.disable()
})

/** Opening the database has a statement of its own. */
async function open(...options: Parameters<typeof openShop>) {
  const { server } = await openShop(...options)
  exporter.reset()
  return server
}

const treeOf = (spans: readonly ReadableSpan[], parent?: string): unknown[] => spans
  .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
  .map(span => [span.name, ...treeOf(spans, span.spanContext().spanId)])

it('a write is a tree of spans', async () => {
  const server = await open({ hooks: { beforeCreate: data => data } })
  await server.request('POST', '/api/items', { body: { name: 'a secret name', price: 7 }, caller: CLERK })
  const spans = exporter.getFinishedSpans()
  expect(treeOf(spans)).toEqual([
    ['request items create', ['authorize items create'], ['hook items create'], ['commit items create', ['statement items create']]],
  ])
  expect(spans.find(({ name }) => name.startsWith('request'))!.attributes).toMatchObject({
    'auto_api.method': 'POST', 'auto_api.route': 'create', 'auto_api.status': 201, 'auto_api.statements': 1, 'auto_api.rows': 1,
  })
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain('secret name')
})

it('requests at the same time are trees of their own, below the span of the app', async () => {
  const server = await open()
  const tracer = trace.getTracer('app')
  const inSpan = (name: string, path: string) => tracer.startActiveSpan(name, async (span) => {
    await server.request('GET', path)
    span.end()
  })
  await Promise.all([inSpan('one', '/api/items/1'), inSpan('two', '/api/items')])
  expect(treeOf(exporter.getFinishedSpans())).toEqual(expect.arrayContaining([
    ['one', ['request items read', ['authorize items read'], ['statement items read']]],
    ['two', ['request items read', ['authorize items read'], ['statement items read'], ['statement items read']]],
  ]))
})

it('a refusal is a span with the status of an error', async () => {
  const server = await open()
  await server.request('DELETE', '/api/items/1', { caller: { user: { id: 9 } } })
  const request = exporter.getFinishedSpans().find(({ name }) => name.startsWith('request'))!
  expect(request.status).toEqual({ code: 2, message: 'FORBIDDEN' })
  expect(request.attributes).toMatchObject({ 'auto_api.status': 403, 'auto_api.code': 'FORBIDDEN' })
})
