/** Transports subscribe to each channel, publish on the first one, and leave no subscription behind. */
import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Transport } from '../../../../../src/runtime/server/plugin/channel/contract'
import { createPostgresTransport } from '../../../../../src/runtime/server/plugin/channel/postgres'
import { createRedisTransport } from '../../../../../src/runtime/server/plugin/channel/redis'

/** The calls that reach the client. `fails` is the channel to which it cannot subscribe. */
interface Recorder { readonly calls: string[], readonly fails?: string }

const subscribe = ({ calls, fails }: Recorder, channel: string) => {
  if (channel === fails) throw new Error('refused')
  calls.push(`+${channel}`)
}

const pglite = (recorder: Recorder) => ({
  async listen(channel: string) {
    subscribe(recorder, channel)
    return async () => void recorder.calls.push(`-${channel}`)
  },
  query: async (_: string, [channel]: readonly string[]) => void recorder.calls.push(`>${channel}`),
})

const postgresJs = (recorder: Recorder) => Object.assign(() => {}, {
  async listen(channel: string, _: unknown, listening: () => void) {
    subscribe(recorder, channel)
    listening()
    return { unlisten: async () => void recorder.calls.push(`-${channel}`) }
  },
  notify: async (channel: string) => void recorder.calls.push(`>${channel}`),
})

function nodePostgres(recorder: Recorder) {
  class Client extends EventEmitter {
    async connect() {}
    async query(text: string, values?: readonly string[]) {
      if (values) recorder.calls.push(`>${values[0]}`)
      else subscribe(recorder, text.replace('listen ', ''))
    }

    async end() {
      recorder.calls.push('-')
    }
  }
  return { Client, options: {}, totalCount: 0 }
}

const redis = (recorder: Recorder) => ({
  publish: async (channel: string) => void recorder.calls.push(`>${channel}`),
  duplicate: () => Object.assign(new EventEmitter(), {
    subscribe: async (...channels: string[]) => channels.forEach(channel => subscribe(recorder, channel)),
    disconnect: () => void recorder.calls.push('-'),
  }),
})

const onPostgres = (client: unknown) => createPostgresTransport(() => ({ dialect: 'pg', client }) as never)
const TRANSPORTS: readonly [name: string, ends: readonly string[], undone: readonly string[], open: (recorder: Recorder) => Transport][] = [
  ['node-postgres', ['-'], ['-'], recorder => onPostgres(nodePostgres(recorder))],
  ['postgres.js', ['-one', '-two'], ['-one'], recorder => onPostgres(postgresJs(recorder))],
  ['PGlite', ['-one', '-two'], ['-one'], recorder => onPostgres(pglite(recorder))],
  ['Redis', ['-'], ['-'], recorder => createRedisTransport(() => redis(recorder) as never)],
]
const receiver = { receive: () => {}, lose: () => {} }

describe.each(TRANSPORTS)('the transport of %s', (_, ends, undone, open) => {
  it('subscribes to each channel, publishes on the first one, and ends all', async () => {
    const recorder: Recorder = { calls: [] }
    const connection = await open(recorder).connect(['one', 'two'], receiver)
    await connection.publish('text')
    await connection.close()
    expect(recorder.calls).toEqual(['+one', '+two', '>one', ...ends])
  })

  it('ends its subscriptions if one fails', async () => {
    const recorder: Recorder = { calls: [], fails: 'two' }
    await expect(open(recorder).connect(['one', 'two'], receiver)).rejects.toThrow('refused')
    expect(recorder.calls).toEqual(['+one', ...undone])
  })
})
