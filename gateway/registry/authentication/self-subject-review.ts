// SelfSubjectReview, which returns the caller's user (kubectl auth whoami).

import { timestamp } from "../../../apimachinery/object.ts"
import type { KindExtension } from "../strategy.ts"
import { userInfo } from "./user-info.ts"

export const selfSubjectReviews: KindExtension = {
  async answer(ctx, object, _options, validate) {
    await validate()
    return {
      ...object,
      metadata: { creationTimestamp: timestamp() },
      status: { userInfo: userInfo(ctx.user) },
    }
  },
}
