// Which operators are run, as whom, with which flags, and what their users do with them. In flags and commands, {module} is the
// folder of the operator's module in Go's module cache, {objects} the folder beside this file, {folder} one of this run, {port} and
// {port2} are free, {kubelet} is that of a kubelet of ours.

export interface Operator {
  /** Its tenant is called so, too. */
  name: string
  /** Of modules/operators: its manifests are applied as they are. */
  module: string
  namespace: string
  programs: readonly OperatorProgram[]
  /** Before the programs are started. */
  install: readonly Step[]
  /** What a kubelet would mount, below {folder}: a Secret of the namespace, once something is in it, or nothing. */
  mounts?: readonly { folder: string; secret?: string }[]
  steps: readonly Step[]
  /** Lines of its log that say "error" on every cluster. */
  expected?: readonly RegExp[]
}

export interface OperatorProgram {
  /** Of build/parts.ts. */
  program: string
  /** What its manifests give it; its token is the one it has. */
  serviceAccount: string
  flags: readonly string[]
  env?: Readonly<Record<string, string>>
}

export interface Step {
  /** A program of the cache and its arguments; `kubectl` and `helm-4` have the administrator's kubeconfig. */
  run: string
  /** It is run again until it says this. Without: once, and it has to succeed. */
  until?: RegExp
  /** It has to be refused, with these words. */
  refused?: RegExp
}

/** The program runs on this machine: its Service leads there. */
const leadsHere = (service: string, namespace: string): Step[] => [
  { run: `kubectl delete service ${service} -n ${namespace}` },
  { run: `kubectl create service externalname ${service} --external-name localhost --tcp 443 -n ${namespace}` },
]

/** What is called at a port of a Service, to be called at that of the program. */
const callsPort = (kind: string, name: string, paths: readonly string[]): Step => ({
  run: `kubectl patch ${kind} ${name} --type json -p [${paths
    .map((path) => `{"op":"add","path":"${path}","value":{port}}`)
    .join(",")}]`,
})

const conflict = /the object has been modified|already exists/

