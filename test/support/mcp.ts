/** The official MCP client on an API in this process, or on a server. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** What a tool returns: the parsed text, and whether it is an error. */
export interface Called {
  readonly isError: boolean
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever a result holds
  readonly result: any
  readonly text: string
}

export interface McpClient {
  readonly client: Client
  readonly tools: () => Promise<string[]>
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<Called>
}

export interface ConnectOptions {
  readonly url?: string
  readonly token?: string
  /** Handles the requests of the client. @default those of Node */
  readonly fetch?: (request: Request) => Promise<Response>
}

export async function connectMcp({ url = 'http://localhost/api/mcp', token, fetch: handle }: ConnectOptions): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
    ...handle && { fetch: async (target, init) => handle(new Request(target, init)) },
  })
  await client.connect(transport)
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, args = {}) {
      const { content, isError = false } = await client.callTool({ name, arguments: args })
      const { text } = (content as { text: string }[])[0]!
      return { isError: isError === true, result: JSON.parse(text), text }
    },
  }
}
