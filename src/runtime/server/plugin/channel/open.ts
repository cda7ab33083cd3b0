/** Opens a channel between the servers of an app, and keeps it open: it connects again when the connection ends. */
import { randomUUID } from 'node:crypto'
import { keepRunning } from '../../core/process/in-flight'
import { logError } from '../../core/process/log'
import { randomSecrets, readSecrets, type Secrets } from '../../core/process/secret'
import { withTimeout } from '../../core/process/timeout'
import { findDatabaseClient } from '../database-client'
import type { PluginServer } from '../server'
import { createCodec } from './codec'
import { UnfitError, type Connection, type Transport } from './contract'
import { createPostgresTransport } from './postgres'
import { createRedisTransport, findRedis, type RedisChannelClient } from './redis'

/** What carries the messages: the app's Postgres, a storage of Nitro with the driver `redis`, or a client of ioredis. */
export type ChannelPlace = 'postgres' | { readonly redis: string | RedisChannelClient }

export interface ChannelOptions<Message> {
  readonly place: ChannelPlace
  /** What the channel is for, in letters. */
  readonly name: string
  /** The option of the place, for messages. */
  readonly where: string
  /** @param number the number of the message. The next one of the same server has the next number. */
  readonly onMessage: (from: string, number: number, message: Message) => void
  /** Runs when the server is connected. Messages of other servers may have been missed before. */
  readonly onUp: () => void
  readonly onDown: () => void
}

export interface Channel<Message> {
  /** The id of this server on the channel. */
  readonly id: string
  readonly isUp: () => boolean
  /** Whether messages never can be sent. */
  readonly isUnfit: () => boolean
  /** The messages arrive in their order. @returns whether this one is sent. A value that cannot be sent is an error. */
  readonly post: (message: Message) => Promise<boolean>
  /** Sends what waits to be sent, and a last message. */
  readonly close: (last: Message) => Promise<void>
}

const SECOND = 1000
const CONNECT_WITHIN = 10 * SECOND
const PUBLISH_WITHIN = 5 * SECOND
/** The channel returns each message to its sender. After this time without it, the connection is lost. */
const RETURN_WITHIN = 10 * SECOND
const FIRST_DELAY = 50
const MAX_DELAY = 30 * SECOND
/** The attempts before a log entry. The database can be set after the start. */
const QUIET_ATTEMPTS = 5

