/** Explains a recorded request: finds the rule that decided, and the rules that hide rows. */
import type { Decision, DecisionKind, ExplainedCaller, ExplainedRows, Explanation } from '../../shared/explanation'
import { OPERATIONS, type Operation } from '../../shared/operations'
import type { Api } from '../core/api'
import { contextFor } from '../core/access/authorize'
import type { AuthorizeMessage } from '../core/process/trace'
import { limitsOf } from '../core/request/limits'
import { requireSession, type Session } from '../core/request/session'
import type { AutoApiContext } from '../registration'
import type { Resource } from '../schema/model'
import { explainFields } from './fields'
import { explainGate, explainPermission, explainTenant, rolesIn } from './permission'
import type { Places } from './places'
import type { Recording } from './recorder'
import { explainRow, explainRows, readsTable, trashModeOf } from './rows'
import { findSubjects } from './subjects'

/** A request and its response, as the client sees them. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly status: number
  /** The parsed body of the response. */
  readonly response: unknown
}

/** What the error of a response says. */
export interface ErrorDetails {
  readonly code?: string
  readonly relation?: string
  readonly ids?: readonly unknown[]
  readonly field?: string
  readonly fields?: readonly string[]
}

/** What the parts of an explanation need. */
export interface Explaining {
  readonly api: Api
  readonly session: Session
  readonly resource: Resource | undefined
  readonly operation: Operation
  readonly exchange: Exchange
  readonly error: ErrorDetails
  readonly recording: Recording
  readonly places: Places
}

/** @param places where the rules stand; without them, decisions have no place */
export async function explain(api: Api, recording: Recording, exchange: Exchange, places: Places = {}): Promise<Explanation> {
  const { method, path, status, response } = exchange
  const { ctx, request } = recording
  // Statements of the explanation itself are not part of it.
  const statements = recording.statements.map(({ text, rows, duration = 0 }) => ({ text, duration, ...rows !== undefined && { rows } }))
  const error = status >= 400 ? errorOf(response) : {}
  const message = (response as { readonly message?: string } | undefined)?.message ?? ''
  const base = {
    method, path, status, ...error.code !== undefined && { code: error.code }, statements, duration: request?.duration ?? 0,
  }
  if (!ctx) return { ...base, decision: before(error, message, status), checks: [], rows: [] }
  const session = requireSession(ctx)
  const { resource, operation } = targetOf(api, ctx, recording)
  const explaining: Explaining = { api, session, resource, operation, exchange, error, recording, places }
  const checks = await explainAccess(explaining)
  const failed = status >= 400 ? await explainFailure(explaining, checks) : []
  const rows = await explainTables(explaining)
  const all = [...checks, ...failed, ...status < 400 && DESCRIBES.test(path) ? await explainOperations(explaining) : []]
  const hiding = rows.flatMap(hidingRules)
  const decision = all.find(({ passed }) => !passed) ?? (status >= 400 ? byRequest(error, message, session) : hiding[0] ?? NOTHING)
  return { ...base, ...resource && { resource: resource.name }, operation, caller: callerOf(session), decision, checks: all, rows }
}

/** A route without a resource can authorize the caller for one. */
function targetOf({ resources }: Api, ctx: AutoApiContext, { authorized }: Recording): Pick<Explaining, 'resource' | 'operation'> {
  const { resource = ctx.resource, operation = ctx.operation } = ctx.resource === '' ? authorized.at(-1) ?? {} : {}
  return { resource: resources.get(resource), operation: operation as Operation }
}

const hidingRules = ({ resource, operation, rules }: ExplainedRows): Decision[] =>
  rules.filter(({ hidden }) => hidden > 0).map(({ hidden, ...rule }): Decision =>
    ({ ...rule, resource, operation, passed: false, text: `\`${rule.rule!}\` hides rows of \`${resource}\`: ${hidden}.` }))

const NOTHING: Decision = { kind: 'none', passed: true, text: 'No rule refuses the request or hides a row.' }

function errorOf(response: unknown): ErrorDetails {
  const { data, ...problem } = (response ?? {}) as { readonly data?: ErrorDetails } & ErrorDetails
  return data ?? problem
}

const CALLER_CODES: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'CROSS_SITE', 'RATE_LIMITED'])

/** The request ended before its caller was known. */
function before({ code }: ErrorDetails, message: string, status: number): Decision {
  const kind: DecisionKind = code === 'METHOD_NOT_ALLOWED' ? 'disabled' : CALLER_CODES.has(code ?? '') ? 'caller' : 'request'
  return { kind, passed: status < 400, text: `The request ended before any rule was asked: ${message || code || 'it has no caller'}` }
}

