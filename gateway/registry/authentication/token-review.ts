// TokenReview, which authenticates a token against the control plane's own trust roots. Source:
// k8s.io/kubernetes/pkg/registry/authentication.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { badRequest, hasReason } from "../../../apimachinery/status.ts"
import { bearerToken } from "../../authentication/credentials.ts"
import { anonymous } from "../../authentication/union.ts"
import type { RequestContext } from "../../request/context.ts"
import type { KindExtension } from "../strategy.ts"
import { userInfo } from "./user-info.ts"

/** Upstream's words for a token that is none of its own; if it knows the reason, they are the first of two. */
const invalidToken = "invalid bearer token"

type Review = KubeObject & { spec?: { token?: string; audiences?: string[] } }

export const tokenReviews: KindExtension = {
  async answer(ctx, object, _options, validate) {
    const { token = "", audiences } = (object as Review).spec ?? {}
    if (token === "") throw badRequest("token is required for TokenReview in authentication")
    await validate()
    const status = await review(ctx, token, audiences)
    return { ...object, status }
  },
}

async function review(ctx: RequestContext, token: string, audiences: readonly string[] | undefined): Promise<object> {
  const asked = (audiences ?? []).length > 0 ? audiences : [ctx.controlPlane.trust.issuer]
  // Upstream reads it like a header.
  const { token: bearer } = bearerToken(`Bearer ${token}`)
  // Such a request has no credential.
  if (bearer === undefined) return { authenticated: true, user: userInfo(anonymous), audiences: asked }
  const credentials = { certificates: [], bearerToken: bearer }
  try {
    const found = await ctx.controlPlane.authenticator.authenticate(credentials, asked)
    if (found === undefined) return { user: {}, error: invalidToken }
    return { authenticated: true, user: userInfo(found.user), audiences: found.audiences ?? asked }
  } catch (error) {
    if (!hasReason(error, "Unauthorized")) throw error
    const { cause } = error
    return { user: {}, error: cause instanceof Error ? `[${invalidToken}, ${cause.message}]` : invalidToken }
  }
}
