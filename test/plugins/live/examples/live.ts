/** A plugin file: streams of several servers on one Postgres. */
import { live } from 'nuxt-auto-api/plugins'

export default live({
  channel: 'postgres',
  maxStreamsPerCaller: 20,
})
