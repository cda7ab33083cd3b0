/** The measured tables. */
export { organizations, posts, users } from '../../../../app/server/database/schema'
