/**
 * The marker of a write: an encrypted position in the log of the primary. The response of a write has it as a header, and as a cookie for
 * callers with a session. A read with the marker uses no replica that has not reached the position. It is encrypted, because positions tell
 * how much all tenants write. A marker grants nothing: whoever sends that of another caller reads newer rows at most.
 */
import { fromText, latest, toText, type Position } from '../../engines/log-position'
import { decrypt, encrypt } from '../process/encryption'
import type { Secrets } from '../process/secret'

export const MARKER_HEADER = 'consistency-token'
export const MARKER_COOKIE = 'auto-api-consistency'

const PURPOSE = 'replicas'
/** A marker has 123 characters, and with many replication domains more. Longer text is not decrypted. */
const MAX_LENGTH = 1_000
/** The server decrypts no more markers of one request. */
const MAX_MARKERS = 3
/** Each position of the log is below this one. It stands for a position that the primary did not return. */
const UNKNOWN: Position = new Map([[0, BigInt(1) << BigInt(64)]])

/** Milliseconds. Afterwards, a replica that is not too far behind has the write anyway. The clocks of servers can differ. */
const lifetimeOf = (maxLag: number) => Math.max(60_000, 2 * maxLag)

export interface Marker {
  readonly token: string
  readonly cookie: string
}

/**
 * @param position `undefined` if the primary did not return it. The caller then reads from the primary.
 * @param isSecure whether the page has been loaded over HTTPS
 */
export async function createMarker(
  secrets: Secrets, position: Position | undefined, maxLag: number, isSecure: boolean,
): Promise<Marker> {
  const token = await encrypt(secrets, PURPOSE, `${toText(position ?? UNKNOWN)} ${Date.now()}`)
  const maxAge = Math.ceil(lifetimeOf(maxLag) / 1000)
  // The cookie comes with the request of a page too, which passes it on to the API while it is rendered.
  return { token, cookie: `${MARKER_COOKIE}=${token}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}` }
}

/** Finds the position after those of all markers of a request. Ignores what is no marker of this app, and markers that are too old. */
export async function findMarkedPosition(
  header: (name: string) => string | undefined, secrets: Secrets, maxLag: number,
): Promise<Position | undefined> {
  const sent = [header(MARKER_HEADER), ...cookiesOf(header('cookie'))].filter(token => token !== undefined && token.length <= MAX_LENGTH)
  let highest: Position | undefined
  for (const token of (sent as readonly string[]).slice(0, MAX_MARKERS)) {
    const position = toPosition(await decrypt(secrets, PURPOSE, token), maxLag)
    if (position) highest = highest ? latest(highest, position) : position
  }
  return highest
}

/** A browser can send several cookies with the name, of different paths or domains. */
function cookiesOf(cookie: string | undefined): readonly string[] {
  if (!cookie?.includes(MARKER_COOKIE)) return []
  return [...cookie.matchAll(COOKIES)].map(([, token]) => token!)
}

const COOKIES = new RegExp(`(?:^|;)\\s*${MARKER_COOKIE}=([\\w-]+)\\s*(?=;|$)`, 'g')

function toPosition(text: string | undefined, maxLag: number): Position | undefined {
  const [, position, time] = /^((?:[0-9a-f]+:[0-9a-f]+(?:,|(?= )))*) (\d+)$/.exec(text ?? '') ?? []
  return position !== undefined && Math.abs(Date.now() - Number(time)) <= lifetimeOf(maxLag) ? fromText(position) : undefined
}
