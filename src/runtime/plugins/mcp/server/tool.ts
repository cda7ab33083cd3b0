/** What a tool is: a name, a schema of its arguments, and requests to the API. */
import { z } from 'zod'
import type { Api } from '../../../server/kit/call'
import type { ApiRequest } from '../../../server/kit/request'
import { ApiError } from '../../../server/kit/errors'
import type { ApiResponse } from '../../../server/kit/respond'
import { send, type SentRequest } from '../../../server/kit/send'
import type { PluginFeatures } from '../../../server/plugin/features'
import type { Resource } from '../../../server/kit/rows'
import type { ResolvedMcp } from '../options'

/** The capability that a caller needs for at least one resource. Every caller can use `describe`. */
export type Needs = 'canRead' | 'canAggregate' | 'canCreate' | 'canUpdate' | 'canDelete' | 'canRestore' | 'history' | undefined

/** One call of a tool. */
export interface ToolCall {
  /** The request of the client. The tool sends its requests as the same caller. */
  readonly request: ApiRequest
  readonly api: Api
  readonly options: ResolvedMcp
  readonly features: PluginFeatures
  /** The resources that the tools can use. */
  readonly resources: ReadonlyMap<string, Resource>
}

export interface Tool<Args = unknown> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: z.ZodType<Args>
  readonly needs: Needs
  /** Hints for clients, which can ask their user before a call. */
  readonly annotations: { readonly readOnlyHint: boolean, readonly destructiveHint?: boolean, readonly idempotentHint?: boolean }
  /** Returns JSON. */
  readonly run: (args: Args, call: ToolCall) => Promise<string>
}

/** Types the arguments of a tool by their schema. */
export const defineTool = <Input extends z.ZodType>(tool: Omit<Tool<z.output<Input>>, 'input'> & { readonly input: Input }): Tool =>
  tool as unknown as Tool

export const READS = { readOnlyHint: true } as const

/** The form in which clients receive a tool. The schema is converted once. */
export function toListed({ name, title, description, input, annotations }: Tool): object {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' })
  return { name, title, description, inputSchema, annotations: { ...annotations, openWorldHint: false } }
}

/** @throws 404 for a resource that does not exist, or that the tools cannot use. */
export function requireToolResource({ resources }: ToolCall, name: string): Resource {
  const resource = resources.get(name)
  if (!resource) throw new ApiError('NOT_FOUND', 'There is no such resource. The tool `describe` lists the resources.')
  return resource
}

/** Sends a request as the caller of the tool. @throws 404 for a resource that the tools cannot use, and every error of the route. */
export async function sendAs(sent: SentRequest, call: ToolCall): Promise<ApiResponse> {
  requireToolResource(call, sent.resource)
  return send(sent, call.request, call.api)
}

export const resourceName = z.string().min(1).max(200).describe('The name of a resource, as `describe` lists it.')
export const recordId = z.union([z.string().min(1).max(1000), z.number()]).describe('The id of the record.')
