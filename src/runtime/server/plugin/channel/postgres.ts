/** Carries messages by LISTEN and NOTIFY, on a connection of its own beside the app's database. */
import type { DatabaseClient } from '../database-client'
import { UnfitError, type Channels, type Connection, type Receiver, type Transport } from './contract'

/** Postgres accepts 7 999 bytes. */
const MAX_LENGTH = 7_900

type Listen<Client> = (client: Client, names: Channels, receiver: Receiver) => Promise<Connection>

/** @param find throws until the app has set its database */
export function createPostgresTransport(find: () => DatabaseClient): Transport {
  return {
    maxLength: MAX_LENGTH,
    async connect(names, receiver) {
      const { dialect, client } = find()
      const driver = dialect === 'pg' ? DRIVERS.find(({ fits }) => fits(client)) : undefined
      if (driver) return driver.listen(client as never, names, receiver)
      throw new UnfitError(
        'The channel `postgres` requires a Postgres database with node-postgres, postgres.js, PGlite or Neon over WebSockets.',
      )
    },
  }
}

const NOTIFY = 'select pg_notify($1, $2)'

/** The parts of a client or a pool of node-postgres, and of Neon's. */
interface PgClient {
  readonly on: (event: string, listen: (value: never) => void) => unknown
  readonly connect: () => Promise<unknown>
  readonly query: (text: string, values?: readonly string[]) => Promise<unknown>
  readonly end: () => Promise<unknown>
}
interface PgPool extends Pick<PgClient, 'query'> {
  readonly Client: new (options: unknown) => PgClient
  readonly options: unknown
}
interface SingleClient extends Pick<PgClient, 'query'> { readonly connectionParameters: unknown }

/** A new client, not one of the pool: it would be missing there as long as the server runs. */
const listenWithPg: Listen<PgPool | SingleClient> = async (client, names, { receive, lose }) => {
  const own = 'Client' in client
    ? new client.Client(client.options)
    : new (client.constructor as PgPool['Client'])(client.connectionParameters)
  own.on('error', lose)
  own.on('end', () => lose(new Error('The connection has ended.')))
  own.on('notification', ({ payload = '' }: { readonly payload?: string }) => receive(payload))
  await own.connect()
  try {
    for (const name of names) await own.query(`listen ${name}`)
  }
  catch (error) {
    void own.end().catch(() => {})
    throw error
  }
  return {
    publish: text => own.query(NOTIFY, [names[0], text]),
    // A pooler in transaction mode delivers what is published on the same connection, and nothing else.
    publishElsewhere: text => client.query(NOTIFY, [names[0], text]),
    close: () => own.end(),
  }
}

/** The parts of postgres.js. It opens a connection for `listen` itself. */
interface PostgresJs {
  readonly listen: (
    name: string, receive: (text: string) => void, listening: () => void,
  ) => Promise<{ readonly unlisten: () => Promise<unknown> }>
  readonly notify: (name: string, text: string) => Promise<unknown>
}

const listenWithPostgresJs: Listen<PostgresJs> = async (sql, names, { receive, lose }) => {
  const close = await subscribeToAll(names, async (name) => {
    let listens = 0
    // It connects again by itself, and says so only afterwards.
    const { unlisten } = await sql.listen(name, receive, () => {
      if (listens++ > 0) lose(new Error('The connection has ended.'))
    })
    return unlisten
  })
  return { publish: text => sql.notify(names[0], text), close }
}

interface Pglite {
  readonly listen: (name: string, receive: (text: string) => void) => Promise<() => Promise<unknown>>
  readonly query: PgClient['query']
}

const listenWithPglite: Listen<Pglite> = async (client, names, { receive }) => {
  const close = await subscribeToAll(names, name => client.listen(name, receive))
  return { publish: text => client.query(NOTIFY, [names[0], text]), close }
}

type Unsubscribe = () => Promise<unknown>

/** Subscribes to each channel, or to none. */
async function subscribeToAll(names: Channels, subscribe: (name: string) => Promise<Unsubscribe>): Promise<Unsubscribe> {
  const open: Unsubscribe[] = []
  const close = () => Promise.all(open.map(unsubscribe => unsubscribe()))
  try {
    for (const name of names) open.push(await subscribe(name))
  }
  catch (error) {
    await close().catch(() => {})
    throw error
  }
  return close
}

const has = (client: unknown, ...names: readonly string[]) =>
  (typeof client === 'object' || typeof client === 'function') && client !== null && names.every(name => name in client)

/** The drivers, by what their clients have. */
const DRIVERS: readonly { readonly fits: (client: unknown) => boolean, readonly listen: Listen<never> }[] = [
  { fits: client => has(client, 'Client', 'options', 'totalCount') || has(client, 'connectionParameters'), listen: listenWithPg },
  { fits: client => typeof client === 'function' && has(client, 'listen', 'notify'), listen: listenWithPostgresJs },
  { fits: client => has(client, 'listen', 'query'), listen: listenWithPglite },
]
