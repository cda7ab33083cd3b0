/** The reference page: the document as HTML. It runs no script, so it needs no other host, and its policy allows none. */
import type { Operation, Parameter, Reference, Response } from '../document/model'
import type { OpenApiDocument } from '../document/index'
import type { JsonSchema } from '../../../../shared/types/description'
import { html, raw, type Html } from './html'
import { schemaView, typeOf } from './schema'
import { STYLE } from './style'

/** The style is part of the page. A nonce would make each page another one, so the policy names the text's hash instead. */
export async function referencePolicy(): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(STYLE))
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)))
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}

interface Shown {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

interface Components {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly parameters: Readonly<Record<string, Parameter>>
  readonly responses: Readonly<Record<string, Response>>
  readonly securitySchemes?: Readonly<Record<string, { readonly type: string, readonly description?: string }>>
}

export function renderReference(document: OpenApiDocument): string {
  const { title, version, description } = document.info as { title: string, version: string, description?: string }
  const components = document.components as Components
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Shown => ({ method: method.toUpperCase(), path, operation })))
  const groups = groupByTag(operations)
  const schemas = Object.entries(components.schemas)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<nav aria-label="Contents">
<h2>${title}</h2>
${groups.map(([tag, shown]) => html`<details open><summary>${tag}</summary><ul>${shown.map(linkTo)}</ul></details>`)}
<p><a href="#schemas">Schemas</a></p>
</nav>
<main>
<header><h1>${title} <small>${version}</small></h1>
${description === undefined ? '' : html`<p>${description}</p>`}
<p>These are the operations that you can use. <a href="_openapi.json">OpenAPI document</a></p>
${securityView(components)}</header>
${groups.map(([tag, shown]) => html`<section><h2>${tag}</h2>${shown.map(one => operationView(one, components))}</section>`)}
<section id="schemas"><h2>Schemas</h2>
${schemas.map(([name, schema]) =>
  html`<details id="${`schema-${name}`}"><summary><code>${name}</code></summary>${schemaView(schema)}</details>`)}
</section>
</main>
</body>
</html>
`.text
}

/** Operations without a tag are about the API as a whole. */
function groupByTag(operations: readonly Shown[]): readonly (readonly [tag: string, operations: readonly Shown[]])[] {
  const groups = new Map<string, Shown[]>()
  for (const shown of operations) {
    const tag = shown.operation.tags?.[0] ?? 'API'
    groups.set(tag, [...groups.get(tag) ?? [], shown])
  }
  return [...groups]
}

function linkTo({ method, operation }: Shown): Html {
  return html`<li><a href="${`#${operation.operationId}`}"><b>${method}</b> ${operation.summary}</a></li>`
}

function securityView({ securitySchemes = {} }: Components): Html | '' {
  const schemes = Object.entries(securitySchemes)
  if (schemes.length === 0) return ''
  return html`<p>Credentials: ${schemes.map(([name, { type, description }]) =>
    html`<code>${name}</code> (${description ?? type}) `)}</p>`
}

function operationView({ method, path, operation }: Shown, components: Components): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  return html`<article id="${operationId}">
<h3><a href="${`#${operationId}`}">${summary}</a></h3>
<p><code><b>${method}</b> ${path}</code></p>
${description === undefined ? '' : html`<p>${description}</p>`}
${parameters.length > 0 ? parametersView(parameters.map(parameter => follow(parameter, components.parameters))) : ''}
${requestBody ? html`<h4>Body</h4>${contentView(requestBody.content)}` : ''}
<h4>Responses</h4>
<dl>${Object.entries(responses).map(([status, response]) => responseView(status, follow(response, components.responses)))}</dl>
</article>`
}

function follow<T extends object>(value: T | Reference, components: Readonly<Record<string, T>>): T {
  return '$ref' in value ? components[value.$ref.slice(value.$ref.lastIndexOf('/') + 1)]! : value
}

function parametersView(parameters: readonly Parameter[]): Html {
  return html`<h4>Parameters</h4><div class="wide" tabindex="0" role="region" aria-label="Parameters"><table>
<thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>${parameters.map(({ name, in: place, required, description = '', schema, content }) => html`<tr>
<th scope="row"><code>${name}</code>${required ? ' (required)' : ''}</th><td>${place}</td>
<td>${typeOf(schema ?? Object.values(content ?? {})[0]?.schema ?? {})}</td><td>${description}</td></tr>`)}</tbody></table></div>`
}

function contentView(content: NonNullable<Response['content']>): Html {
  return html`<ul>${Object.entries(content).map(([type, { schema }]) =>
    html`<li><code>${type}</code>${schema ? html`: ${typeOf(schema)}` : ''}</li>`)}</ul>`
}

function responseView(status: string, { description, content }: Response): Html {
  const isError = Number(status) >= 400 || status === 'default'
  return html`<dt>${status}</dt><dd>${description}${content && !isError ? contentView(content) : ''}</dd>`
}
