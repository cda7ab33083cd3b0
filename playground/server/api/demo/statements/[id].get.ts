/** `GET /api/demo/statements/<id>`: the SQL statements of the request with this id in the header `x-demo-trace`. */
import { findStatements } from '../../../utils/statements'

export default defineEventHandler(event => findStatements(getRouterParam(event, 'id') ?? '') ?? [])
