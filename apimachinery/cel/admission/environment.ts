// The declarations for expressions of admission policies and match conditions. Source:
// k8s.io/apiserver/pkg/admission/plugin/cel/{compile,composition,activation}.go, pkg/cel/mutation.

import { ownValue } from "../../schema/json-object.ts"
import { dictionary } from "../../dictionary.ts"
import type { Environment, TypeProvider } from "../types/environment.ts"
import {
  boolType,
  dynType,
  intType,
  isOptional,
  listType,
  mapType,
  stringType,
  structType,
  timestampType,
  type Type,
} from "../types/types.ts"
import { constructPatchType, isPatchType, patchFieldType } from "./patch-values.ts"

type Fields = Readonly<Record<string, Type>>

const strings = listType(stringType)
const kindFields: Fields = { group: stringType, version: stringType, kind: stringType }
const resourceFields: Fields = { group: stringType, version: stringType, resource: stringType }

const types: Readonly<Record<string, Fields>> = dictionary({
  "kubernetes.AdmissionRequest": {
    kind: structType("kubernetes.GroupVersionKind"),
    resource: structType("kubernetes.GroupVersionResource"),
    subResource: stringType,
    requestKind: structType("kubernetes.GroupVersionKind"),
    requestResource: structType("kubernetes.GroupVersionResource"),
    requestSubResource: stringType,
    name: stringType,
    namespace: stringType,
    operation: stringType,
    userInfo: structType("kubernetes.UserInfo"),
    dryRun: boolType,
    options: dynType,
  },
  "kubernetes.GroupVersionKind": kindFields,
  "kubernetes.GroupVersionResource": resourceFields,
  "kubernetes.UserInfo": {
    username: stringType,
    uid: stringType,
    groups: strings,
    extra: mapType(stringType, strings),
  },
  "kubernetes.Namespace": {
    metadata: structType("kubernetes.NamespaceMetadata"),
    spec: structType("kubernetes.NamespaceSpec"),
    status: structType("kubernetes.NamespaceStatus"),
  },
  "kubernetes.NamespaceMetadata": {
    name: stringType,
    generateName: stringType,
    namespace: stringType,
    labels: mapType(stringType, stringType),
    annotations: mapType(stringType, stringType),
    UID: stringType,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: stringType,
    finalizers: strings,
  },
  "kubernetes.NamespaceSpec": { finalizers: strings },
  "kubernetes.NamespaceStatus": {
    conditions: listType(structType("kubernetes.NamespaceCondition")),
    phase: stringType,
  },
  "kubernetes.NamespaceCondition": {
    status: stringType,
    type: stringType,
    lastTransitionTime: timestampType,
    message: stringType,
    reason: stringType,
  },
})

const variablesType = "kubernetes.variables"

interface AdmissionScope {
  params: boolean
  authorizer: boolean
  /** Object{} and JSONPatch{} can be constructed. */
  patches?: boolean
  /** Types of the previous variables; absent if `variables` is undeclared. */
  variables?: ReadonlyMap<string, Type>
  /** Types of object and params for type checking; otherwise they are dyn. */
  object?: Type
  paramsType?: Type
  more?: TypeProvider
}

export function admissionEnvironment(scope: AdmissionScope): Environment {
  const object = scope.object ?? dynType
  const variables = new Map<string, Type>([
    ["object", object],
    ["oldObject", object],
    ["namespaceObject", structType("kubernetes.Namespace")],
    ["request", structType("kubernetes.AdmissionRequest")],
  ])
  if (scope.params) variables.set("params", scope.paramsType ?? dynType)
  if (scope.authorizer) {
    variables.set("authorizer", structType("kubernetes.authorization.Authorizer"))
    variables.set("authorizer.requestResource", structType("kubernetes.authorization.ResourceCheck"))
  }
  if (scope.variables !== undefined) variables.set("variables", structType(variablesType))
  return {
    variables,
    types: typesOf(scope),
    ...(scope.patches === true ? { functions: new Set(["jsonpatch.escapeKey"]) } : {}),
  }
}

function typesOf({ variables, patches, more }: AdmissionScope): TypeProvider {
  const fieldsOf = (name: string): Fields | undefined => types[name]
  return {
    has: (name) =>
      fieldsOf(name) !== undefined ||
      (variables !== undefined && name === variablesType) ||
      (patches === true && isPatchType(name)) ||
      more?.has(name) === true,
    field(name, field) {
      if (variables !== undefined && name === variablesType) return variables.get(field)
      if (patches === true && isPatchType(name)) return patchFieldType(name, field)
      const fields = fieldsOf(name)
      if (fields === undefined) return more?.field(name, field)
      return ownValue(fields, field)
    },
    construct: constructPatchType,
  }
}

const plain = new Set(["bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint"])

/** Lists of variables in variables would nest as deep as there are variables. Parts of a type that are deeper are dyn. */
const maxNesting = 32

/** The type of a variable as seen by later ones: dyn, unless it is one of these. */
export function variableType(type: Type | undefined, depth = 0): Type {
  if (type === undefined || isOptional(type) || depth > maxNesting) return dynType
  if (plain.has(type.kind)) return type
  const [first, second] = type.parameters
  if (type.kind === "list") return listType(variableType(first, depth + 1))
  return type.kind === "map" ? mapType(variableType(first, depth + 1), variableType(second, depth + 1)) : dynType
}
