/** Example of the docs page `webhooks`: an app that receives events. */
import { defineEventHandler, readRawBody } from 'h3'
import { verifyWebhook } from 'nuxt-auto-api/utils'
import { handled } from '../handled'

export default defineEventHandler(async (event) => {
  const body = await readRawBody(event)
  const { id, payload } = await verifyWebhook({ headers: event.headers, body }, process.env.WEBHOOK_SECRET!)
  await handled.once(id, () => console.info(payload.type, payload.data.id))
  return { received: id }
})
