/** Stands in for Redis: clients of ioredis that publish and subscribe in this process, whose connections a test can end. */
import { EventEmitter } from 'node:events'
import type { RedisChannelClient } from '../../../src/runtime/server/plugin/channel/redis'

export interface FakeRedis {
  readonly client: () => FakeClient
  /** Every text that was published. */
  readonly texts: string[]
  /** The channels on which texts were published. */
  readonly channels: Set<string>
  /** Publishes in another order: what it returns arrives instead of the text. */
  deliver: (text: string) => readonly string[]
}

export interface FakeClient extends RedisChannelClient {
  /** Ends the connections that subscribe. While it is cut, the client neither subscribes nor publishes. */
  readonly cut: () => void
  readonly mend: () => void
}

export function createFakeRedis(): FakeRedis {
  const subscribers = new Map<EventEmitter, readonly string[]>()
  const redis: FakeRedis = {
    texts: [],
    channels: new Set(),
    deliver: text => [text],
    client() {
      let isCut = false
      const own = new Set<EventEmitter>()
      const assertConnected = () => {
        if (isCut) throw new Error('The connection is closed.')
      }
      const end = (subscriber: EventEmitter) => {
        subscribers.delete(subscriber)
        if (own.delete(subscriber)) subscriber.emit('close')
      }
      return {
        async publish(channel, text) {
          assertConnected()
          redis.texts.push(text)
          redis.channels.add(channel)
          for (const one of redis.deliver(text)) {
            for (const [subscriber, channels] of subscribers) if (channels.includes(channel)) subscriber.emit('message', channel, one)
          }
        },
        duplicate() {
          const subscriber = new EventEmitter()
          return Object.assign(subscriber, {
            async subscribe(...channels: string[]) {
              assertConnected()
              own.add(subscriber)
              subscribers.set(subscriber, channels)
            },
            disconnect: () => end(subscriber),
          }) as unknown as ReturnType<RedisChannelClient['duplicate']>
        },
        cut() {
          isCut = true
          for (const subscriber of [...own]) end(subscriber)
        },
        mend: () => void (isCut = false),
      }
    },
  }
  return redis
}
