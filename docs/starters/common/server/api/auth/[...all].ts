import { auth } from '../../auth'

export default defineEventHandler(event => auth.handler(toWebRequest(event)))
