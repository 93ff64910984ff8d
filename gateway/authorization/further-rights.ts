// Rights that a request needs besides that of being served: what it stores or refers to gives access to something else.

import type { RequestContext } from "../request/context.ts"
import type { User } from "../request/user.ts"
import type { Attributes } from "./types.ts"

/** By default of all versions, of the resource itself, in all namespaces, by no name. */
export type ResourceRight = Pick<Attributes, "verb" | "group" | "resource"> &
  Partial<Pick<Attributes, "version" | "subresource" | "namespace" | "name">>

export function attributesOf(user: User, right: ResourceRight): Attributes {
  return { user, isResourceRequest: true, path: "", version: "*", subresource: "", namespace: "", name: "", ...right }
}

/** Whether the user of the request has this right as well. */
export async function isAllowed({ controlPlane, user }: RequestContext, right: ResourceRight): Promise<boolean> {
  const { decision } = await controlPlane.authorizer.authorize(attributesOf(user, right))
  return decision === "Allow"
}
