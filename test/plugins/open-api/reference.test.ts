/** The reference page: it shows the document of the caller, escapes every text, and runs nothing. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { openApi } from '../../../src/runtime/plugins'
import { operationsOf } from '../../support/open-api/document'
import { CALLERS, openMagazine } from '../../support/magazine'

const create = (options: Parameters<typeof openApi>[0] = {}) =>
  openMagazine({ plugins: [openApi({ access: true, reference: true, ...options })] })

it('shows every operation and every schema of the document of the caller', async () => {
  const server = await create()
  const ask = (path: string) => server.request('GET', path, { caller: CALLERS.CLERK })
  const { body: document } = await ask('/api/_openapi.json')
  const { status, headers, text } = await ask('/api/_reference')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  for (const { operation, path } of operationsOf(document)) {
    expect(text).toContain(`<article id="${operation.operationId}">`)
    expect(text).toContain(path)
  }
  for (const name of Object.keys(document.components.schemas)) expect(text).toContain(`<details id="schema-${name}">`)
  expect(text).not.toContain('salary')
})

it('links only to parts of the page and to the document', async () => {
  const { text } = await (await create()).request('GET', '/api/_reference', { caller: CALLERS.ROOT })
  const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => `#${id}`))
  const links = [...text.matchAll(/ href="([^"]+)"/g)].map(([, href]) => href!)
  expect(links.filter(href => !ids.has(href))).toEqual(['_openapi.json'])
  expect(text).not.toMatch(/<script|<link|<img|src=|https?:/)
})

it('allows only its own style', async () => {
  const { headers, text } = await (await create()).request('GET', '/api/_reference', { caller: CALLERS.NOBODY })
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)![1]!
  const hash = createHash('sha256').update(style).digest('base64')
  expect(headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
})

it('escapes the texts of the app', async () => {
  const server = await create({ info: { title: '<script>alert(1)</script>"\'&', description: '</p><img src=x>' } })
  const { text } = await server.request('GET', '/api/_reference', {})
  expect(text).toContain('<h1>&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp; <small>')
  expect(text).toContain('<p>&lt;/p&gt;&lt;img src=x&gt;</p>')
})

it('responds with 304 to a client that has the page, and does not exist without the option', async () => {
  const server = await create()
  const { headers } = await server.request('GET', '/api/_reference', {})
  expect((await server.request('GET', '/api/_reference', { headers: { 'if-none-match': headers.get('etag')! } })).status).toBe(304)
  expect((await (await create({ reference: false })).request('GET', '/api/_reference', {})).status).toBe(404)
})

it('is for callers with the permission only', async () => {
  const server = await create({ access: 'chief' })
  expect((await server.request('GET', '/api/_reference', {})).status).toBe(401)
  expect((await server.request('GET', '/api/_reference', { caller: CALLERS.CLERK })).status).toBe(403)
})
