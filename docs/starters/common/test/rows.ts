/** The rows of the tests. */
const at = new Date('2026-01-01T08:00:00Z')

export const users = ['ada', 'ben', 'eve'].map(id => ({
  id, name: id, email: `${id}@example.com`, emailVerified: false, createdAt: at, updatedAt: at,
}))

export const tasks = [
  { title: 'Water the plants', createdBy: 'ada', createdAt: at, updatedAt: at },
  { title: 'Only Ben knows', createdBy: 'ben', createdAt: at, updatedAt: at },
]
