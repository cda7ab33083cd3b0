/** Example of docs/plugins.md: API keys. */
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'
import { apiError } from 'nuxt-auto-api/utils'

/** In an app, the keys are hashed and in the database. */
const robots = new Map([['k-1', { id: 'robot', organizationId: 1 }]])

const findRobot = async (key: string) => robots.get(key)

export default defineAutoApiPlugin({
  name: 'keys',
  credentials: async ({ header }) => {
    const key = header('x-api-key')
    if (key === undefined) return undefined
    const robot = await findRobot(key)
    if (!robot) throw apiError('INVALID_KEY', 'This key is not valid.', { status: 401 })
    return { user: robot, permissions: ['posts:read'], tenant: { id: robot.organizationId } }
  },
})
