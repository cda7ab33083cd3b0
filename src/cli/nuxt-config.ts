/** Adds the module to the text of `nuxt.config`, and changes nothing else in it. */
import { parseFile, propertiesOf, type Expression, type ObjectExpression } from '../runtime/shared/syntax'

/** Returns the new text, the same text if the module is listed, or `undefined` if the config cannot be read. */
export function addModule(source: string, name: string): string | undefined {
  const config = findConfig(source)
  if (config === undefined) return undefined
  const modules = propertiesOf(config).find(property => property.name === 'modules')
  const begin = config.start! + 1
  if (modules === undefined) return insert(source, begin, `\n  modules: ['${name}'],${source[begin] === '}' ? '\n' : ''}`)
  const { value } = modules as { value?: Expression }
  if (value?.type !== 'ArrayExpression') return undefined
  if (value.elements.some(element => source.slice(element!.start!, element!.end!).includes(name))) return source
  const last = value.elements.at(-1)
  return last ? insert(source, last.end!, `, '${name}'`) : insert(source, value.start! + 1, `'${name}'`)
}

function findConfig(source: string): ObjectExpression | undefined {
  try {
    const exported = parseFile(source).default
    const value = exported?.type === 'CallExpression' ? exported.arguments[0] : exported
    return value?.type === 'ObjectExpression' ? value : undefined
  }
  catch {
    return undefined
  }
}

const insert = (source: string, index: number, text: string) => source.slice(0, index) + text + source.slice(index)
