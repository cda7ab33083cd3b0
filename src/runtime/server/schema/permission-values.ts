/** Checks the values of permissions at startup. Without this check, an invalid value would refuse every caller without a message. */
import { isPromise } from '../../shared/awaitable'
import type { ResourceRegistration } from '../registration'

const VALID = 'Use `true`, `false`, the name of a permission or role, a function of the context, or a list of them.'

/** Names that look like a keyword of the API. They are valid, because an app can have such a role. */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  'public': '`true`',
  'everyone': '`true`',
  'everybody': '`true`',
  'anyone': '`true`',
  'anonymous': '`true`',
  'all': '`true`',
  'any': '`true`',
  '*': '`true`',
  'true': '`true`',
  'authenticated': '`ctx => ctx.user !== null`',
  'signed-in': '`ctx => ctx.user !== null`',
  'logged-in': '`ctx => ctx.user !== null`',
  'loggedIn': '`ctx => ctx.user !== null`',
  'none': '`false`',
  'nobody': '`false`',
  'false': '`false`',
}

/** @throws For the first value that can never allow a caller because of its type. A name that looks like a keyword is only a warning. */
export function assertPermissionValues({ name, authorization, from }: ResourceRegistration): void {
  const file = from?.authorization === undefined ? '' : ` (${from.authorization})`
  for (const [at, value] of permissionsOf(authorization)) {
    const where = `\`${name}.authorization.${at}\`${file}`
    const problem = findProblem(value)
    if (problem !== undefined) throw new Error(`[auto-api] ${where} ${problem}. ${VALID}`)
    for (const text of [value].flat().filter(entry => typeof entry === 'string'))
      if (Object.hasOwn(LOOKS_LIKE, text))
        console.warn(`[auto-api] ${where} is \`'${text}'\`, which is the name of a permission or role. Did you mean ${LOOKS_LIKE[text]!}?`)
  }
}

/** The permissions with their paths. A value `undefined` counts as absent. */
function permissionsOf(authorization: ResourceRegistration['authorization']): [at: string, value: unknown][] {
  const { permissions, custom = {}, fields = {} } = authorization ?? {}
  const entriesOf = (at: string, values: object | undefined): [string, unknown][] =>
    Object.entries(values ?? {}).flatMap(([key, value]) => value === undefined ? [] : [[`${at}.${key}`, value]])
  return [
    ...entriesOf('permissions', permissions),
    ...Object.entries(custom).flatMap(([gate, of]) => entriesOf(`custom.${gate}.permissions`, of?.permissions)),
    ...Object.entries(fields).flatMap(([field, rule]) => entriesOf(`fields.${field}`, { read: rule?.read, write: rule?.write })),
  ]
}

/** Returns the end of a sentence about the value, or `undefined` if the value is valid. */
function findProblem(value: unknown): string | undefined {
  switch (typeof value) {
    case 'boolean':
    case 'function':
      return undefined
    case 'string':
      return value === '' ? 'is empty' : undefined
    case 'object':
      if (value === null) return 'is null'
      // A call without `await` in its place, such as `read: isEditor()`. Objects of other classes can be for an evaluator.
      if (isPromise(value)) return 'is a promise. Pass the function itself: the API calls it for each request'
      return Array.isArray(value) ? value.map(findProblem).find(problem => problem !== undefined) : undefined
    default:
      return `is ${String(value)}`
  }
}
