/** Which files a field takes, before the server decides. */

/** Whether a type is one of those such as `image/png` and `image/*`. */
export const isAccepted = (type: string, accept: readonly string[]): boolean => accept.length === 0 || accept.some(one =>
  one === '*/*' || one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))))

/** The types as people say them: `PNG, JPEG, WEBP`. */
export const namesOfTypes = (accept: readonly string[]): string[] => accept.filter(one => one !== '*/*').map((one) => {
  const [group = '', name = ''] = one.split('/')
  return name === '*' ? group : name.replace(/\+.*$/, '').split(/[.-]/).at(-1)!.toUpperCase()
})
