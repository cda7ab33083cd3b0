/** The options of `openApi`. */
import { isObject } from '../../shared/is-object'
import { assertOptions, type Importable } from '../../server/plugin/options'
import type { Permission } from '../../server/kit/call'
import { flag, isName, type OptionRules } from '../../shared/option-rule'

export interface OpenApiInfo {
  /** @default 'API' */
  readonly title?: string
  /** The version of your API, not of OpenAPI. @default '1.0.0' */
  readonly version?: string
  readonly summary?: string
  readonly description?: string
  readonly termsOfService?: string
  readonly contact?: { readonly name?: string, readonly url?: string, readonly email?: string }
  readonly license?: { readonly name: string, readonly identifier?: string, readonly url?: string }
}

export interface OpenApiServer {
  readonly url: string
  readonly description?: string
}

/** A security scheme of OpenAPI, such as `{ type: 'apiKey', in: 'cookie', name: 'session' }`. */
export interface OpenApiSecurityScheme {
  readonly type: 'apiKey' | 'http' | 'oauth2' | 'openIdConnect' | 'mutualTLS'
  readonly [key: string]: unknown
}

export interface OpenApiOptions {
  /**
   * Who can read the document: a permission, as in the authorization of a resource. `true` is everyone. Each caller gets the document of
   * what this caller can use.
   * @default everyone in development, nobody in production
   */
  readonly access?: Importable<Permission>
  /** The title, the version and further facts about your API. */
  readonly info?: OpenApiInfo
  /**
   * The addresses of the API, without its prefix.
   * @default the address of the document
   */
  readonly servers?: readonly OpenApiServer[]
  /**
   * Further security schemes by name. Those of the plugins `apiTokens` (`apiToken`) and `betterAuth` (`session`) are in the document
   * already; a scheme with the same name replaces them.
   * @default {}
   */
  readonly securitySchemes?: Readonly<Record<string, OpenApiSecurityScheme>>
  /**
   * Whether `GET /_reference` shows the document as a page.
   * @default false
   */
  readonly reference?: boolean
}

const isServer = (value: unknown) => isObject(value) && 'url' in value && isName(value.url)
const isPermission = (value: unknown): boolean =>
  typeof value === 'boolean' || isName(value) || typeof value === 'function' || isObject(value)
  || (Array.isArray(value) && value.every(isPermission))

const RULES: OptionRules<OpenApiOptions> = {
  access: { fits: isPermission, use: '`true`, the name of a permission or role, a function of the context, or a list of them', code: true },
  info: { fits: isObject, use: 'an object such as `{ title: \'Newsroom\', version: \'1.0.0\' }`' },
  servers: {
    fits: value => Array.isArray(value) && value.length > 0 && value.every(isServer),
    use: 'a list such as `[{ url: \'https://api.example.com\' }]`',
  },
  securitySchemes: {
    fits: value => isObject(value) && Object.entries(value).every(([name, scheme]) => /^[\w.-]+$/.test(name) && isScheme(scheme)),
    use: 'an object of security schemes of OpenAPI, such as `{ session: { type: \'apiKey\', in: \'cookie\', name: \'session\' } }`',
  },
  reference: flag,
}

const TYPES = ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS']
const isScheme = (value: unknown) => isObject(value) && 'type' in value && TYPES.includes(value.type as string)

const text = (use: string) => ({ fits: isName, use })

const INFO: OptionRules<OpenApiInfo> = {
  title: text('a text'),
  version: text('a version such as `\'1.0.0\'`'),
  summary: text('a text'),
  description: text('a text'),
  termsOfService: text('a URL'),
  contact: { fits: isObject, use: 'an object such as `{ name: \'Support\', email: \'support@example.com\' }`' },
  license: { fits: value => isObject(value) && 'name' in value && isName(value.name), use: 'an object such as `{ name: \'MIT\' }`' },
}

/** @throws TypeError for an unknown option or an invalid value. */
export function assertOpenApiOptions(options: OpenApiOptions): void {
  assertOptions(options, RULES, 'openApi')
  if (options.info) assertOptions(options.info, INFO, 'openApi.info')
}
