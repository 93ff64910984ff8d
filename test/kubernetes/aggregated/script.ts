// What people do with the objects of an aggregated API at the command line, in order; files are in objects/.

import type { Step } from "../kubectl/session.ts"
import { group } from "./wardle.ts"

const discovering: (string | Step)[] = [
  `api-resources --api-group=${group} -o wide`,
  `api-resources --api-group=${group} -o name --verbs=list,watch`,
  "api-versions",
  "get --raw /apis",
  `get --raw /apis/${group}`,
  `get --raw /apis/${group}/v1beta1`,
  `get --raw /apis/${group}/v1alpha1`,
  `get --raw /apis/${group}/v1`,
  `get apiservice v1beta1.${group} v1alpha1.${group} -o jsonpath={.items[*].status}`,
]

const explaining: (string | Step)[] = [
  "explain flunders",
  "explain flunders.spec",
  "explain flunders --recursive",
  `explain flunders --api-version=${group}/v1alpha1 --recursive`,
  "explain fischers",
  "explain fischers.disallowedFlunders",
  "explain flunders.nothing",
  "explain flunders --output=plaintext-openapiv2",
]

const writing: (string | Step)[] = [
  "create -f fischer.yaml",
  "create -f flunder.yaml --dry-run=server -o yaml",
  "create -f flunder.yaml --dry-run=client -o yaml",
  "diff -f flunder.yaml",
  "apply -f flunder.yaml",
  "apply -f flunder.yaml",
  "create -f flunder.yaml",
  "diff -f flunder-changed.yaml",
  "apply -f flunder-changed.yaml",
  "create -f flunder-alpha.yaml",
  "create -f flunder-invalid.yaml",
  "create -f flunder-unknown.yaml",
  "create -f flunder-unknown.yaml --validate=warn",
  "create -f flunder-unknown.yaml --validate=ignore",
  "create -f flunder-banned.yaml",
  "apply --server-side -f flunder-changed.yaml --field-manager=other",
  "apply --server-side -f flunder-changed.yaml --field-manager=other --force-conflicts",
  "label flunder one tide=low",
  "annotate flunders --all note=seen",
  'patch flunder one --type=merge -p {"spec":{"flunderReference":"three"}}',
  'patch flunder one --type=merge -p {"spec":{"flunderReference":"three","fischerReference":null,"referenceType":"Flunder"}}',
  'patch flunder one -p {"metadata":{"labels":{"more":"yes"}}}',
  'patch flunder one --type=json -p [{"op":"add","path":"/metadata/labels/last","value":"x"}]',
  'patch flunder one --type=json -p [{"op":"remove","path":"/metadata/nothing"}]',
  "patch flunder missing -p {}",
  "replace -f flunder.yaml",
  "scale flunder/one --replicas=2",
  { command: "edit flunder one", env: { KUBE_EDITOR: "sed -i s/pond/brook/" } },
]

const reading: (string | Step)[] = [
  "get flunders",
  "get flunders -o wide --show-labels",
  "get flunders -A -o name",
  `get flunders.v1alpha1.${group} -o yaml`,
  "get flunders one -o yaml --show-managed-fields",
  "get flunders one missing",
  "get flunders -l app=brook -o name",
  "get flunders --field-selector=metadata.name=one -o name",
  "get flunders --field-selector=spec.nothing=one",
  "get flunders,fischers,configmaps -o name",
  "get flunders --chunk-size=1 -o name",
  "get fischers",
  "get fischer petri -o jsonpath={.disallowedFlunders}",
  "get all",
  "describe flunder one",
  "describe fischer petri",
  "get flunders one --subresource=status -o name",
  "get flunders one --subresource=scale",
  "wait flunder/one --for=jsonpath={.metadata.labels.app}=brook --timeout=5s",
  "wait flunder/missing --for=delete --timeout=5s",
  `get --raw /apis/${group}/v1beta1/namespaces/nowhere/flunders`,
  `get --raw /apis/${group}/v1beta1/nothing`,
  `get --raw /apis/${group}/v1beta1/flunders?limit=x`,
]

const permitting: (string | Step)[] = [
  "get flunders --as=jane",
  "get fischers --as=jane --as-group=readers",
  "create -f reader.yaml",
  "create rolebinding readers --clusterrole=view --group=readers",
  { command: "auth can-i get flunders --as=jane --as-group=readers" },
  "get flunders --as=jane --as-group=readers -o name",
  "get flunders --as=jane --as-group=readers --as-uid=uid-of-jane --as-group=others -o name",
  "delete flunder one --as=jane --as-group=readers",
  "get fischers --as=jane --as-group=readers",
  "get flunders --as=system:serviceaccount:default:default",
  "get flunders --as=jürgen --as-group=größe",
  `get --raw /apis/${group}/v1beta1 --as=system:anonymous`,
  "auth whoami --as=jane",
]

/** The server asks policies by itself. */
const admitting: (string | Step)[] = [
  "create -f policy.yaml",
  "get validatingadmissionpolicy flunders.example.com -o jsonpath={.status}",
  "delete -f policy.yaml",
]

const deleting: (string | Step)[] = [
  "delete flunder alpha --dry-run=server",
  "delete flunder alpha",
  "delete flunder alpha --ignore-not-found",
  "delete flunders --all --wait=false",
  "get flunders",
  "create -f flunder.yaml",
  "delete fischer petri",
]

const asStep = (step: string | Step): Step => (typeof step === "string" ? { command: step } : step)

export const script: readonly Step[] = [
  ...discovering,
  ...explaining,
  ...writing,
  ...reading,
  ...permitting,
  ...admitting,
  ...deleting,
].map(asStep)

/** While the server is down. */
export const withoutServer: readonly Step[] = [
  "get flunders",
  "get flunders one -o yaml",
  "get flunders,configmaps -o name",
  "create -f flunder.yaml",
  "delete flunder one",
  "explain flunders",
  "explain flunders --output=plaintext-openapiv2",
  `api-resources --api-group=${group}`,
  "api-resources -o name",
  "api-versions",
  `get --raw /apis/${group}`,
  `get --raw /apis/${group}/v1beta1`,
  "get all -o name",
  `get apiservices v1beta1.${group}`,
  "get configmaps -o name",
  "create configmap still --from-literal=a=b",
  // Its flunders are not known.
  "delete namespace pond --wait=false",
  "wait namespace/pond --for=condition=NamespaceDeletionDiscoveryFailure --timeout=30s",
  "get namespace pond -o yaml",
].map(asStep)

/** When it is there again, and the namespace is gone. */
export const withServerAgain: readonly Step[] = [
  "get namespace pond",
  `get --raw /apis/${group}/v1beta1/namespaces/pond/flunders`,
].map(asStep)
