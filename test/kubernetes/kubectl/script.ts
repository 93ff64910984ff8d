// A day at the command line: what kubectl is asked, in order. Every line is one command without the word kubectl; files are
// in objects/. The same is typed against both servers (day.test.ts), and they have to say the same.

export interface Step {
  command: string
  /** Environment beyond the usual. */
  env?: Record<string, string>
  /** Minor releases of kubectl that have the command, when not all do. */
  since?: number
  /** Known to differ, and why. */
  differs?: string
  /** Only the exit code is compared: what is printed is not the server's to say. */
  codeOnly?: boolean
}

const editor = (script: string): Record<string, string> => ({ KUBE_EDITOR: `sed -i ${script}` })

const looking: (string | Step)[] = [
  "api-resources --sort-by=name",
  "api-resources --namespaced=false --verbs=list -o name",
  "api-versions",
  "get namespaces --field-selector=metadata.name=default",
  "get --raw /readyz",
  {
    command: "get --raw /version",
    differs: "the version says that this is Polyplane, and what it was built with",
  },
  "get componentstatuses-of-nothing",
  "get pods",
  "get all",
  "get pod missing",
  "get pods,services,missing",
  "get pods --field-selector=spec.colour=red",
  "get pods --selector=,,=",
  "auth can-i create pods",
  "auth can-i create pods --as=nobody",
  "auth can-i delete nodes --as=system:serviceaccount:default:default",
  "auth can-i get pods --subresource=log --as=nobody",
  "auth can-i get /healthz",
  "auth can-i --list --as=nobody",
  { command: "auth whoami --as=jane --as-group=developers", since: 28 },
  "get pods --as=jane",
]

const explaining: (string | Step)[] = [
  "explain pods",
  "explain pod.spec.containers.resources",
  "explain deployment.spec.strategy.rollingUpdate",
  "explain service.spec.ports --recursive",
  "explain ingress.spec.rules --api-version=networking.k8s.io/v1",
  {
    command: "explain pod.spec.volumes.emptyDir.sizeLimit",
    differs: "what a quantity is, which stands below what the field is for, is not in kubernetes-models",
  },
  "explain pods.spec.nothing",
  "explain nothing",
]

const applying: (string | Step)[] = [
  "apply -f web.yaml --dry-run=server",
  "apply -f web.yaml --dry-run=client -o name",
  {
    command: "diff -f web.yaml",
    differs: "a Service that is only tried has no address: the super cluster gives it when it is made",
  },
  "apply -f web.yaml",
  "apply -f web.yaml",
  "rollout status deployment/web --timeout=60s",
  "diff -f web.yaml",
  "diff -f web-changed.yaml",
  "apply -f web-changed.yaml",
  "rollout status deployment/web --timeout=60s",
  "get deployment,service,configmap -l app!=none",
  "get deployment web -o wide",
  "get deployment web -o yaml",
  "get service web -o json",
  "get pods -l app=web -o custom-columns=IMAGE:.spec.containers[0].image,PHASE:.status.phase",
  "get pods -l app=web -o jsonpath={.items[*].status.phase}",
  "get configmap settings -o go-template={{.data.color}}",
  "get deployments --sort-by=.metadata.name --show-labels",
  'get deployment web --show-managed-fields -o jsonpath={.metadata.managedFields[?(@.subresource=="status")].manager}',
  "apply view-last-applied configmap/settings",
  "apply -f invalid.yaml",
  "apply -f unknown-field.yaml",
  "apply -f unknown-field.yaml --validate=warn",
  "apply -f wrong-type.yaml",
  "apply -f no-such-kind.yaml",
  "create -f web.yaml",
  "replace -f web.yaml",
  "apply --server-side -f web.yaml",
  "apply --server-side --field-manager=other -f web-changed.yaml",
  "apply --server-side --field-manager=other --force-conflicts -f web-changed.yaml",
  "apply -f web-changed.yaml --prune -l nothing=here",
]

const changing: (string | Step)[] = [
  { command: "edit configmap settings", env: editor("s/green/blue/") },
  { command: "edit configmap settings", env: editor("s/nothing/else/") },
  "get configmap settings -o jsonpath={.data}",
  "label configmap settings tier=back",
  "label configmap settings tier=front",
  "label configmap settings tier=front --overwrite",
  "annotate configmap settings note=hello",
  "label configmap settings tier-",
  'patch configmap settings -p {"data":{"shape":"round"}}',
  'patch configmap settings --type=json -p [{"op":"remove","path":"/data/shape"}]',
  'patch configmap settings --type=json -p [{"op":"remove","path":"/data/shape"}]',
  {
    command: 'patch configmap settings --type=merge -p {"data":{"color":7}}',
    differs: "the message holds the whole object, whose resourceVersion and order of keys are the server's own",
  },
  'patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}',
  "rollout status deployment/web --timeout=60s",
  "set image deployment/web main=nginx:3",
  "set env deployment/web SIZE=big",
  "set env deployment/web --list",
  "set resources deployment/web --limits=cpu=100m,memory=64Mi",
  "set serviceaccount deployment/web default",
  "set image deployment/web none=nginx:3",
  "rollout status deployment/web --timeout=60s",
  "rollout history deployment/web",
  "rollout history deployment/web --revision=1",
  "rollout undo deployment/web --to-revision=2",
  "rollout undo deployment/web --to-revision=99",
  "rollout pause deployment/web",
  "rollout pause deployment/web",
  "rollout resume deployment/web",
  "rollout restart deployment/web",
  "rollout status deployment/web --timeout=60s",
  "scale deployment/web --replicas=4",
  "scale deployment/web --replicas=1 --current-replicas=2",
  "scale deployment/web --replicas=-1",
  "autoscale deployment web --min=1 --max=5 --cpu-percent=80",
  "get hpa web -o jsonpath={.spec}",
  "delete hpa web",
  "wait deployment/web --for=condition=Available --timeout=60s",
  "wait deployment/web --for=jsonpath={.spec.replicas}=4 --timeout=20s",
  "wait pod/missing --for=condition=Ready --timeout=1s",
  "describe configmap settings",
  "describe service web",
  "describe deployment web",
]

