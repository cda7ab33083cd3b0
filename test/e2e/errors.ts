/** Errors of a built server: JSON or problem details for every client, and the same code in a composable that runs in server rendering. */
import { describe, expect, it } from 'vitest'
import type { VisibilityApp } from './support/visibility'

const member = { user: { id: 1, organizationId: 1 }, permissions: ['articles'] }
const nobody = { user: { id: 2, organizationId: 1 }, permissions: [] }

/** What browsers, HTTP libraries and `fetch` send, and types that no error has. */
const ACCEPTS = [
  undefined,
  '*/*',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html',
  'application/json, text/plain, */*',
  'image/png',
  'text/event-stream',
]

interface Case {
  readonly path: string
  readonly method?: string
  readonly caller?: object
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly status: number
  readonly code: string
}

const CASES: readonly Case[] = [
  { path: '/articles', status: 401, code: 'UNAUTHENTICATED' },
  { path: '/articles', caller: nobody, status: 403, code: 'FORBIDDEN' },
  { path: '/articles', caller: { user: { id: 1 }, permissions: ['articles'] }, status: 403, code: 'TENANT_REQUIRED' },
  { path: '/articles/404', caller: member, status: 404, code: 'NOT_FOUND' },
  { path: '/articles', method: 'PUT', caller: member, status: 405, code: 'METHOD_NOT_ALLOWED' },
  { path: '/articles?sort=nothing', caller: member, status: 400, code: 'UNKNOWN_FIELD' },
  { path: '/articles?include=nothing', caller: member, status: 400, code: 'UNKNOWN_RELATION' },
  { path: '/articles?filter={"id":{"$near":1}}', caller: member, status: 400, code: 'INVALID_OPERATOR' },
  { path: '/articles?filter[id]=x', caller: member, status: 400, code: 'INVALID_VALUE' },
  { path: '/articles?cursor=x', caller: member, status: 400, code: 'INVALID_CURSOR' },
  { path: '/articles?page=0', caller: member, status: 400, code: 'INVALID_QUERY' },
  { path: `/articles?filter[title][$like]=${encodeURIComponent('%a'.repeat(20))}`, caller: member, status: 400, code: 'LIMIT_EXCEEDED' },
  {
    path: '/articles',
    method: 'POST',
    caller: member,
    headers: { 'content-type': 'text/plain' },
    body: {},
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  { path: '/articles', method: 'POST', caller: member, body: 'x'.repeat(1_100_000), status: 413, code: 'PAYLOAD_TOO_LARGE' },
  { path: '/articles', method: 'POST', caller: member, body: [], status: 400, code: 'INVALID_BODY' },
  { path: '/articles', method: 'POST', caller: member, body: { title: null }, status: 400, code: 'VALIDATION_FAILED' },
  {
    path: '/articles',
    method: 'POST',
    caller: member,
    headers: { 'sec-fetch-site': 'cross-site' },
    body: { title: 'x' },
    status: 403,
    code: 'CROSS_SITE',
  },
  { path: '/articles/bulk', method: 'DELETE', caller: member, body: { ids: [404] }, status: 404, code: 'BULK_FAILED' },
]

/** @param base where the app is mounted */
export function describeErrors(app: () => VisibilityApp, prefix: string, base = '/'): void {
  describe('an error', () => {
    it.each(CASES)(
      'is JSON for every client, and problem details for those that name them: $method $path → $status $code',
      async ({ path, status, code, ...request }) => {
        for (const accept of ACCEPTS) {
          const response = await app().request(`${prefix}${path}`, {
            ...request,
            headers: { ...request.headers, ...(accept !== undefined && { accept }) },
          })
          expect([accept, response.status, response.headers.get('content-type')]).toEqual([
            accept,
            status,
            expect.stringMatching(/^application\/json\b/),
          ])
          expect(response.body).toMatchObject({ error: true, message: expect.any(String), data: { code } })
          expect(JSON.stringify(response.body)).not.toContain('?')
        }
        const problem = await app().request(`${prefix}${path}`, {
          ...request,
          headers: { ...request.headers, accept: 'application/problem+json' },
        })
        expect([problem.status, problem.headers.get('content-type'), problem.body]).toEqual([
          status,
          'application/problem+json',
          expect.objectContaining({ status, code }),
        ])
      },
    )

    it.each([
      ['list=articles&sort=nothing', member, 'UNKNOWN_FIELD'],
      ['list=articles', nobody, 'FORBIDDEN'],
      ['list=articles', undefined, 'UNAUTHENTICATED'],
      ['get=404', member, 'NOT_FOUND'],
      ['list=articles', member, 'no error'],
    ])('has its code in a composable while the server renders: %s', async (query, caller, code) => {
      const { body } = await app().request(`${base}?${query}`, { caller, headers: { accept: 'text/html' } })
      expect(/The visibility app: ([\w ]+)/.exec(body)?.[1]).toBe(code)
    })
  })
}
