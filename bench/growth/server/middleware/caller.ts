/** The first user of each organization has its number as id. `x-caller` names that user. */
export default defineEventHandler((event) => {
  const id = Number(getHeader(event, 'x-caller'))
  if (id > 0) event.context.user = { id, organizationId: id }
})
