// Rejects creates of custom resources whose definition is being deleted, before any other plugin. Source: forbidCreateAdmission in
// k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go.

import { createWhileTerminating } from "../../registry/generic/checks.ts"
import type { AdmissionPlugin } from "../chain.ts"

export const terminatingDefinition: AdmissionPlugin = {
  concerns: ({ operation, subresource, definition }) =>
    operation === "CREATE" && subresource === "" && definition.customResource?.terminating === true,

  mutate(_ctx, { resource, name }) {
    throw createWhileTerminating(resource, name)
  },
}
