/** Adds details to error responses in development only: the cause of the error, and a command that helps. */

/** Nitro replaces `import.meta.dev` at build time, so that the production build contains no code for development. */
const isDevelopment = import.meta.dev === true

/** Adds the cause to the `data` of an error response, in development only. */
export function withCause(data: object | undefined, error: unknown): object | undefined {
  return isDevelopment && error !== undefined ? { ...data, cause: explainCause(error) } : data
}

/**
 * Removes the stack of an error in development, because a refusal is a response, not a bug.
 * In development, Nitro's error handler sets a stack on every error. The proxy prevents this.
 */
export function withoutStack<E extends Error>(error: E): E {
  if (!isDevelopment) return error
  Reflect.deleteProperty(error, 'stack')
  Object.defineProperty(error, 'stack', { value: undefined, configurable: true, writable: true })
  return new Proxy(error, {
    defineProperty: (target, key, descriptor) => key === 'stack' || Reflect.defineProperty(target, key, descriptor),
  })
}

interface Failure {
  readonly name?: unknown
  readonly message?: unknown
  readonly code?: unknown
  readonly errno?: unknown
  readonly cause?: unknown
}

const MAX_DEPTH = 5

/** Returns the messages from the error to its innermost cause, and a hint if the database or a table is missing. */
export function explainCause(error: unknown): string {
  const chain: Failure[] = []
  for (let current = error; current !== undefined && current !== null && chain.length < MAX_DEPTH; current = (current as Failure).cause) {
    chain.push(typeof current === 'object' ? current : { message: current })
  }
  const messages = chain.map(({ name = 'Error', message }) => `${String(name)}: ${String(message)}`)
  const hint = chain.map(hintFor).find(found => found !== undefined)
  return [messages.join('\nCaused by ') || String(error), ...hint === undefined ? [] : [hint]].join('\n')
}

interface Hint {
  readonly codes: readonly unknown[]
  readonly message: RegExp
  readonly say: (failure: string) => string
}

const PUSH = 'un `npx drizzle-kit push`, or `npx drizzle-kit migrate` if the app has migration files.'

/** A hint applies if one of its codes (Postgres, MySQL) or its message matches the error. */
const HINTS: readonly Hint[] = [
  {
    codes: [],
    message: /D1_ERROR.*(?:no such (?:table|column)|has no column named)/,
    say: () => 'The schema is newer than the database. Run `npx wrangler d1 migrations apply <database> --local`.',
  },
  {
    codes: ['42P01', '42703', 1146, 1054],
    message: /no such (?:table|column): |has no column named /,
    say: () => `The schema is newer than the database. R${PUSH}`,
  },
  {
    codes: ['3D000'],
    message: /^database "[^"]+" does not exist$/,
    say: text => `The database is missing. Run \`createdb ${nameIn(text)}\`. Then r${PUSH}`,
  },
  {
    codes: [1049],
    message: /^Unknown database '/,
    say: text => `The database is missing. Run \`mysqladmin create ${nameIn(text)}\`. Then r${PUSH}`,
  },
]

function hintFor({ code, errno, message }: Failure): string | undefined {
  const text = String(message)
  return HINTS.find(hint => hint.codes.includes(code) || hint.codes.includes(errno) || hint.message.test(text))?.say(text)
}

const nameIn = (text: string): string => /["'`]([^"'`]+)["'`]/.exec(text)?.[1] ?? '<name>'
