/** ZenStack 3: its ORM with access policies over better-sqlite3, and its RPC handler on Express. */
import { PolicyPlugin } from '@zenstackhq/plugin-policy'
import { ZenStackClient } from '@zenstackhq/orm'
import { SqliteDialect } from '@zenstackhq/orm/dialects/sqlite'
import { RPCApiHandler } from '@zenstackhq/server/api'
import { ZenStackMiddleware } from '@zenstackhq/server/express'
import express from 'express'
import { announce, openDatabase, readCallers } from '../callers.ts'
import { schema } from './generated/schema.ts'

const connection = openDatabase()
const findCaller = readCallers(connection)
const client = new ZenStackClient(schema, { dialect: new SqliteDialect({ database: connection as never }) }).$use(new PolicyPlugin())

const app = express()
app.use(express.json({ limit: '1mb' }))
app.use('/api/model', ZenStackMiddleware({
  apiHandler: new RPCApiHandler({ schema }),
  getClient: request => client.$setAuth(findCaller(request.headers['x-caller'])),
}))
const server = app.listen(Number(process.env.PORT), process.env.HOST!, () => announce(server.address()))
process.once('SIGTERM', () => process.exit())
