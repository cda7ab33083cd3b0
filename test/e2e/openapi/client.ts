/** A client of the playground. A test compiles it with the types of a real document, and runs it. */
import createClient from 'openapi-fetch'
import type { paths } from './api'

/** Lists are separated by commas, and conditions are JSON. */
function toQuery(query: object): string {
  const toText = (value: unknown) => Array.isArray(value) ? value.join() : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return new URLSearchParams(Object.entries(query).map(([name, value]) => [name, toText(value)])).toString()
}

export function usePosts(baseUrl: string, headers: Record<string, string>) {
  const api = createClient<paths, 'application/json'>({ baseUrl, headers, querySerializer: toQuery })
  return {
    async list() {
      const { data } = await api.GET('/api/posts', {
        params: { query: { filter: { status: 'published' }, sort: ['-id'], fields: ['id', 'title'], limit: 3 } },
      })
      return data?.data.map(post => post.title)
    },
    async create(title: string) {
      const { data, error, response } = await api.POST('/api/posts', { body: { title, slug: 'from-a-client', body: 'Text' } })
      return data ? { id: data.id } : { status: response.status, code: error?.data?.code }
    },
  }
}
