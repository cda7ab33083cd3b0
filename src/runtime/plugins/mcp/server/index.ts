/** Handles the messages of a client. The protocol has no sessions here: every message is a request of its own. */
import type { Api, Session } from '../../../server/kit/call'
import type { ApiRequest } from '../../../server/kit/request'
import { runInSession } from '../../../server/kit/send'
import type { ApiResponse } from '../../../server/kit/respond'
import { readFeatures } from '../../../server/plugin/features'
import type { PluginServer } from '../../../server/plugin/server'
import type { Resource } from '../../../server/kit/rows'
import { findUsableTools } from './access'
import type { ResolvedMcp } from '../options'
import {
  ACCEPTED, assertVersion, chooseVersion, failure, INVALID_PARAMS, METHOD_NOT_FOUND, readMessage, success, type Message,
} from './protocol'
import { createReadTools } from './read-tools'
import { invalidArguments, toErrorResult, toResult, type ToolResult } from './result'
import { toListed, type Tool, type ToolCall } from './tool'
import { createWriteTools } from './write-tools'

/** Clients show them. The version is that of the tools. */
const SERVER_INFO = { name: 'nuxt-auto-api', version: '1.0.0' }

/** The tools, and the form in which clients receive each. */
type Tools = ReadonlyMap<string, { readonly tool: Tool, readonly listed: object }>

export function createMcpServer(options: ResolvedMcp, server: PluginServer): (request: ApiRequest, api: Api) => Promise<ApiResponse> {
  // Plugins that are listed after this one are set up by the first message.
  let tools: Tools | undefined
  let resources: ReadonlyMap<string, Resource> | undefined
  let unreachable: ReadonlySet<string> | undefined
  return async (request, api) => {
    const features = readFeatures(server)
    tools ??= createTools(options, features.history !== undefined, features.idempotency === true, api)
    resources ??= exposedResources(options, api)
    assertVersion(request.header('mcp-protocol-version'))
    const message = await readMessage(request)
    const own = { ...request, unreachable: unreachable ??= new Set([...api.resources.keys()].filter(name => !resources!.has(name))) }
    const call: ToolCall = { request: own, api, options, features, resources }
    if (message.method === 'tools/call' && message.id !== undefined) return await callTool(message, call, tools)
    return await runInSession(own, api, session => respond(message, session, call, tools!))
  }
}

function createTools({ write, maxRows }: ResolvedMcp, hasLog: boolean, hasKeys: boolean, { config }: Api): Tools {
  const all = [...createReadTools(Math.min(maxRows, config.pagination.maxLimit)), ...write ? createWriteTools(hasKeys) : []]
  const installed = all.filter(({ needs }) => (needs !== 'history' || hasLog) && (needs !== 'canAggregate' || config.aggregations.enabled))
  return new Map(installed.map(tool => [tool.name, { tool, listed: toListed(tool) }]))
}

function exposedResources({ resources: names, except = [] }: ResolvedMcp, { resources }: Api): ReadonlyMap<string, Resource> {
  return new Map([...resources].filter(([name]) => (names?.includes(name) ?? true) && !except.includes(name)))
}

async function respond(message: Message, session: Session, call: ToolCall, tools: Tools): Promise<ApiResponse> {
  const { id, method = '', params = {} } = message
  if (id === undefined || message.method === undefined) return ACCEPTED
  switch (method) {
    case 'initialize': return success(message, {
      protocolVersion: chooseVersion(params.protocolVersion),
      capabilities: { tools: {} },
      serverInfo: SERVER_INFO,
      ...call.options.instructions !== undefined && { instructions: call.options.instructions },
    })
    case 'ping': return success(message, {})
    case 'tools/list': {
      const usable = await findUsableTools([...tools.values()].map(({ tool }) => tool), session, call.resources, call.features)
      return success(message, { tools: usable.map(({ name }) => tools.get(name)!.listed) })
    }
    default: return failure(message, METHOD_NOT_FOUND, 'This server has only tools.')
  }
}

async function callTool(message: Message, call: ToolCall, tools: Tools): Promise<ApiResponse> {
  const { name, arguments: args = {} } = message.params ?? {}
  const found = typeof name === 'string' ? tools.get(name) : undefined
  // These calls reach no route, so they count as requests without a resource.
  if (!found) return await runInSession(call.request, call.api, async () => failure(message, INVALID_PARAMS, 'There is no such tool.'))
  const { success: isValid, error } = found.tool.input.safeParse(args)
  if (!isValid) {
    const refusal = success(message, toErrorResult(invalidArguments(error), call.request))
    return await runInSession(call.request, call.api, async () => refusal)
  }
  // Not the output of the schema: it has no property `__proto__`, which the API has to refuse like any other unknown name.
  return success(message, await run(found.tool, args, call))
}

async function run(tool: Tool, args: unknown, call: ToolCall): Promise<ToolResult> {
  try {
    return toResult(await tool.run(args, call))
  }
  catch (error) {
    return toErrorResult(error, call.request)
  }
}
