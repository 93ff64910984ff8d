// What is special about each built-in kind, by "group/resource" ("/pods", "apps/deployments"). The facts say everything
// else; a kind that is not listed needs nothing beyond them.

import type { KindExtension } from "./strategy.ts"

export const kinds: Readonly<Record<string, KindExtension>> = {}