/** @throws When the app has no secret, or the storage cannot carry messages. */
export function openChannel<Message>(server: PluginServer, options: ChannelOptions<Message>): Channel<Message> {
  const { name, where, onMessage, onUp, onDown } = options
  const transport = transportOf(server, options)
  const codec = createCodec(requireSecrets(server, where), name, transport.maxLength)
  const id = randomUUID()
  let number = 0
  let connection: Connection | undefined
  /** Identifies the attempt to connect. What an earlier connection still receives is ignored. */
  let current: object | undefined
  let closed = false
  let isUnfit = false
  let reading = Promise.resolve()
  let draining = Promise.resolve()
  /** When the oldest message was sent that has not returned, and its number. */
  let unreturned: { readonly number: number, readonly sentAt: number } | undefined
  const outbox: { readonly message: Message, readonly done: (isSent: boolean) => void, readonly fail: (error: unknown) => void }[] = []

  async function connect(): Promise<void> {
    for (let attempt = 0; !closed && !isUnfit && !connection; attempt++) {
      const own = { isLost: false }
      current = own
      const probe = `probe.${randomUUID()}`
      let returned: (() => void) | undefined
      const returning = new Promise<void>(resolve => returned = resolve)
      const connecting = transport.connect(codec.channels, {
        receive(text) {
          if (text === probe) returned!()
          else if (current === own) receive(text)
        },
        lose(error) {
          own.isLost = true
          if (current === own && connection) disconnect(error)
        },
      })
      try {
        const made = await withTimeout(connecting, CONNECT_WITHIN)
        await withTimeout((made.publishElsewhere ?? made.publish)(probe), PUBLISH_WITHIN)
        // A pooler that changes connections accepts the subscription, and nothing of others ever arrives.
        await withTimeout(returning, PUBLISH_WITHIN, 'A message has not returned.')
        if (own.isLost || closed) throw new Error('The connection has ended.')
        connection = made
        if (attempt > QUIET_ATTEMPTS) console.info(`[auto-api] \`${where}\`: this server is connected to the others again.`)
        onUp()
        return
      }
      catch (error) {
        current = undefined
        void connecting.then(late => late.close()).catch(() => {})
        isUnfit = error instanceof UnfitError
        if (isUnfit || attempt === QUIET_ATTEMPTS)
          console.error(`[auto-api] \`${where}\`: this server is not connected to the others.`, error)
        if (!isUnfit) await pause(Math.min(MAX_DELAY, FIRST_DELAY * 2 ** attempt) * (0.75 + Math.random() / 2))
      }
    }
  }

  function disconnect(error: unknown): void {
    const lost = connection!
    connection = undefined
    current = undefined
    unreturned = undefined
    void lost.close().catch(() => {})
    for (const { done } of outbox.splice(0)) done(false)
    if (closed) return
    console.warn(`[auto-api] \`${where}\`: the connection to the other servers is lost.`, error)
    onDown()
    void connect()
  }

  function receive(text: string): void {
    reading = reading.then(async () => {
      const decoded = await codec.decode(text)
      if (!decoded) return
      const [from, sent, message] = decoded.message as [string, number, Message]
      if (from !== id) onMessage(from, sent, message)
      else if (unreturned && sent >= unreturned.number) unreturned = undefined
    }).catch(error => logError(undefined, `\`${where}\`: a message of another server failed.`, error))
  }

  async function drain(): Promise<void> {
    for (let next = outbox.shift(); next; next = outbox.shift()) {
      const { message, done, fail } = next
      const used = connection
      if (!used) {
        done(false)
        continue
      }
      let texts: readonly string[]
      try {
        texts = await codec.encode([id, number + 1, message])
      }
      catch (error) {
        fail(error)
        continue
      }
      number++
      unreturned ??= { number, sentAt: Date.now() }
      try {
        for (const text of texts) await withTimeout(used.publish(text), PUBLISH_WITHIN)
        done(true)
      }
      catch (error) {
        if (connection === used) disconnect(error)
        done(false)
      }
    }
  }

  function post(message: Message): Promise<boolean> {
    if (!connection) return Promise.resolve(false)
    const posted = new Promise<boolean>((done, fail) => outbox.push({ message, done, fail }))
    // A server that stops waits until the message is sent.
    draining = keepRunning(draining.then(drain))
    return posted
  }

  let lastTick = Date.now()
  const timer = setInterval(() => {
    const now = Date.now()
    // A server that was busy has not read what has arrived meanwhile.
    if (now - lastTick > 2 * SECOND && unreturned) unreturned = { ...unreturned, sentAt: now }
    lastTick = now
    if (connection && unreturned && now - unreturned.sentAt > RETURN_WITHIN) disconnect(new Error('A message has not returned.'))
  }, SECOND)
  timer.unref?.()
  // The app's server plugins set the database after this.
  void pause(0).then(connect)

  return {
    id,
    isUp: () => connection !== undefined,
    isUnfit: () => isUnfit,
    post,
    async close(last) {
      await post(last).catch(() => false)
      closed = true
      clearInterval(timer)
      const open = connection
      connection = undefined
      await open?.close()
    },
  }
}

function transportOf(server: PluginServer, { place, where }: Pick<ChannelOptions<never>, 'place' | 'where'>): Transport {
  if (place === 'postgres') return createPostgresTransport(() => findDatabaseClient(server))
  const { redis } = place
  const connect = typeof redis === 'string' ? findRedis(redis, server.storage, `${where}.redis`) : () => redis
  return createRedisTransport(() => {
    // Without a database, such as while a document is written outside of a server, there is nothing to say.
    findDatabaseClient(server)
    return connect()
  })
}

/** Outside of Nitro, there is no configuration, and no other server. */
function requireSecrets({ runtimeConfig }: PluginServer, where: string): Secrets {
  const secrets = readSecrets(runtimeConfig)
  if (secrets) return secrets
  if (import.meta.dev || runtimeConfig().autoApi === undefined) return randomSecrets()
  throw new Error(
    `[auto-api] \`${where}\` requires a secret, with which servers encrypt what they send to each other. `
    + 'Set NUXT_AUTO_API_SECRET (`runtimeConfig.autoApi.secret`) to the same value on each of them.',
  )
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => {
  setTimeout(resolve, milliseconds).unref?.()
})
