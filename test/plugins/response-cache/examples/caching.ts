import { responseCache } from 'nuxt-auto-api/plugins'

export default responseCache({
  reads: {
    // `listFilter` of comments reads the memberships of the caller.
    comments: ['memberships'],
    // The functions of posts read only their arguments.
    posts: [],
  },
})
