/** `GET /stored/headers/posts`: sends a stored text with the headers of the API, without authentication. */
import { storedResponse } from '../../../../hand/stored'

export default defineEventHandler(storedResponse)
