// What people do with custom resources at the command line, in order; files are in objects/custom/. Two kinds of two groups: widgets
// have a schema, columns of every type, subresources and three versions; shelves have no namespace and any form.

import type { Step } from "./session.ts"

const editor = (script: string): Record<string, string> => ({ KUBE_EDITOR: `sed -i ${script}` })
const withSets = (command: string): Step => ({ command, env: { KUBECTL_APPLYSET: "true" } })

const defining: (string | Step)[] = [
  "apply -f widgets.yaml -f shelves.yaml",
  "wait crd/widgets.shop.example.com crd/shelves.store.example.com --for=condition=Established --timeout=20s",
  "get crd widgets.shop.example.com",
  "describe crd widgets.shop.example.com",
  "get crd shelves.store.example.com -o yaml",
  "api-resources --api-group=shop.example.com -o wide",
  "api-resources --api-group=store.example.com -o name --verbs=list,watch",
  "api-resources --categories=shop --no-headers",
  "api-resources --categories=all -o name",
  "get --raw /apis/shop.example.com",
  "get --raw /apis/shop.example.com/v1",
]

const openAPIv2 = "--output=plaintext-openapiv2"
const explaining: (string | Step)[] = [
  "explain widgets",
  "explain wd.spec --recursive",
  ...["color", "ports", "ports.protocol", "port", "quantity", "free", "any", "matrix", "until", "nothing"].map(
    (field) => `explain widgets.spec.${field}`,
  ),
  "explain widgets.spec.template",
  "explain widgets.spec.template.metadata",
  "explain widgets.metadata",
  "explain widgets.status.conditions",
  "explain widgets --api-version=shop.example.com/v1beta1 --recursive",
  "explain widgets --api-version=shop.example.com/v1alpha1",
  "explain shelf --recursive",
  `explain widgets --recursive ${openAPIv2}`,
  `explain widgets.spec ${openAPIv2}`,
  `explain widgets.spec.port ${openAPIv2}`,
  `explain widgets.spec.template ${openAPIv2}`,
  `explain widgets ${openAPIv2} --api-version=shop.example.com/v1beta1`,
  `explain shelves ${openAPIv2}`,
]

const writing: (string | Step)[] = [
  "create -f widget.yaml --dry-run=server -o yaml",
  "create -f widget.yaml --dry-run=client -o yaml",
  "diff -f widget.yaml",
  "apply -f widget.yaml -f widget-two.yaml -f widget-beta.yaml",
  "apply -f widget-bad.yaml",
  "create -f widget-bad.yaml --validate=ignore",
  "create -f widget-unknown.yaml --validate=strict",
  "create -f widget-unknown.yaml --validate=warn",
  "delete widget unknown",
  "create -f widget-unknown.yaml --validate=ignore",
  "get widget unknown -o yaml",
  "delete widget unknown",
  "replace -f widget-bad.yaml",
  "replace -f widget.yaml --subresource=status",
  "create -f widget.yaml",
]

const reading: (string | Step)[] = [
  "get widgets",
  "get widgets -o wide",
  "get wdg/one wdg/missing",
  "get widgets.v1beta1.shop.example.com",
  "get widgets.v1.shop.example.com beta -o yaml",
  "get widgets.v1alpha1.shop.example.com",
  "get widgets --show-labels --show-kind -L app",
  "get shop -o name",
  "get all,shelves",
  "get shelf/top -o yaml",
  "get widgets --sort-by=.spec.size",
  "get widgets --sort-by=.spec.weight -o name",
  "get widgets --sort-by=.spec.nothing",
  "get widgets --field-selector=spec.color!=red,spec.size=9",
  "get widgets --field-selector=spec.nothing=one",
  "get widgets.v1beta1.shop.example.com --field-selector=spec.color=red",
  "get widget one --subresource=status",
  "get widget one --subresource=scale -o yaml",
  "get shelf top --subresource=status",
  "get widget one -o yaml --show-managed-fields",
  "get widgets -o custom-columns=NAME:.metadata.name,C:.spec.color,T:.spec.tags[*]",
  "get widget one -o jsonpath={.spec.ports[?(@.port==80)].name}",
  "get --raw /apis/store.example.com/v1/shelves/top/status",
  "describe widget one",
  "describe shelf top",
]

const scaling: (string | Step)[] = [
  "scale widget/one widget/two --replicas=2",
  "scale widget one --replicas=1 --current-replicas=9",
  "scale widget one --replicas=-1",
  "scale shelf top --replicas=1",
  'patch widget one --subresource=status --type=merge -p {"status":{"replicas":4,"selector":"app=shop","conditions":[{"type":"Ready","status":"True"}]}}',
  "get widget one --subresource=scale -o yaml",
  "wait widget/one --for=condition=Ready --timeout=5s",
  "wait widget/two --for=condition=Ready --timeout=1s",
  "wait widget/one --for=jsonpath={.status.replicas}=4 --timeout=5s",
  "wait widget/one --for=jsonpath={.spec.color}=blue --timeout=1s",
  { command: "wait widget/one --for=jsonpath={.status.phase} --timeout=1s", since: 31 },
  { command: "wait widget/none --for=create --timeout=1s", since: 31 },
  "autoscale widget one --min=1 --max=2 --cpu-percent=50",
  "delete hpa one",
  ...["status", "history", "restart"].map((verb) => `rollout ${verb} widget/one`),
  "expose widget one --port=80",
  "set image widget/one a=b",
]

