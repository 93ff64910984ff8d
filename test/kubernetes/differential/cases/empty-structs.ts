// Updates with what is empty where nothing was: to upstream a pointer to an empty struct is another value than no pointer, and
// an empty list or map the same as none. It shows in generations, and where a template may not be changed.

import type { Schema } from "../../../../apimachinery/schema/schema.ts"
import { type Field, fieldsOf, printPath, withValue } from "../generate/fields.ts"
import { type Kind, kindNamed } from "../generate/objects.ts"
import { post, put, type Scenario } from "../scenario.ts"

/** Kinds with a template, and where it is. */
const templated: Readonly<Record<string, readonly string[]>> = {
  "v1/podtemplates": ["template"],
  "v1/replicationcontrollers": ["spec", "template"],
  "apps/v1/deployments": ["spec", "template"],
  "apps/v1/daemonsets": ["spec", "template"],
  "apps/v1/replicasets": ["spec", "template"],
  "apps/v1/statefulsets": ["spec", "template"],
  "batch/v1/jobs": ["spec", "template"],
  "batch/v1/cronjobs": ["spec", "jobTemplate", "spec", "template"],
}

/** Names below the template: spec.containers.securityContext.capabilities. */
const deepest = 4

export function emptyStructCases(): Scenario[] {
  return Object.entries(templated).map(([resource, template]) => {
    const kind = kindNamed(resource)
    return {
      name: `${kind.title} is updated with what is empty in its template`,
      steps: [
        post(kind.path, kind.object()),
        ...fieldsIn(kind, template).map(({ path, schema }) => {
          const object = withValue(kind.object(), kind.schema, path, schema.type === "list" ? [] : {})
          return put(`${kind.objectPath}?dryRun=All`, object, { label: `PUT an empty ${printPath(path)}` })
        }),
      ],
    }
  })
}

function fieldsIn(kind: Kind, template: readonly string[]): Field[] {
  const schema = template.reduce<Schema | undefined>((at, name) => at?.fields?.[name]?.schema, kind.schema)
  if (schema === undefined) throw new Error(`${kind.title} has no template`)
  return fieldsOf(schema, template, { except: ["ObjectMeta", "EphemeralContainer"] }).filter(
    ({ path, schema: { type } }) =>
      ["object", "list", "map"].includes(type) &&
      path.slice(template.length).filter((step) => typeof step === "string").length <= deepest,
  )
}