function byRequest({ code }: ErrorDetails, message: string, { ctx }: Session): Decision {
  if (code === 'UNAUTHENTICATED' && ctx.user === null)
    return { kind: 'sign in', passed: false, text: 'The route requires a caller who is signed in.' }
  if (code === 'TENANT_REQUIRED')
    return { kind: 'tenant', passed: false, text: 'A new row belongs to a tenant. The caller sees all tenants and has chosen none.' }
  const text = `Every rule lets the caller pass. The request itself is refused: ${code ?? 'error'}. ${message}`
  return { kind: 'request', passed: false, text }
}

function callerOf(session: Session): ExplainedCaller {
  const { user, permissions, tenant } = session.ctx
  const scopes = limitsOf(session.ctx)?.scopes
  return {
    signedIn: user !== null, ...user?.id !== undefined && { id: user.id }, roles: rolesIn(session), permissions,
    ...tenant && { tenant: tenant.id }, ...scopes && { scopes: [...scopes] },
  }
}

/** Explains each authorization of the request, in its order: the operations, the gate, and the tenant. */
async function explainAccess({ api, session, recording, places }: Explaining): Promise<Decision[]> {
  const checks: Decision[] = []
  for (const { resource: name = '', operations, gate, code } of unique(recording.authorized)) {
    const asked = api.resources.get(name)
    if (!asked) continue
    const [first, ...further] = operations as Operation[]
    if (gate !== undefined) {
      const passed = code === undefined || code === 'TENANT_REQUIRED'
      checks.push(explainGate(asked, first!, gate, passed, places))
    }
    const needed = gate === undefined ? operations as Operation[] : further
    const explained = await Promise.all(needed.map(operation => explainPermission(session, asked, operation, places)))
    // One of several operations can be enough.
    checks.push(...code === undefined ? explained.filter(({ passed }) => passed) : explained)
    const tenant = explainTenant(session, asked)
    if (tenant) checks.push(tenant)
  }
  return checks
}

/** Routes that say what the caller could do. So their rules are those of every operation. */
const DESCRIBES = /\/(?:_?permissions|_schema)(?:[/?]|$)/

async function explainOperations({ api, session, places, resource }: Explaining): Promise<Decision[]> {
  const decisions: Decision[] = []
  for (const described of resource ? [resource] : api.resources.values()) {
    for (const operation of OPERATIONS) decisions.push(await explainPermission(session, described, operation, places))
    const tenant = explainTenant(session, described)
    if (tenant) decisions.push(tenant)
  }
  return decisions
}

function unique(messages: readonly AuthorizeMessage[]): AuthorizeMessage[] {
  return [...new Map(messages.map(message => [JSON.stringify([message.resource, message.operations, message.gate]), message])).values()]
}

/** Explains the error of a request that the permissions did not refuse. */
async function explainFailure(explaining: Explaining, checks: readonly Decision[]): Promise<Decision[]> {
  const { session, error, exchange, places, resource } = explaining
  if (checks.some(({ passed }) => !passed)) return []
  if (error.code === 'FIELD_FORBIDDEN' || error.code === 'UNKNOWN_FIELD') return resource ? explainFields(explaining, resource) : []
  if (exchange.status !== 404 && exchange.status !== 403) return []
  const decisions: Decision[] = []
  for (const { resource: target, operation, id } of findSubjects(explaining)) {
    const trash = target === resource ? trashModeOf(operation, contextFor(session, target, operation).query) : 'active'
    const explained = await explainRow(session, target, operation, id, trash, places)
    decisions.push(...explained)
    if (explained.some(({ passed }) => !passed)) break
  }
  return decisions
}

/** Explains the rows of each table that the request has read. */
async function explainTables({ api, session, resource, operation, exchange, recording, places }: Explaining): Promise<Explanation['rows']> {
  if (exchange.status >= 400) return []
  const texts = recording.statements.map(({ text }) => text)
  const seen = new Set<unknown>()
  const rows: Explanation['rows'][number][] = []
  for (const target of [...resource ? [resource] : [], ...api.resources.values()]) {
    const own = target === resource
    // A handler of the app can read its rows without the API.
    if (seen.has(target.table) || (!own && !texts.some(text => readsTable(text, target)))) continue
    seen.add(target.table)
    const { query } = session.ctx
    rows.push(await explainRows(session, target, own ? operation : 'read', own ? trashModeOf(operation, query) : 'active', places))
  }
  return rows
}
