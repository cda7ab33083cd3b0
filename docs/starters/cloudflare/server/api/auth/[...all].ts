import { auth } from '../../auth'

export default defineEventHandler(event => auth(event).handler(toWebRequest(event)))
