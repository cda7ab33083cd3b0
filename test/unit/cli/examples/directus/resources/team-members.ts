import { teamMembers } from '../database/schema'

export default defineResource(teamMembers, {
  permissions: {
    read: true,
    create: false,
    update: false,
    delete: false,
  },
  fields: {
    email: { read: 'policy:content-editors' },
  },
  hiddenFields: ['pin'],
})