const patching: (string | Step)[] = [
  "patch widget one -p {}",
  ...[
    '{"spec":{"color":"pink"}}',
    '{"spec":{"color":null}}',
    '{"spec":{"colour":"pink"}}',
    '{"spec":{"size":150}}',
    '{"spec":{"fixed":"a"}}',
    '{"spec":{"fixed":null}}',
    '{"spec":{"size":"x"}}',
  ].map((patch) => `patch widget one --type=merge -p ${patch}`),
  'patch widget one --type=json -p [{"op":"replace","path":"/spec/color","value":"green"}]',
  'patch widget one --type=json -p [{"op":"test","path":"/spec/color","value":"red"}]',
  'patch widget one --type=json -p [{"op":"add","path":"/spec/tags/-","value":"a"}]',
  'patch widget one --type=merge -p {"metadata":{"labels":{"x":"y"}}} --dry-run=server -o yaml',
  "label widgets --all tier=front",
  "label widget one tier=back",
  "annotate widget one note=hi",
  { command: "edit widget one", env: editor("s/color:.*green/color:\\ blue/") },
  { command: "edit widget one", env: editor("s/color:.*blue/color:\\ pink/") },
  { command: "edit widget one", env: editor("s/nothing/else/") },
  { command: "edit widget one --subresource=status", env: editor("s/replicas:.*/replicas:\\ 7/"), since: 33 },
  "get widget one -o yaml",
  "replace --force -f widget.yaml",
  "apply view-last-applied widget one",
  "apply set-last-applied -f widget.yaml",
]

const applying: (string | Step)[] = [
  "apply --server-side -f widget-applied.yaml",
  "apply --server-side --field-manager=two -f widget-contested.yaml",
  "apply --server-side --field-manager=two --force-conflicts -f widget-contested.yaml",
  "get widget ssa -o yaml --show-managed-fields",
  "diff --server-side --force-conflicts -f widget-applied.yaml",
  "apply -f widget-applied.yaml",
  "apply -f widget-contested.yaml",
  "get widget ssa -o yaml --show-managed-fields",
  "apply -f set-a.yaml --prune -l set=a --prune-allowlist=shop.example.com/v1/Widget",
  "apply -f set-b.yaml --prune -l set=a --prune-allowlist=shop.example.com/v1/Widget",
  "apply -f set-b.yaml --prune -l set=a --prune-allowlist=shop.example.com/v2/Widget",
  "get widgets,cm -l set=a",
  "delete widget,cm -l set=a",
  "apply -f applysets.yaml",
  "wait crd/applysets.store.example.com --for=condition=Established --timeout=20s",
  "apply -f mine.yaml",
  withSets("apply -f set-a.yaml --prune --applyset=applysets.store.example.com/mine"),
  withSets("apply -f set-b.yaml --prune --applyset=applysets.store.example.com/mine"),
  withSets("apply -f set-b.yaml --prune --applyset=widgets.shop.example.com/mine"),
  "get widgets,cm -l set=a --show-labels",
  "get applyset mine -o yaml --show-managed-fields",
]

const redefine = (operations: object[]): string =>
  `patch crd widgets.shop.example.com --type=json -p ${JSON.stringify(operations)}`
const v1 = "/spec/versions/0"
const fieldsOfV1 = `${v1}/schema/openAPIV3Schema/properties/spec/properties`
const extra = { type: "string", default: "more", description: "New." }
const anything = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }

const changing: (string | Step)[] = [
  redefine([
    {
      op: "add",
      path: `${v1}/additionalPrinterColumns/-`,
      value: { name: "Extra", type: "string", jsonPath: ".spec.extra" },
    },
    { op: "add", path: `${fieldsOfV1}/extra`, value: extra },
    { op: "add", path: `${fieldsOfV1}/color/enum/-`, value: "pink" },
  ]),
  "get widgets",
  "explain widgets.spec.extra",
  `explain widgets.spec.extra ${openAPIv2}`,
  'patch widget one --type=merge -p {"spec":{"color":"pink"}}',
  "get widget one -o yaml",
  redefine([
    { op: "remove", path: `${v1}/additionalPrinterColumns/0` },
    { op: "remove", path: `${fieldsOfV1}/extra` },
    { op: "remove", path: `${fieldsOfV1}/color/enum/3` },
  ]),
  "get widgets",
  'patch widget one --type=merge -p {"spec":{"size":3}}',
  "get widget one -o yaml",
  redefine([{ op: "replace", path: "/spec/versions/1/served", value: false }]),
  "get widgets.v1beta1.shop.example.com",
  "get --raw /apis/shop.example.com",
  {
    command: "explain widgets --api-version=shop.example.com/v1beta1",
    differs: "upstream keeps the document of a version that is no longer served until the definition is deleted",
  },
  redefine([
    { op: "add", path: "/spec/versions/-", value: { name: "v2", served: true, storage: true, schema: anything } },
    { op: "replace", path: `${v1}/storage`, value: false },
  ]),
  "get widgets.v2.shop.example.com",
  "get widgets",
  "get crd widgets.shop.example.com -o jsonpath={.status.storedVersions}",
  redefine([{ op: "remove", path: v1 }]),
  'patch widget one --type=merge -p {"metadata":{"finalizers":["shop.example.com/hold"]}}',
  "delete crd widgets.shop.example.com --wait=false",
  "wait crd/widgets.shop.example.com --for=condition=Terminating --timeout=10s",
  "get widgets",
  "apply -f widget.yaml",
  'patch widget one --type=merge -p {"metadata":{"finalizers":null}}',
  "get crd widgets.shop.example.com",
  "get widgets",
  "delete -f applysets.yaml -f shelves.yaml",
  "get shelves",
]

export const customScript: readonly Step[] = [
  defining,
  explaining,
  writing,
  reading,
  scaling,
  patching,
  applying,
  changing,
].flatMap((steps) => steps.map((step) => (typeof step === "string" ? { command: step } : step)))
