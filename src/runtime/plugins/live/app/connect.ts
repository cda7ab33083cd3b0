/** Sends the request of the stream, with the headers and the credentials of all other requests. */
import type { Client } from '../../../app/client'
import type { StreamSource } from './stream'

export const connectWith = (client: Client): StreamSource['connect'] => (resources, last, signal) =>
  client.open('_live', '', { resources: resources.join() }, signal, {
    accept: 'text/event-stream',
    ...last !== undefined && { 'last-event-id': last },
  })