const creating: (string | Step)[] = [
  "create configmap files --from-literal=a=1 --from-file=pod.yaml",
  "create secret generic keys --from-literal=password=secret",
  "create secret docker-registry pull --docker-server=example.com --docker-username=u --docker-password=p",
  "get secrets",
  "describe secret keys",
  "create serviceaccount robot",
  "create token robot --duration=1s",
  "create role reader --verb=get,list --resource=pods,deployments.apps",
  "create rolebinding readers --role=reader --user=jane --serviceaccount=default:robot",
  "auth can-i list pods --as=jane",
  "auth can-i delete pods --as=jane",
  "describe role reader",
  "describe rolebinding readers",
  "create clusterrole looker --verb=get --non-resource-url=/metrics --dry-run=server -o yaml",
  "create quota few --hard=pods=20,configmaps=5",
  "get quota few -o jsonpath={.spec}",
  "create poddisruptionbudget careful --selector=app=web --min-available=1",
  "create ingress front --rule=example.com/*=web:80",
  "get ingress front",
  "describe ingress front",
  "create job once --image=busybox -- true",
  "wait job/once --for=condition=Complete --timeout=60s",
  "get job once",
  "create cronjob hourly --image=busybox --schedule=@hourly -- true",
  "create cronjob wrong --image=busybox --schedule=whenever -- true",
  "create job by-hand --from=cronjob/hourly",
  "get cronjob hourly",
  "create priorityclass urgent --value=10 --dry-run=server -o yaml",
  "create deployment Wrong --image=nginx",
  "create namespace default",
  "create service nodeport outside --tcp=80 --dry-run=server -o jsonpath={.spec.type}",
  "expose deployment web --name=again --port=81 --target-port=80",
  "expose deployment missing --port=80",
]

const pods: (string | Step)[] = [
  "create -f pod.yaml",
  "wait pod/single --for=condition=Ready --timeout=60s",
  "get pod single -o wide",
  "get pod single -o yaml",
  "describe pod single",
  "run another --image=nginx --labels=run=another",
  "wait pod/another --for=condition=Ready --timeout=60s",
  {
    command: 'patch pod single -p {"spec":{"containers":[{"name":"main","command":["true"]}]}}',
    differs: "the message ends with a difference between structures of Go, which is here one between JSON lines",
  },
  "set image pod/single main=busybox:2",
  "annotate pods --all seen=yes",
  { command: "debug single --image=busybox --attach=false --container=look", since: 28 },
  "get pod single -o jsonpath={.spec.ephemeralContainers[*].image}",
  "replace --force --grace-period=1 -f pod.yaml",
  "delete pod another --now",
  "delete pod another",
  "delete pod another --ignore-not-found",
  "top pods",
  "top nodes",
]

const nodes: (string | Step)[] = [
  "get nodes",
  "get nodes -o jsonpath={.items[*].metadata.name}",
  "label node node-1 day=bright",
  "annotate node missing a=b",
  "drain node-1 --pod-selector=nothing=here --timeout=20s",
  // Put back for the next kubectl.
  "uncordon node-1",
  "label node node-1 day-",
  "describe node missing",
]

const definitions: (string | Step)[] = [
  "apply -f definition.yaml",
  "wait crd/crontabs.stable.example.com --for=condition=Established --timeout=20s",
  "apply -f crontab.yaml",
  "apply -f crontab.yaml",
  "apply -f crontab-invalid.yaml",
  "get crontabs",
  "get ct nightly -o yaml",
  "scale crontab nightly --replicas=3",
  "get ct,cm",
  "explain crontab.spec",
  'patch crontab nightly --type=merge -p {"spec":{"replicas":5}}',
  "patch crontab nightly -p {}",
  "api-resources --api-group=stable.example.com",
  "delete -f definition.yaml",
  "get crontabs",
]

const ending: (string | Step)[] = [
  "get events --field-selector=reason=NoSuchReason",
  "delete configmap,secret files keys",
  "delete deployment web --cascade=orphan",
  "get replicasets -l app=web --sort-by=.spec.replicas -o jsonpath={.items[*].spec.replicas}",
  "delete all --all --timeout=60s --dry-run=server -o name",
  "delete rs -l app=web --timeout=60s",
  "delete service web --wait=false",
  "delete service web",
  "delete --raw /api/v1/namespaces/missing",
]

export const script: readonly Step[] = [
  looking,
  explaining,
  applying,
  changing,
  creating,
  pods,
  nodes,
  definitions,
  ending,
].flatMap((steps) => steps.map((step) => (typeof step === "string" ? { command: step } : step)))
