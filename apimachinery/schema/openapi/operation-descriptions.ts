// Descriptions of operations on resources in kube-apiserver's words: one phrase per action, about objects of a kind or a
// subresource of them. Source: registerResourceHandlers in k8s.io/apiserver/pkg/endpoints/installer.go, and descriptionFor in
// k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder.

import type { Action, Method } from "./operations.ts"

export interface DescribedOperation {
  action: Action
  method: Method
  /** The kind of the resource, even if the subresource has another kind. */
  kind: string
  /** "" if there is none. */
  subresource: string
  /** Whether the description of list mentions watch. */
  watched: boolean
}

const instead = "deprecated: use the 'watch' parameter with a list operation instead"

/** Such as "read status of the specified Pod". */
export function describeOperation({ action, method, kind, subresource, watched }: DescribedOperation): string {
  const part = subresource === "" ? "" : ` ${subresource} of`
  switch (action) {
    case "get":
      return `read${part} the specified ${kind}`
    case "put":
      return `replace${part} the specified ${kind}`
    case "patch":
      return `partially update${part} the specified ${kind}`
    case "post":
      return `create${part} ${withArticle(kind)}`
    case "delete":
      return `delete${part} ${withArticle(kind)}`
    case "deletecollection":
      return `delete collection of${part} ${kind}`
    case "list":
      return `list${watched ? " or watch" : ""}${part} objects of kind ${kind}`
    case "watchlist":
      return `watch individual changes to a list of${part} ${kind}. ${instead}.`
    case "watch":
      return `watch changes to${part} an object of kind ${kind}. ${instead}, filtered to a single item with the 'fieldSelector' parameter.`
    case "connect":
      return `connect ${method.toUpperCase()} requests to${part} ${kind}`
  }
}

/** "a Pod", "an Event", "Endpoints": plurals have no article. */
function withArticle(kind: string): string {
  if (kind.endsWith("s") && !kind.endsWith("ss")) return kind
  return `${/^[aeiou]/i.test(kind) ? "an" : "a"} ${kind}`
}
