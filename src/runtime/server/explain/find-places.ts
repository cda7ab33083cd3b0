/** Finds the lines of rules in the files of the app. It reads the files again for each explanation, because they change in development. */
import { readFileSync } from 'node:fs'
import type { RuleSource } from '../../shared/explanation'
import { findExport, findObject, lineOf, propertiesOf, type ObjectExpression } from '../../shared/syntax'
import type { Places } from './places'

/** Objects of rules, and how deep rules are in them. */
const DEPTH = 3

/** @param read reads a file @returns the places that could be found: a file with a mistake has none */
export function findPlaces(sources: readonly RuleSource[], read = (file: string): string => readFileSync(file, 'utf8')): Places {
  const places: Record<string, string> = {}
  for (const { resource, file, shown, name } of sources) {
    places[resource] = shown
    try {
      const rules = findObject(findExport(read(file), name))
      if (!rules) continue
      places[resource] = `${shown}:${lineOf(rules)}`
      addPlaces(places, rules, resource, shown, DEPTH)
    }
    catch { /* The build has reported the mistake. */ }
  }
  return places
}

function addPlaces(places: Record<string, string>, rules: ObjectExpression, path: string, shown: string, depth: number): void {
  for (const { name, node, ...property } of propertiesOf(rules)) {
    if (name === undefined) continue
    places[`${path}.${name}`] = `${shown}:${lineOf(node)}`
    const inner = 'value' in property && depth > 0 ? findObject(property.value) : undefined
    if (inner) addPlaces(places, inner, `${path}.${name}`, shown, depth - 1)
  }
}