export const operators: readonly Operator[] = [
  {
    name: "cert-manager",
    module: "github.com/cert-manager/cert-manager",
    namespace: "cert-manager",
    programs: [
      {
        program: "cert-manager",
        serviceAccount: "cert-manager",
        flags: ["-component=controller", "-kubeconfig={kubeconfig}"],
      },
      {
        program: "cert-manager",
        serviceAccount: "cert-manager-cainjector",
        flags: ["-component=cainjector", "-kubeconfig={kubeconfig}"],
      },
    ],
    install: [
      { run: "kubectl apply --server-side -f {module}/deploy/crds" },
      {
        run: "helm-4 install cert-manager {module}/deploy/charts/cert-manager -n cert-manager --create-namespace --set crds.enabled=false,startupapicheck.enabled=false",
      },
      // Its webhook is a program that is not run here.
      { run: "kubectl delete validatingwebhookconfiguration,mutatingwebhookconfiguration cert-manager-webhook" },
    ],
    steps: [
      { run: "kubectl apply -f {objects}/certificates.yaml" },
      { run: "kubectl wait --for=condition=Ready certificate/root -n cert-manager --timeout=60s" },
      { run: "kubectl wait --for=condition=Ready certificate/web --timeout=60s" },
      // Asked for by an annotation of an Ingress.
      {
        run: "kubectl get secret site-tls -o jsonpath={.type}:{.data}",
        until: /^kubernetes\.io\/tls:.*ca\.crt.*tls\.crt.*tls\.key/,
      },
      { run: "kubectl get certificate web -o jsonpath={.status.revision}", until: /^([2-9]|\d\d)/ },
      {
        run: "kubectl get validatingwebhookconfiguration,mutatingwebhookconfiguration injected -o jsonpath={.items[*].webhooks[*].clientConfig.caBundle}",
        until: /^LS0tLS1\S+ LS0tLS1\S+$/,
      },
      { run: "kubectl get apiservice v1.injected.example.com -o jsonpath={.spec.caBundle}", until: /^LS0tLS1/ },
      { run: "kubectl get events -n cert-manager", until: /Issuing +certificate\/root +The certificate has been/ },
    ],
    // One is there before what it needs.
    expected: [conflict, /[Ss]ecrets? .*not found/, /"error setting up issuer"/],
  },
  {
    name: "gatekeeper",
    module: "github.com/open-policy-agent/gatekeeper/v3",
    namespace: "gatekeeper-system",
    programs: [
      {
        program: "gatekeeper",
        serviceAccount: "gatekeeper-admin",
        flags: [
          "--kubeconfig={kubeconfig}",
          "--host=127.0.0.1",
          "--port={port}",
          "--cert-dir={folder}/certificates",
          "--api-cache-dir={folder}/audit",
          "--prometheus-port={port2}",
          "--health-addr=127.0.0.1:0",
          "--audit-interval=2",
          "--exempt-namespace=gatekeeper-system",
        ],
        env: { POD_NAME: "gatekeeper", POD_NAMESPACE: "gatekeeper-system" },
      },
    ],
    install: [
      { run: "kubectl apply --server-side -f {module}/deploy/gatekeeper.yaml" },
      ...leadsHere("gatekeeper-webhook-service", "gatekeeper-system"),
      callsPort("validatingwebhookconfiguration", "gatekeeper-validating-webhook-configuration", [
        "/webhooks/0/clientConfig/service/port",
        "/webhooks/1/clientConfig/service/port",
      ]),
      callsPort("mutatingwebhookconfiguration", "gatekeeper-mutating-webhook-configuration", [
        "/webhooks/0/clientConfig/service/port",
      ]),
      { run: "kubectl apply -f {objects}/gatekeeper-pod.yaml", until: /created|unchanged/ },
    ],
    mounts: [{ folder: "certificates", secret: "gatekeeper-webhook-server-cert" }, { folder: "audit" }],
    steps: [
      { run: "kubectl apply -f {module}/demo/basic/sync.yaml", until: /config/ },
      {
        run: "kubectl apply -f {module}/demo/basic/templates/k8srequiredlabels_template.yaml -f {module}/demo/basic/templates/k8suniquelabel_template.yaml",
        until: /constrainttemplate/,
      },
      {
        run: "kubectl apply -f {module}/demo/basic/constraints/all_ns_must_have_gatekeeper.yaml -f {module}/demo/basic/constraints/all_ns_gatekeeper_label_unique.yaml",
        until: /k8srequiredlabels.*\n.*k8suniquelabel/,
      },
      {
        run: "kubectl apply --dry-run=server -f {module}/demo/basic/bad/bad_ns.yaml",
        until: /denied the request: \[ns-must-have-gk\] you must provide labels: \{"gatekeeper"\}/,
      },
      { run: "kubectl apply -f {module}/demo/basic/good/good_ns.yaml", until: /namespace\/good-ns/ },
      { run: "kubectl apply -f {module}/demo/basic/good/no_dupe_ns.yaml" },
      {
        run: "kubectl apply --dry-run=server -f {module}/demo/basic/bad/no_dupe_ns_2.yaml",
        until: /\[ns-gk-label-unique\] label gatekeeper has duplicate value not_duplicated/,
      },
      {
        run: "kubectl apply -f {module}/demo/basic/bad/bad_template.yaml",
        refused: /invalid ConstraintTemplate: the ConstraintTemplate's name "k8suniquelabels" is not equal/,
      },
      {
        run: "kubectl apply -f {module}/demo/basic/bad/bad_constraint_labelselector.yaml",
        refused: /invalid Constraint: spec\.labelSelector\.matchExpressions\[0\]\.values: Required value/,
      },
      { run: "kubectl apply -f {objects}/mutations.yaml" },
      {
        run: "kubectl run mutated --image nginx --dry-run=server -o jsonpath={.metadata.labels.owner}:{.spec.containers[0].imagePullPolicy}",
        until: /^me:Never$/,
      },
      // Found by its audit, of what was there before.
      {
        run: "kubectl get k8srequiredlabels ns-must-have-gk -o jsonpath={.status.violations[*].name}",
        until: /\bkube-system\b/,
      },
      { run: "kubectl delete constrainttemplates --all --timeout=60s" },
      { run: "kubectl get crd", until: /^(?!.*constraints\.gatekeeper\.sh)/s },
    ],
    // It looks for the kind it has just defined, and may do so once more after it is gone. Its audit writes the status of a
    // constraint that it has not found, without its name.
    expected: [
      conflict,
      /no match(es)? for kind/,
      /not found/,
      /could not find the requested resource/,
      /resource name may not be empty/,
    ],
  },
  {
    name: "kro",
    module: "github.com/kubernetes-sigs/kro",
    namespace: "kro-system",
    programs: [
      {
        program: "kro",
        serviceAccount: "kro",
        flags: [
          "-kubeconfig={kubeconfig}",
          "-leader-elect",
          "-leader-election-namespace=kro-system",
          "-allow-crd-deletion",
          "-metrics-bind-address=0",
          "-health-probe-bind-address=0",
        ],
      },
    ],
    install: [{ run: "helm-4 install kro {module}/helm -n kro-system --create-namespace" }],
    steps: [
      { run: "kubectl apply -f {module}/examples/kubernetes/webapp/rg.yaml" },
      { run: "kubectl wait --for=condition=Ready resourcegraphdefinition/webapp.kro.run --timeout=60s" },
      { run: "kubectl apply -f {module}/examples/kubernetes/webapp/instance.yaml" },
      { run: "kubectl wait --for=condition=Ready webapp/test-app --timeout=60s" },
      { run: "kubectl wait --for=condition=Available deployment/test-app --timeout=60s" },
      { run: "kubectl get service test-app -o jsonpath={.spec.selector}", until: /^\{.*test-app/ },
      // What was changed by hand is put right.
      { run: "kubectl delete service test-app" },
      { run: "kubectl get service test-app", until: /ClusterIP/ },
      { run: "kubectl delete webapp test-app --timeout=60s" },
      { run: "kubectl get deployments", until: /No resources found/ },
      { run: "kubectl delete resourcegraphdefinition webapp.kro.run --timeout=60s" },
      { run: "kubectl get crd", until: /^(?!.*webapps\.kro\.run)/s },
    ],
    // It looks once more at what is gone.
    expected: [conflict, /webapp\.kro\.run\\" not found/],
  },
  {
    name: "metrics-server",
    module: "sigs.k8s.io/metrics-server",
    namespace: "kube-system",
    programs: [
      {
        program: "metrics-server",
        serviceAccount: "metrics-server",
        flags: [
          "--kubeconfig={kubeconfig}",
          "--authentication-kubeconfig={kubeconfig}",
          "--authorization-kubeconfig={kubeconfig}",
          "--bind-address=127.0.0.1",
          "--secure-port={port}",
          "--cert-dir={folder}",
          "--kubelet-insecure-tls",
          "--kubelet-use-node-status-port",
          "--kubelet-preferred-address-types=InternalIP",
          "--node-selector=measured=yes",
        ],
      },
    ],
    install: [
      { run: "kubectl apply -k {module}/manifests/base" },
      ...leadsHere("metrics-server", "kube-system"),
      callsPort("apiservice", "v1beta1.metrics.k8s.io", ["/spec/service/port"]),
      { run: "kubectl create -f {objects}/measured-node.yaml" },
      {
        run: 'kubectl patch node measured --subresource status -p {"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":{kubelet}}}}}',
      },
      { run: "kubectl run measured --image nginx" },
    ],
    steps: [
      { run: "kubectl wait --for=condition=Available apiservice/v1beta1.metrics.k8s.io --timeout=60s" },
      { run: "kubectl top pods --no-headers", until: /^measured +250m +64Mi/m },
      { run: "kubectl get podmetrics measured -o jsonpath={.containers[0].usage.memory}", until: /^64Mi$/ },
      { run: "kubectl api-resources --api-group=metrics.k8s.io -o name", until: /^nodes\.\S+\npods\.\S+/ },
    ],
  },
]
