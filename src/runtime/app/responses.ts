/** Recognizes the responses of the API that the server holds while it renders a page. They are JSON, which data of the app need not be. */
const responses = new WeakSet<object>()

export function addResponse(response: unknown): void {
  if (isJsonObject(response)) responses.add(response)
}

/** Whether data of a query is a response, or consists of the responses for the pages of an infinite list. */
export function isResponse(data: unknown): boolean {
  if (!isJsonObject(data)) return false
  return responses.has(data) || ('pages' in data && Array.isArray(data.pages) && data.pages.length > 0 && data.pages.every(isResponse))
}

/** A body of another type, such as a `Blob`, is an object of a class. */
function isJsonObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
}
