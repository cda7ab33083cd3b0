/** A small part of what openapi-typescript generates. A test copies the client beside the whole file. */
interface ErrorBody {
  message: string
  data?: { code?: string }
}

interface Post {
  id: number
  title: string
}

type Status = 'draft' | 'review' | 'published' | 'archived'

export interface paths {
  '/api/posts': {
    parameters: { query?: never, header?: never, path?: never, cookie?: never }
    get: {
      parameters: { query?: { filter?: { status?: Status }, sort?: ('title' | '-id')[], fields?: ('id' | 'title')[], limit?: number } }
      responses: {
        200: { headers: Record<string, unknown>, content: { 'application/json': { data: Partial<Post>[], meta: { total?: number } } } }
        default: { headers: Record<string, unknown>, content: { 'application/json': ErrorBody } }
      }
    }
    post: {
      parameters: { query?: never }
      requestBody: { content: { 'application/json': { title: string, slug: string, body: string } } }
      responses: {
        201: { headers: Record<string, unknown>, content: { 'application/json': Post } }
        default: { headers: Record<string, unknown>, content: { 'application/json': ErrorBody } }
      }
    }
  }
}
